//! Paths of OpenAPI as patterns.

/// The pattern for a path, and whether it matches nothing else. A pattern has one variable in a segment, and no query.
pub(super) fn pattern(path: &str) -> (String, bool) {
    let end = path.find(['?', '#']).unwrap_or(path.len());
    let (path, rest) = path.split_at(end);
    let mut is_exact = rest.is_empty();
    let segments = path.split('/').map(|segment| match (segment.find('{'), segment.rfind('}')) {
        (Some(first), Some(last)) if first < last && segment.matches('{').count() > 1 => {
            is_exact = false;
            let (before, after) = (segment.get(..first), segment.get(last + 1..));
            format!("{}*{}", before.unwrap_or_default(), after.unwrap_or_default())
        }
        _ => segment.to_owned(),
    });
    let pattern = segments.collect::<Vec<_>>().join("/");
    (pattern, is_exact)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_has_one_variable_at_most() {
        for (path, expected, is_exact) in [
            ("/things/{id}", "/things/{id}", true),
            ("/things/{id}.json", "/things/{id}.json", true),
            ("/compare/{base}...{head}", "/compare/*", false),
            ("/x-{a}-{b}.tar/y", "/x-*.tar/y", false),
            ("/things?action=copy", "/things", false),
            ("/", "/", true),
        ] {
            assert_eq!(pattern(path), (expected.to_owned(), is_exact), "{path}");
        }
    }
}

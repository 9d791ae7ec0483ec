//! Values compared with the segments of a path template.

/// The part of a value that is between `before` and `after`, if all three have the form of those segments. Each is a text such as
/// `projects/*`: `*` stands for a segment that is not empty, and `**` for any number of segments, also none. If there are several
/// ways, the first `**` has as many as it can.
pub(super) fn taken<'a>(value: &'a str, parts: [&str; 3]) -> Option<&'a str> {
    let template = Template { parts: parts.map(|part| Some(part).filter(|part| !part.is_empty())), part: 2 };
    let mut marks = Marks { start: 0, end: 0 };
    match compare(template, Some(value), &mut marks) {
        Outcome::Match => Some(value.get(marks.start..marks.end).unwrap_or_default()),
        Outcome::Misfit | Outcome::Never => None,
    }
}

/// The segments of a template that have yet to be compared, from the right.
#[derive(Clone, Copy)]
struct Template<'a> {
    parts: [Option<&'a str>; 3],
    /// The part that comes next.
    part: usize,
}

/// The place in the value of what is taken.
struct Marks {
    start: usize,
    end: usize,
}

enum Outcome {
    Match,
    Misfit,
    /// Nor would it fit if a `**` that was met before had more segments.
    Never,
}

/// Compares from the right, so that the first `**` gets what the others leave. `value` has the segments that are left; `None`:
/// there are none.
fn compare(mut template: Template<'_>, mut value: Option<&str>, marks: &mut Marks) -> Outcome {
    loop {
        let Some(segments) = template.parts.get(template.part).copied().flatten() else {
            match template.part {
                2 => marks.end = value.map_or(0, str::len),
                1 => marks.start = value.map_or(0, |left| left.len() + 1),
                _ => return if value.is_none() { Outcome::Match } else { Outcome::Misfit },
            }
            template.part -= 1;
            continue;
        };
        let (others, segment) = last(segments);
        if let Some(part) = template.parts.get_mut(template.part) {
            *part = others;
        }
        if segment == "**" {
            return compare_after_many(template, value, marks);
        }
        let Some((left, text)) = value.map(last) else { return Outcome::Misfit };
        let fits = if segment == "*" { !text.is_empty() } else { text == segment };
        if !fits {
            return Outcome::Misfit;
        }
        value = left;
    }
}

/// Compares what is before a `**`, which takes as few segments as it can.
fn compare_after_many(template: Template<'_>, mut value: Option<&str>, marks: &mut Marks) -> Outcome {
    loop {
        match compare(template, value, marks) {
            Outcome::Misfit => {}
            other => return other,
        }
        match value.map(last) {
            Some((left, _)) => value = left,
            None => return Outcome::Never,
        }
    }
}

/// The last segment, and those before it.
fn last(segments: &str) -> (Option<&str>, &str) {
    match segments.rsplit_once('/') {
        Some((others, last)) => (Some(others), last),
        None => (None, segments),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_part_between_the_others_is_taken() {
        for (value, parts, expected) in [
            ("projects/p/instances/i/tables/t", ["projects/*", "instances/*", "**"], Some("instances/i")),
            ("projects/p/instances/i", ["projects/*", "instances/*", "**"], Some("instances/i")),
            ("projects/p/instances/i/", ["projects/*", "instances/*", "**"], Some("instances/i")),
            ("projects/p/tables/t", ["projects/*", "instances/*", "**"], None),
            ("projects//instances/i", ["projects/*", "instances/*", ""], None),
            ("projects/p", ["", "projects/*", ""], Some("projects/p")),
            ("projects/p/x", ["", "projects/*", ""], None),
            ("projects/p/x", ["", "projects/*", "**"], Some("projects/p")),
            ("x/projects/p", ["", "projects/*", ""], None),
            ("", ["", "**", ""], Some("")),
            ("", ["", "*", ""], None),
            ("a/b//c", ["", "**", ""], Some("a/b//c")),
            ("anything", ["", "**", ""], Some("anything")),
            // In the middle it may be empty.
            ("projects/instances/i", ["projects/**", "instances/*", ""], Some("instances/i")),
            ("projects/a/b/instances/i", ["projects/**", "instances/*", ""], Some("instances/i")),
            ("projects/a/instances", ["projects/**", "instances/*", ""], None),
            ("a/b", ["a", "**", "b"], Some("")),
            ("a/x/y/b", ["a", "**", "b"], Some("x/y")),
            ("ab", ["a", "**", "b"], None),
            // The first has as many as it can.
            ("i/1/i/2/i/3", ["**", "i/*", "**"], Some("i/3")),
            ("i/1/i/2/x", ["**", "i/*", "**"], Some("i/2")),
            ("a/b/c/d", ["", "**/b", "**/d"], Some("a/b")),
            ("é/ü", ["é", "*", ""], Some("ü")),
        ] {
            assert_eq!(taken(value, parts), expected, "{value} {parts:?}");
        }
    }

    /// Without a bound on what is tried again this would take longer than anybody waits.
    #[test]
    fn a_long_value_that_does_not_fit_takes_no_long_time() {
        let value = "a/".repeat(20_000);
        assert_eq!(taken(&value, ["**/a/**/a/**/a", "**/a/**/a/**", "**/a/**/b"]), None);
    }
}

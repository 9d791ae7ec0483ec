//! The name that a person may have meant.

/// Texts longer than this are not compared: the work grows with the square.
const LONGEST: usize = 120;

/// The candidate that is closest to a text and close enough to suggest: at most two edits, or one in a text of up to
/// four characters, or the same except for case and punctuation.
#[must_use]
pub fn closest<'a>(text: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if text.chars().count() > LONGEST {
        return None;
    }
    let allowed = if text.chars().count() > 4 { 2 } else { 1 };
    candidates
        .into_iter()
        .filter(|candidate| candidate.len() <= 4 * LONGEST)
        .filter_map(|candidate| {
            let distance =
                if plain(candidate) == plain(text) { 0 } else { strsim::levenshtein(text, candidate) };
            (distance <= allowed).then_some((distance, candidate))
        })
        .min()
        .map(|(_, candidate)| candidate)
}

fn plain(text: &str) -> String {
    text.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_close_is_suggested() {
        let names = ["ListPermissions", "GetModel"];
        assert_eq!(closest("ListPermission", names), Some("ListPermissions"));
        assert_eq!(closest("list_permissions", names), Some("ListPermissions"));
        assert_eq!(closest("DeleteModel", names), None);
        assert_eq!(closest("Get", ["Got", "Set"]), Some("Got"));
        assert_eq!(closest(&"x".repeat(100_000), names), None);
    }
}

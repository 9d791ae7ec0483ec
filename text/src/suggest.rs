//! The name that a person may have meant.

/// Texts longer than this are not compared: the work grows with the square.
const LONGEST: usize = 120;

/// The candidate that is closest to a text and close enough to suggest: at most two edits, or one in a
/// text of up to four characters, or the same but for case and punctuation.
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
            let distance = if plain(candidate) == plain(text) { 0 } else { edits(text, candidate) };
            (distance <= allowed).then_some((distance, candidate))
        })
        .min()
        .map(|(_, candidate)| candidate)
}

fn plain(text: &str) -> String {
    text.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The number of single characters to insert, delete or replace to make one text of the other.
fn edits(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (index, left) in from.chars().enumerate() {
        let mut diagonal = index;
        let mut before = index + 1;
        let mut next = vec![before];
        for (right, above) in to.iter().zip(row.iter().skip(1)) {
            let replaced = diagonal + usize::from(left != *right);
            before = replaced.min(before + 1).min(above + 1);
            diagonal = *above;
            next.push(before);
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_levenshteins() {
        for (left, right, distance) in
            [("", "", 0), ("", "abc", 3), ("kitten", "sitting", 3), ("List", "Lists", 1), ("abc", "", 3)]
        {
            assert_eq!(edits(left, right), distance, "{left} {right}");
            assert_eq!(edits(right, left), distance, "{right} {left}");
        }
    }

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

//! Words of plain text in a doc comment.

/// Names with capitals inside that are words of English, not code, and that Rust's linter knows as such.
const KNOWN: [&str; 14] = [
    "DevOps",
    "GiB",
    "GitHub",
    "GraphQL",
    "IPv4",
    "IPv6",
    "JavaScript",
    "KiB",
    "MiB",
    "OAuth",
    "OpenSSL",
    "TiB",
    "TypeScript",
    "WebSocket",
];

/// Escapes a text so that Markdown has nothing to find in it, marks addresses as such, and identifiers as
/// code.
pub(super) fn plain_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while !rest.is_empty() {
        let blank = rest.len() - rest.trim_start().len();
        if blank > 0 {
            out.push(' ');
        }
        rest = rest.get(blank..).unwrap_or_default();
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        push_word(&mut out, word);
        rest = after;
    }
    out
}

fn push_word(out: &mut String, word: &str) {
    if let Some((before, url, after)) = split_url(word) {
        out.push_str(&escape(before));
        out.push('<');
        out.push_str(url);
        out.push('>');
        out.push_str(&escape(after));
        return;
    }
    let core = word.trim_matches(|character: char| !character.is_alphanumeric() && character != '_');
    if !core.is_empty() && is_code(core) {
        let start = word.find(core).unwrap_or(0);
        out.push_str(&escape(word.get(..start).unwrap_or_default()));
        out.push_str(&code(core));
        out.push_str(&escape(word.get(start + core.len()..).unwrap_or_default()));
    } else {
        out.push_str(&escape(word));
    }
}

/// A word's address with what stands around it.
fn split_url(word: &str) -> Option<(&str, &str, &str)> {
    let start = word.find("https://").or_else(|| word.find("http://"))?;
    let (before, rest) = word.split_at(start);
    let end = rest.find(['<', '>', '"', '`', '\\', ')', ']', '}']).unwrap_or(rest.len());
    let url = rest.get(..end)?.trim_end_matches(['.', ',', ';', ':', '!', '?', '\'', '*', '_']);
    let after = rest.get(url.len()..)?;
    (url.len() > "https://".len()).then_some((before, url, after))
}

/// Returns whether a word is an identifier or the like: what Rust's linter wants to see in backticks.
fn is_code(word: &str) -> bool {
    let has_capitals_inside = || {
        let stem = word.strip_suffix('s').unwrap_or(word);
        stem.chars().all(char::is_alphanumeric)
            && stem.chars().filter(|character| character.is_uppercase()).count() > 1
            && stem.chars().any(char::is_lowercase)
    };
    word.contains('_') || word.contains("::") || (has_capitals_inside() && !KNOWN.contains(&word))
}

/// A text as code, whatever it holds: the fence is longer than any row of backticks in it.
pub(super) fn code(text: &str) -> String {
    if text.trim().is_empty() {
        return format!("`{text:?}`");
    }
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let blank = if text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']) { " " } else { "" };
    format!("{fence}{blank}{text}{blank}{fence}")
}

/// A text with a backslash before each character that Markdown might read.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if "\\`*_[]<>|~&".contains(character) {
            out.push('\\');
        }
        out.push(character);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_code() {
        for (text, expected) in [
            ("the page_token of ListAssets.", "the `page_token` of `ListAssets`."),
            ("(see foo::bar, IDs and HTTP)", "(see `foo::bar`, IDs and HTTP)"),
            ("projects/my_project/*", "`projects/my_project`/\\*"),
            ("uses OAuth", "uses OAuth"),
            ("a  b ", "a b "),
        ] {
            assert_eq!(plain_text(text), expected);
        }
    }

    #[test]
    fn code_may_have_backticks() {
        for (text, expected) in [
            ("a", "`a`"),
            ("a`b", "``a`b``"),
            ("a``b`", "``` a``b` ```"),
            ("`", "`` ` ``"),
            ("", "`\"\"`"),
            (" ", "`\" \"`"),
        ] {
            assert_eq!(code(text), expected);
        }
    }

    #[test]
    fn addresses_are_links() {
        for (text, expected) in [
            ("see https://a.b/c_d.", "see <https://a.b/c_d>."),
            ("(http://a.b/c)", "(<http://a.b/c>)"),
            ("https://", "https://"),
        ] {
            assert_eq!(plain_text(text), expected);
        }
    }

    #[test]
    fn nothing_is_left_for_markdown() {
        assert_eq!(plain_text("a <b> [c] *d* e|f &amp;"), "a \\<b\\> \\[c\\] \\*d\\* e\\|f \\&amp;");
    }
}

//! Texts in quotes.

use gax_text::is_unprintable;
use std::fmt::Write as _;

/// A text in quotes, as JSON and TOML both read it.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            // All of these have four digits at most.
            unprintable if is_unprintable(unprintable) => {
                let _infallible = write!(quoted, "\\u{:04x}", u32::from(unprintable));
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

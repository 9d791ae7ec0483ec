//! Values of the libraries' own types.

use std::fmt::Display;
use std::str::FromStr;

/// Reads a value of a type whose errors begin with the text, which the message has already.
pub(crate) fn parsed<T: FromStr<Err: Display>>(text: &str) -> Result<T, String> {
    let text = text.trim();
    text.parse()
        .map_err(|error: T::Err| error.to_string().trim_start_matches(&format!("{text:?} ")).to_owned())
}

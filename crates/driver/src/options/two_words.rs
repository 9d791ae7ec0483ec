//! A stored option of two words: its value, or that it is turned off.

use gax_retry::settings::Override;
use serde::de::Error;

/// The option, from its value and from the word that turns it off.
///
/// # Errors
///
/// Both are there.
pub fn read_override<T, E: Error>(
    [name, off]: [&str; 2],
    value: Option<T>,
    is_disabled: bool,
) -> Result<Override<T>, E> {
    match (value, is_disabled) {
        (None, false) => Ok(Override::Unset),
        (Some(value), false) => Ok(Override::Set(value)),
        (None, true) => Ok(Override::Disabled),
        (Some(_), true) => Err(E::custom(format_args!("{name} and {off} exclude each other; leave one out"))),
    }
}

/// The value, and whether the option is turned off.
pub fn write_override<T>(option: Override<T>) -> (Option<T>, bool) {
    match option {
        Override::Unset => (None, false),
        Override::Set(value) => (Some(value), false),
        Override::Disabled => (None, true),
    }
}

//! Colours. They are taken out again where the output is not a terminal.

use anstyle::{AnsiColor, Style};
use gax_retry::Code;

/// The word before an error.
pub(crate) const ERROR: Style = AnsiColor::Red.on_default().bold();
/// The head of a table or part.
pub(crate) const HEAD: Style = Style::new().bold();
/// What did not happen.
pub(super) const DIM: Style = Style::new().dimmed();

/// The style of an attempt's code.
pub(crate) fn of_code(code: Code) -> Style {
    match code {
        Code::Ok => AnsiColor::Green.on_default(),
        Code::DeadlineExceeded => AnsiColor::Yellow.on_default(),
        _ => AnsiColor::Red.on_default(),
    }
}

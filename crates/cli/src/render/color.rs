//! Colours. They are taken out again where the output is not a terminal.

use anstyle::{AnsiColor, Style};
use gax_table::Severity;
use gax_text::Role;

/// The word before an error.
pub(crate) const ERROR: Style = AnsiColor::Red.on_default().bold();
/// The head of a table or part.
pub(crate) const HEAD: Style = Style::new().bold();
/// Things that did not happen.
pub(crate) const DIM: Style = Style::new().dimmed();

fn of_role(role: Role) -> Style {
    match role {
        Role::Plain => Style::new(),
        Role::Head => HEAD,
        Role::Faint => DIM,
        Role::Success => AnsiColor::Green.on_default(),
        Role::Timeout => AnsiColor::Yellow.on_default(),
        Role::Failure => AnsiColor::Red.on_default(),
    }
}

/// The escape sequences before and after a cell of a table.
pub(crate) fn painted(role: Role) -> [String; 2] {
    let style = of_role(role);
    [style.render().to_string(), style.render_reset().to_string()]
}

/// The style of a finding's head and carets.
pub(crate) fn of_severity(severity: Severity) -> Style {
    match severity {
        Severity::Error => AnsiColor::Red.on_default().bold(),
        Severity::Warning => AnsiColor::Yellow.on_default().bold(),
        _ => AnsiColor::Cyan.on_default().bold(),
    }
}

//! Tables in colours, as wide as the terminal.

use super::color::painted;
use gax_retry::report::AttemptTable;
use gax_text::Grid;
use std::io::IsTerminal as _;
use terminal_size::{Width, terminal_size_of};

/// The width that text has to fit: that of the terminal, or what `COLUMNS` says where the output goes elsewhere.
pub(super) fn width() -> Option<usize> {
    let stdout = std::io::stdout();
    if stdout.is_terminal()
        && let Some((Width(columns), _)) = terminal_size_of(&stdout)
    {
        return Some(columns.into());
    }
    std::env::var("COLUMNS").ok()?.parse().ok().filter(|columns| *columns > 0)
}

/// A table, moved to the right by that many spaces.
pub(crate) fn table(grid: &Grid, indent: usize) -> String {
    let width = width().map(|width| width.saturating_sub(indent));
    let mut text = String::new();
    let _infallible = grid.write(&mut text, width, painted);
    if indent == 0 {
        return text;
    }
    text.lines().flat_map(|line| [" ".repeat(indent), line.to_owned(), "\n".to_owned()]).collect()
}

/// A table of attempts, and what is said under it.
pub(crate) fn attempts(table: &AttemptTable) -> String {
    let mut text = String::new();
    let _infallible = table.write(&mut text, width(), painted);
    text
}

//! The attempts of an operation as people read them.

use crate::{Attempt, Code};
use gax_text::{Align, Cell, Escaped, Grid, Human, Role};
use std::fmt;
use std::time::Duration;

/// The table of attempts that plans, reports and the command print, and what else is to be said under it.
#[derive(Debug, Clone)]
pub struct AttemptTable {
    grid: Grid,
    attempts: usize,
    /// The attempts with transparent retries, and how many.
    resent: Vec<(u32, u32)>,
    lines: Vec<String>,
}

/// One row of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a row has what the table has columns for")]
pub struct AttemptRow {
    /// The attempt's number.
    pub number: u32,
    /// How often it was sent again immediately.
    pub transparent_retries: u32,
    /// `None`: no deadline.
    pub rpc_timeout: Option<Duration>,
    /// The wait before it.
    pub delay: Duration,
    /// When it started.
    pub start: Duration,
    /// When it ended, and with which code; `None`: it never ends.
    pub end: Option<(Duration, Code)>,
}

impl AttemptTable {
    /// A table without rows.
    #[must_use]
    pub fn new() -> Self {
        let grid = Grid::new([
            ("attempt", Align::Right),
            ("RPC timeout", Align::Right),
            ("retry delay", Align::Right),
            ("invoked", Align::Right),
            ("ended", Align::Right),
            ("code", Align::Left),
        ]);
        Self { grid, attempts: 0, resent: Vec::new(), lines: Vec::new() }
    }

    /// Adds an attempt.
    pub fn attempt(&mut self, row: AttemptRow) {
        self.attempts += 1;
        if row.transparent_retries > 0 {
            self.resent.push((row.number, row.transparent_retries));
        }
        self.grid.push([
            Cell::from(row.number),
            row.rpc_timeout.map_or_else(|| Cell::from("none"), |timeout| Cell::from(Human(timeout))),
            Cell::from(Human(row.delay)),
            Cell::from(Human(row.start)),
            row.end.map_or_else(|| Cell::from("never"), |(end, _)| Cell::from(Human(end))),
            row.end.map_or_else(|| Cell::from("no reply"), |(_, code)| Cell::new(&code, code.into())),
        ]);
    }

    /// Says that so many attempts were made in between; nothing of none.
    pub fn left_out(&mut self, count: u32) {
        if count > 0 {
            let text = format!("{count} left out");
            self.grid.push([Cell::new(&"..", Role::Faint), Cell::new(&text, Role::Faint)]);
        }
    }

    /// Adds the attempt that a limit kept from being made.
    pub fn not_attempted(&mut self, number: u32, delay: Duration) {
        self.grid.push([
            Cell::new(&number, Role::Faint),
            Cell::new(&"not attempted", Role::Faint),
            Cell::new(&Human(delay), Role::Faint),
        ]);
    }

    /// Says under the table how often requests were sent again immediately, and of which attempts in the table; nothing of
    /// none.
    pub fn transparent_retries(&mut self, count: u32) {
        let sum = match count {
            0 => return,
            1 => "sent again at once: 1 time (not counted as an attempt)".to_owned(),
            count => format!("sent again at once: {count} times (not counted as attempts)"),
        };
        let parts: Vec<String> =
            self.resent.iter().map(|(number, count)| format!("{count} of attempt {number}")).collect();
        let parts = if parts.is_empty() || self.attempts == 1 {
            String::new()
        } else {
            format!("; {}", parts.join(", "))
        };
        self.line(&format_args!("{sum}{parts}"));
    }

    /// Adds a line under the table.
    pub fn line(&mut self, text: &impl fmt::Display) {
        self.lines.push(Escaped(text).to_string());
    }

    /// Writes the table in that width, and the lines below it. `paint` returns the text before and after a part with
    /// that role.
    ///
    /// # Errors
    ///
    /// Writing to `out` failed.
    pub fn write<P: fmt::Display>(
        &self,
        out: &mut dyn fmt::Write,
        width: Option<usize>,
        paint: impl Fn(Role) -> [P; 2],
    ) -> fmt::Result {
        self.grid.write(out, width, &paint)?;
        self.lines.iter().try_for_each(|line| writeln!(out, "{line}"))
    }
}

impl From<Code> for Role {
    fn from(code: Code) -> Self {
        match code {
            Code::Ok => Role::Success,
            Code::DeadlineExceeded => Role::Timeout,
            _ => Role::Failure,
        }
    }
}

impl Default for AttemptTable {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Display for AttemptTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, None, |_| ["", ""])
    }
}

impl From<&Attempt> for AttemptRow {
    fn from(attempt: &Attempt) -> Self {
        Self {
            number: attempt.number(),
            transparent_retries: attempt.transparent_retries(),
            rpc_timeout: attempt.rpc_timeout(),
            delay: attempt.delay(),
            start: attempt.start(),
            end: Some((attempt.end(), attempt.code())),
        }
    }
}

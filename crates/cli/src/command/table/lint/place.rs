//! Where in its file a finding is.

use crate::command::table::source::Loaded;
use gax_table::Finding;
use std::borrow::Cow;
use std::collections::HashMap;

/// The files by their names.
#[derive(Debug)]
pub(super) struct Files<'a> {
    pub(super) by_name: HashMap<&'a str, Cow<'a, str>>,
}

/// The first and the last place of a finding's text: line and column each, from 1, the last exclusive.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    /// The file's name.
    pub(super) file: &'a str,
    /// The first line.
    pub(super) text: &'a str,
    pub(super) start: (usize, usize),
    pub(super) end: (usize, usize),
}

impl<'a> Files<'a> {
    pub(super) fn new(files: &'a [Loaded]) -> Self {
        Self { by_name: files.iter().map(|Loaded { input, .. }| (&*input.name, input.text())).collect() }
    }

    pub(super) fn place(&self, finding: &Finding) -> Option<Place<'_>> {
        let origin = finding.origin()?;
        let (file, whole) = self.by_name.get_key_value(origin.file()?)?;
        let meant = whole.get(origin.span()).unwrap_or_default();
        let (line, column) = (origin.line(), origin.column());
        let end = match meant.rsplit_once('\n') {
            Some((before, last)) => (line + before.matches('\n').count() + 1, last.chars().count() + 1),
            None => (line, column + meant.chars().count()),
        };
        let (before, after) = whole.split_at_checked(origin.span().start)?;
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = after.find('\n').map_or(whole.len(), |newline| before.len() + newline);
        let text = whole.get(line_start..line_end)?;
        Some(Place { file, text, start: (line, column), end })
    }
}

impl Place<'_> {
    /// The columns to point at in the first line: what is meant there. Of a value that begins there and ends in
    /// another line it is the key, since a lone bracket says nothing.
    pub(super) fn columns(&self) -> (usize, usize) {
        let (line, column) = self.start;
        if self.end.0 == line {
            return (column, self.end.1);
        }
        self.key().unwrap_or((column, usize::MAX))
    }

    /// The columns of the key, in quotes, that is before the value.
    fn key(&self) -> Option<(usize, usize)> {
        let letters: Vec<char> = self.text.chars().take(self.start.1 - 1).collect();
        let is_space = |letter: &&char| letter.is_whitespace();
        let mut before = letters.len() - letters.iter().rev().take_while(is_space).count();
        before = before.checked_sub(1).filter(|at| letters.get(*at) == Some(&':'))?;
        let key = letters.get(..before)?;
        let end = key.len() - key.iter().rev().take_while(is_space).count();
        let key = key.get(..end).filter(|key| key.last() == Some(&'"'))?;
        let start = key.iter().take(end.checked_sub(1)?).rposition(|letter| *letter == '"')?;
        Some((start + 1, end + 1))
    }
}

//! The attempts of a report: both ends of very many.
#![allow(missing_docs, reason = "for the crates of this repository alone")]

use gax_retry::{Attempt, Code};
use std::fmt;
use std::time::Duration;

/// The first two attempts live inline: most retries succeed immediately. Of very many both ends are kept.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) enum Rows {
    #[default]
    None,
    One(Attempt),
    Two([Attempt; 2]),
    Many(FirstAndLast<Attempt>),
}

impl Rows {
    pub(super) fn push(&mut self, attempt: Attempt) {
        *self = match self {
            Rows::None => Rows::One(attempt),
            Rows::One(first) => Rows::Two([first.clone(), attempt]),
            Rows::Two([first, second]) => {
                Rows::Many(FirstAndLast::new(vec![first.clone(), second.clone(), attempt]))
            }
            Rows::Many(rows) => return rows.push(attempt),
        };
    }

    /// The attempt that has the reply ended with that code after all, and later if it says when.
    pub(super) fn failed(&mut self, code: Code, ended_at: Option<Duration>) {
        let rows = match self {
            Rows::None => &mut [],
            Rows::One(only) => std::slice::from_mut(only),
            Rows::Two(both) => &mut both[..],
            Rows::Many(rows) => rows.as_mut_slice(),
        };
        if let Some(replied) = rows.iter_mut().rev().find(|row| row.code() == Code::Ok) {
            let end = ended_at.unwrap_or_else(|| replied.end());
            *replied = replied.clone().with_code(code).with_end(end);
        }
    }

    /// Puts the attempts into the order of their numbers.
    pub(super) fn sort(&mut self) {
        match self {
            Rows::None | Rows::One(_) => {}
            Rows::Two(both) => both.sort_by_key(Attempt::number),
            Rows::Many(rows) => rows.sort_by_key(Attempt::number),
        }
    }

    /// The attempts that are kept.
    pub(super) fn as_slice(&self) -> &[Attempt] {
        match self {
            Rows::None => &[],
            Rows::One(first) => std::slice::from_ref(first),
            Rows::Two(both) => both,
            Rows::Many(rows) => rows.as_slice(),
        }
    }

    pub(super) fn left_out(&self) -> u32 {
        match self {
            Rows::Many(rows) => rows.left_out(),
            Rows::None | Rows::One(_) | Rows::Two(_) => 0,
        }
    }
}

/// The attempts that are kept, in two parts: nothing was left out within either.
pub(super) fn parts(kept: &[Attempt]) -> (&[Attempt], &[Attempt]) {
    kept.split_at(KEPT.min(kept.len()))
}

/// How many values are kept of either end.
pub(super) const KEPT: usize = 32;

/// The first and the last values of a sequence, and how many there were in between. It never takes more room
/// than twice `KEPT` values do, however long an operation continues.
#[derive(Clone, PartialEq, Eq)]
pub struct FirstAndLast<T> {
    kept: Vec<T>,
    left_out: u32,
}

impl<T> FirstAndLast<T> {
    #[inline]
    #[must_use]
    pub fn new(kept: Vec<T>) -> Self {
        Self { kept, left_out: 0 }
    }

    pub fn push(&mut self, value: T) {
        if self.kept.len() >= 2 * KEPT {
            self.kept.remove(KEPT);
            self.left_out = self.left_out.saturating_add(1);
        }
        self.kept.push(value);
    }

    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.kept
    }

    pub fn sort_by_key<K: Ord>(&mut self, key: impl FnMut(&T) -> K) {
        self.kept.sort_by_key(key);
    }

    gax_text::getters! { self:
        /// The values that are kept, in their order.
        pub as_slice: &[T] = &self.kept;

        /// How many values were between the first and the last that are kept.
        pub left_out: u32 = self.left_out;
    }
}

impl<T> Extend<T> for FirstAndLast<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, values: I) {
        values.into_iter().for_each(|value| self.push(value));
    }
}

impl<T> Default for FirstAndLast<T> {
    #[inline]
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

impl<T: fmt::Debug> fmt::Debug for FirstAndLast<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut entries = f.debug_list();
        if self.left_out == 0 {
            return entries.entries(&self.kept).finish();
        }
        let (first, last) = self.kept.split_at(KEPT.min(self.kept.len()));
        entries.entries(first).entry(&format_args!("{} left out", self.left_out)).entries(last).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_are_kept_and_the_rest_is_counted() {
        let mut kept = FirstAndLast::default();
        for number in 0..64 {
            kept.push(number);
        }
        assert!(kept.as_slice().iter().copied().eq(0..64));
        assert_eq!(kept.left_out(), 0);
        for number in 64..1_000_000 {
            kept.push(number);
        }
        assert!(kept.as_slice().iter().copied().eq((0..32).chain(999_968..1_000_000)));
        assert_eq!(kept.left_out(), 999_936);
        assert_eq!(kept.kept.capacity(), 64);
        let text = format!("{kept:?}");
        assert!(text.contains("31, 999936 left out, 999968"), "{text}");
    }
}

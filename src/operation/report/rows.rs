//! The attempts of a ledger.

use super::ends::{Ends, KEPT};
use gax_retry::{Attempt, Code};

/// The first two attempts live inline: most retries succeed at once. Of very many both ends are kept.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) enum Rows {
    #[default]
    None,
    One(Attempt),
    Two([Attempt; 2]),
    Many(Ends<Attempt>),
}

impl Rows {
    pub(crate) fn push(&mut self, attempt: Attempt) {
        *self = match self {
            Rows::None => Rows::One(attempt),
            Rows::One(first) => Rows::Two([first.clone(), attempt]),
            Rows::Two([first, second]) => Rows::Many(Ends::new(vec![first.clone(), second.clone(), attempt])),
            Rows::Many(rows) => return rows.push(attempt),
        };
    }

    /// The attempt that has the reply ended with that code after all.
    pub(crate) fn unreadable(&mut self, code: Code) {
        let rows = match self {
            Rows::None => &mut [],
            Rows::One(only) => std::slice::from_mut(only),
            Rows::Two(both) => &mut both[..],
            Rows::Many(rows) => rows.as_mut_slice(),
        };
        if let Some(replied) = rows.iter_mut().rev().find(|row| row.code() == Code::Ok) {
            *replied = replied.clone().with_code(code);
        }
    }

    /// Puts the attempts into the order of their numbers.
    pub(crate) fn sort(&mut self) {
        match self {
            Rows::None | Rows::One(_) => {}
            Rows::Two(both) => both.sort_by_key(Attempt::number),
            Rows::Many(rows) => rows.sort_by_key(Attempt::number),
        }
    }

    /// The attempts that are kept.
    pub(crate) fn as_slice(&self) -> &[Attempt] {
        match self {
            Rows::None => &[],
            Rows::One(first) => std::slice::from_ref(first),
            Rows::Two(both) => both,
            Rows::Many(rows) => rows.as_slice(),
        }
    }

    pub(crate) fn left_out(&self) -> u32 {
        match self {
            Rows::Many(rows) => rows.left_out(),
            Rows::None | Rows::One(_) | Rows::Two(_) => 0,
        }
    }
}

/// The attempts that are kept, in two parts: nothing was left out within either.
pub(crate) fn parts(kept: &[Attempt]) -> (&[Attempt], &[Attempt]) {
    kept.split_at(KEPT.min(kept.len()))
}

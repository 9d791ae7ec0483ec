//! Replies one after the other.

use gax_driver::__private::Locked;
use std::collections::VecDeque;
use std::sync::Arc;

/// Gives one after the other, the last one forever, and counts. Clones share everything.
#[derive(Debug, Clone)]
pub(super) struct Replies<T>(Arc<Locked<(VecDeque<T>, usize)>>);

impl<T: Clone> Replies<T> {
    pub(super) fn new(replies: impl IntoIterator<Item = T>) -> Self {
        Self(Arc::new(Locked::new((replies.into_iter().collect(), 0))))
    }

    pub(super) fn next(&self) -> Option<T> {
        let mut state = self.0.lock();
        let (left, asked) = &mut *state;
        *asked += 1;
        if left.len() > 1 { left.pop_front() } else { left.front().cloned() }
    }

    /// How often it was asked.
    pub(super) fn asked(&self) -> usize {
        self.0.lock().1
    }
}

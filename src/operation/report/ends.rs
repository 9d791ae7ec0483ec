//! The first and the last items of a sequence of any length.

use std::fmt;

/// How many values are kept of either end.
pub(crate) const KEPT: usize = 32;

/// The first and the last values of a sequence, and how many there were in between. It never takes more room
/// than twice [`KEPT`] values do, however long an operation goes on.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Ends<T> {
    kept: Vec<T>,
    left_out: u32,
}

impl<T> Ends<T> {
    #[inline]
    pub(crate) fn new(kept: Vec<T>) -> Self {
        Self { kept, left_out: 0 }
    }

    pub(crate) fn push(&mut self, value: T) {
        if self.kept.len() >= 2 * KEPT {
            self.kept.remove(KEPT);
            self.left_out = self.left_out.saturating_add(1);
        }
        self.kept.push(value);
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.kept
    }

    pub(crate) fn sort_by_key<K: Ord>(&mut self, key: impl FnMut(&T) -> K) {
        self.kept.sort_by_key(key);
    }

    /// What is kept, in its order.
    pub(crate) fn as_slice(&self) -> &[T] {
        &self.kept
    }

    /// How many values were between the first and the last that are kept.
    pub(crate) fn left_out(&self) -> u32 {
        self.left_out
    }
}

impl<T> Extend<T> for Ends<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, values: I) {
        values.into_iter().for_each(|value| self.push(value));
    }
}

impl<T> Default for Ends<T> {
    #[inline]
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

impl<T: fmt::Debug> fmt::Debug for Ends<T> {
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
        let mut ends = Ends::default();
        for number in 0..64 {
            ends.push(number);
        }
        assert!(ends.as_slice().iter().copied().eq(0..64));
        assert_eq!(ends.left_out(), 0);
        for number in 64..1_000_000 {
            ends.push(number);
        }
        assert!(ends.as_slice().iter().copied().eq((0..32).chain(999_968..1_000_000)));
        assert_eq!(ends.left_out(), 999_936);
        assert_eq!(ends.kept.capacity(), 64);
        let text = format!("{ends:?}");
        assert!(text.contains("31, 999936 left out, 999968"), "{text}");
    }
}

//! Tokens that come back.

/// Finds out whether tokens go round in a circle, in constant memory (R. P. Brent, 1980).
///
/// One token is remembered, and replaced after 1, 2, 4, 8 .. others. A circle is found when it comes back to the remembered
/// token: immediately for a token that follows itself, otherwise after three times around at most, counted from the first
/// page.
#[derive(Debug, Clone)]
pub(super) struct CircleDetector<T> {
    remembered: T,
    /// How many tokens came after that.
    since: u64,
    /// After how many it is replaced.
    replaced_after: u64,
}

impl<T: Clone + PartialEq> CircleDetector<T> {
    /// Begins with the token of the first page.
    pub(super) fn new(first: T) -> Self {
        Self { remembered: first, since: 0, replaced_after: 1 }
    }

    /// Continues from one token to the next; whether that has been there before.
    pub(super) fn comes_back(&mut self, from: &T, token: &T) -> bool {
        if token == from || *token == self.remembered {
            return true;
        }
        self.since += 1;
        if self.since == self.replaced_after {
            self.remembered = token.clone();
            self.since = 0;
            self.replaced_after = self.replaced_after.saturating_mul(2);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many tokens are taken until one has come back, from 0 through `before` others into a circle of that length.
    fn taken(before: u64, length: u64) -> u64 {
        let mut circles = CircleDetector::new(0);
        let mut token = 0;
        for taken in 1..=3 * (before + length) {
            let next = if token + 1 < before + length { token + 1 } else { before };
            if circles.comes_back(&token, &next) {
                return taken;
            }
            token = next;
        }
        panic!("{before} tokens before a circle of {length}");
    }

    #[test]
    fn circles_are_found() {
        assert_eq!(taken(0, 1), 1, "the first token again");
        assert_eq!(taken(1, 1), 2, "the second again");
        assert_eq!(taken(1, 2), 3, "A, B, A");
        assert_eq!(taken(0, 2), 3, "0, A, 0, A");
        assert_eq!(taken(4, 3), 10);
        for before in 0..50 {
            assert_eq!(taken(before, 1), before + 1, "a token that follows itself is found at once");
            for length in 2..50 {
                assert!(taken(before, length) > before + length - 1);
            }
        }
    }

    #[test]
    fn tokens_that_differ_have_no_end() {
        let mut circles = CircleDetector::new(0);
        assert!((1..100_000).all(|token| !circles.comes_back(&(token - 1), &token)));
    }
}

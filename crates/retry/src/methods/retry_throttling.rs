//! The numbers of a limit on retries.

use crate::RetryBudget;

/// The numbers of a limit on the retries to one server, for all methods together: a bucket of tokens that failures empty.
///
/// They are plain data. The [`budget`](Self::budget) that is made of them is what operations share.
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use]
pub struct RetryThrottling {
    max_tokens: f64,
    token_ratio: f64,
}

impl RetryThrottling {
    /// A bucket of that many tokens, to which each success returns `token_ratio` of a token. See [`RetryBudget::tokens`] for the
    /// numbers that are allowed.
    pub fn new(max_tokens: impl Into<f64>, token_ratio: f64) -> Self {
        Self { max_tokens: max_tokens.into(), token_ratio }
    }

    /// Makes the budget that operations draw on: a new bucket, which is full.
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_retry::RetryThrottling;
    /// use std::time::Duration;
    ///
    /// assert!(RetryThrottling::new(10, 0.1).budget().allows(|| Duration::ZERO));
    /// ```
    pub fn budget(&self) -> RetryBudget {
        RetryBudget::tokens(self.max_tokens, self.token_ratio)
    }

    gax_text::getters! {
        /// Returns how many tokens the bucket holds, and has at first. Retries stop at half of it.
        max_tokens: f64;

        /// Returns the tokens that a success puts back; a failure takes one token.
        token_ratio: f64;
    }
}

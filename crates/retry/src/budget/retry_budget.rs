//! The budget that retries of all operations draw on.

use super::tokens::Tokens;
use super::window::Window;
use std::sync::Arc;
use std::time::Duration;

/// How many retries the operations that share it may make together. Clones are the same budget.
///
/// While a server is down, retries multiply its load. A budget prevents that: first attempts are always made, but
/// retries only while enough operations succeed. An operation without budget for a retry ends with the server's error
/// and [`StopReason::Throttled`](crate::StopReason::Throttled).
///
/// There are two kinds: [`tokens`](Self::tokens), as in gRPC's service configs, and [`ratio`](Self::ratio). It uses no
/// locks and has no clock: `now` is the time since any moment that is the same for all users of the budget, and only
/// budgets that need it call it.
///
/// With the feature `serde` a budget is stored as its limits, without its current state: `max_tokens` and `token_ratio`
/// as in `[retry_throttling]` of a table, or `ratio` and `min_per_second`. A budget that is read is new.
///
/// # Examples
///
/// ```
/// # use gax_retry as tonic_gax;
/// use tonic_gax::RetryBudget;
/// use std::time::Duration;
///
/// let now = || Duration::ZERO;
/// let budget = RetryBudget::tokens(4, 0.5);
/// budget.failed();
/// assert!(budget.allows(now));
/// budget.failed();
/// assert!(!budget.allows(now));
/// budget.succeeded(now);
/// assert!(budget.allows(now));
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct RetryBudget {
    kind: Arc<Kind>,
}

#[derive(Debug)]
enum Kind {
    Tokens(Tokens),
    Window(Window),
}

/// The limits that a budget was made with.
#[cfg(feature = "serde")]
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum BudgetLimits {
    Tokens { max: f64, ratio: f64 },
    Ratio { ratio: f64, per_second: u32 },
}

impl RetryBudget {
    /// A bucket of `max` tokens, full at first (gRFC A6, retry throttling). An attempt that fails in a way that is
    /// retried, or whose server says not to retry, takes one token; a success adds `ratio` of one. Retries are made
    /// while more than half of the tokens are left.
    ///
    /// Both numbers have three decimals. Values outside of 0.001 to a billion tokens, or 0 to a billion for the ratio,
    /// are replaced with the nearest bound.
    pub fn tokens(max: impl Into<f64>, ratio: f64) -> Self {
        Self::of(Kind::Tokens(Tokens::new(max.into(), ratio)))
    }

    /// Each success of the last ten seconds allows `ratio` of a retry: with 0.2, five successes allow one. In addition,
    /// ten retries per second are always allowed, or [`min_per_second`](Self::min_per_second). The ratio has three
    /// decimals.
    ///
    /// # Examples
    ///
    /// ```
    /// # use gax_retry as tonic_gax;
    /// use tonic_gax::RetryBudget;
    /// use std::time::Duration;
    ///
    /// let budget = RetryBudget::ratio(0.2).min_per_second(0);
    /// let now = || Duration::from_secs(1);
    /// for _ in 0..5 {
    ///     budget.succeeded(now);
    /// }
    /// assert!(budget.retried(now));
    /// assert!(!budget.allows(now));
    /// ```
    pub fn ratio(ratio: f64) -> Self {
        const PER_SECOND: u32 = 10;
        Self::of(Kind::Window(Window::new(ratio, PER_SECOND)))
    }

    /// How many retries a second are allowed in any case, over ten seconds: with 10, a hundred in each ten seconds.
    /// It is a separate budget, in which nothing has happened. Without effect on [`tokens`](Self::tokens).
    pub fn min_per_second(self, retries: u32) -> Self {
        match &*self.kind {
            Kind::Tokens(_) => self,
            Kind::Window(window) => Self::of(Kind::Window(window.with_min_per_second(retries))),
        }
    }

    fn of(kind: Kind) -> Self {
        Self { kind: Arc::new(kind) }
    }

    /// The limits that it was made with.
    #[cfg(feature = "serde")]
    pub(crate) fn limits(&self) -> BudgetLimits {
        match &*self.kind {
            Kind::Tokens(tokens) => {
                let (max, ratio) = tokens.limits();
                BudgetLimits::Tokens { max, ratio }
            }
            Kind::Window(window) => {
                let (ratio, per_second) = window.limits();
                BudgetLimits::Ratio { ratio, per_second }
            }
        }
    }

    /// Another budget with the same limits, in which nothing has happened.
    pub fn fresh(&self) -> Self {
        Self::of(match &*self.kind {
            Kind::Tokens(tokens) => Kind::Tokens(tokens.full()),
            Kind::Window(window) => Kind::Window(window.empty()),
        })
    }

    /// Returns whether a retry may be made.
    #[must_use]
    pub fn allows(&self, now: impl FnOnce() -> Duration) -> bool {
        match &*self.kind {
            Kind::Tokens(tokens) => tokens.allows(),
            Kind::Window(window) => window.allows(now()),
        }
    }

    /// The balance: of [`tokens`](Self::tokens) the tokens, half of which have to be there for a retry; of a
    /// [`ratio`](Self::ratio) the retries that may be made.
    ///
    /// # Examples
    ///
    /// ```
    /// # use gax_retry as tonic_gax;
    /// use tonic_gax::RetryBudget;
    /// use std::time::Duration;
    ///
    /// let budget = RetryBudget::tokens(10, 0.1);
    /// budget.failed();
    /// assert_eq!(budget.available(|| Duration::ZERO), 9.0);
    /// ```
    #[must_use]
    pub fn available(&self, now: impl FnOnce() -> Duration) -> f64 {
        match &*self.kind {
            Kind::Tokens(tokens) => tokens.available(),
            Kind::Window(window) => window.available(now()),
        }
    }

    /// An attempt failed in a way that is retried, or the server asked for no retry: one token less.
    pub fn failed(&self) {
        if let Kind::Tokens(tokens) = &*self.kind {
            tokens.failed();
        }
    }

    /// A stream that broke off has been resumed, and delivers messages: the token that the break took is given back. (A ratio
    /// gets its retries back in time.)
    pub(crate) fn resumed(&self) {
        if let Kind::Tokens(tokens) = &*self.kind {
            tokens.resumed();
        }
    }

    /// A retry is going to be made: one less of those that a ratio allows. False: there was none left.
    #[must_use = "without a retry left, none may be made"]
    pub fn retried(&self, now: impl FnOnce() -> Duration) -> bool {
        match &*self.kind {
            Kind::Tokens(_) => true,
            Kind::Window(window) => window.take(now()),
        }
    }

    /// An operation succeeded: the ratio's share of a token, or of a retry, more.
    pub fn succeeded(&self, now: impl FnOnce() -> Duration) {
        match &*self.kind {
            Kind::Tokens(tokens) => tokens.succeeded(),
            Kind::Window(window) => window.succeeded(now()),
        }
    }
}

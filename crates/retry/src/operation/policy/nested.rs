//! Retries inside retries.

use super::Policy;

/// Says whether the operations of a server's handler are retried where the request that is being served is itself a retry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nested {
    /// They are.
    Allowed,
    /// They are not. Whether the request is a retry is not known yet, or it is none.
    Refused,
    /// They are not, and the request is one.
    Inside,
}

impl Policy {
    /// This policy with retries inside retries allowed, which is the default, or refused.
    ///
    /// Where each of three services retries three times, one call of the first is 27 calls of the last. A policy that
    /// refuses makes one attempt, without hedges, where the operation belongs to a request whose sender has retried
    /// already ([`inside_retry`](Self::inside_retry)); if that attempt fails in a way that is retried otherwise, the
    /// operation ends with [`StopReason::NestedRetry`](crate::StopReason::NestedRetry).
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_retry::{AttemptPlan, Code, NoJitter, Policy, RetrySettings, StopReason};
    ///
    /// let settings = RetrySettings::builder().max_attempts(3).build()?;
    /// let policy = Policy::new(&settings, Code::Unavailable).with_nested_retries(false);
    /// assert_eq!(AttemptPlan::refused(&policy, &mut NoJitter).attempts().len(), 3);
    ///
    /// let plan = AttemptPlan::refused(&policy.inside_retry(), &mut NoJitter);
    /// assert_eq!((plan.attempts().len(), plan.stop_reason()), (1, Some(StopReason::NestedRetry)));
    /// # Ok::<(), gax_retry::SettingsError>(())
    /// ```
    pub fn with_nested_retries(self, allowed: bool) -> Self {
        Self { nested: if allowed { Nested::Allowed } else { Nested::Refused }, ..self }
    }

    /// Returns whether retries inside retries are refused.
    #[inline]
    #[must_use]
    pub fn refuses_nested_retries(&self) -> bool {
        self.nested != Nested::Allowed
    }

    /// This policy for an operation that belongs to a request whose sender has retried already, as the header
    /// `grpc-previous-rpc-attempts` says (gRFC A6). Without effect where retries inside retries are allowed.
    pub fn inside_retry(self) -> Self {
        Self { nested: if self.refuses_nested_retries() { Nested::Inside } else { Nested::Allowed }, ..self }
    }

    pub(in crate::operation) fn is_inside_retry(&self) -> bool {
        self.nested == Nested::Inside
    }
}

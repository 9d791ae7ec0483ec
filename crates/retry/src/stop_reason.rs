//! Why an operation ended without success.

/// Why no further attempt was made.
///
/// Every operation that fails has one; its text is the same in reports, in `gax` output and in metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "SCREAMING_SNAKE_CASE")
)]
pub enum StopReason {
    /// The last attempt's code is not in the method's retryable set.
    NonRetryable,
    /// The next attempt could only start at or after the total timeout.
    TotalTimeout,
    /// `max_attempts` attempts were made.
    MaxAttempts,
    /// Neither a total timeout nor a number of attempts bounds the operation, so nothing is retried.
    NoLimits,
    /// The request can't be sent a second time: it is a stream that is not buffered, or larger than the replay limit.
    NotReplayable,
    /// The operation was committed to an attempt: part of its response had been handed to the caller, or more of a
    /// stream of requests had been sent with it than is buffered (gRFC A6).
    Committed,
    /// The retry throttle has no tokens to give.
    Throttled,
    /// The server said not to retry.
    Pushback,
    /// The server asks for a wait that the operation has no time for.
    #[cfg_attr(feature = "serde", serde(rename = "SERVER_DELAY_EXCEEDS_BUDGET"))]
    ServerDelayExceedsTotalTimeout,
    /// The operation serves a request that is a retry itself, and its policy leaves retries to the sender.
    NestedRetry,
    /// The channel under the client is closed for good.
    ChannelClosed,
    /// The call's own settings or retryable codes are invalid: nothing was sent.
    InvalidOptions,
    /// The caller cancelled the operation.
    Cancelled,
}

gax_text::names! {
    /// The reason in the form that reports and tools print, such as `TOTAL_TIMEOUT`.
    pub fn as_str for StopReason {
        NonRetryable = "NON_RETRYABLE",
        TotalTimeout = "TOTAL_TIMEOUT",
        MaxAttempts = "MAX_ATTEMPTS",
        NoLimits = "NO_LIMITS",
        NotReplayable = "NOT_REPLAYABLE",
        Committed = "COMMITTED",
        Throttled = "THROTTLED",
        Pushback = "PUSHBACK",
        ServerDelayExceedsTotalTimeout = "SERVER_DELAY_EXCEEDS_BUDGET",
        NestedRetry = "NESTED_RETRY",
        ChannelClosed = "CHANNEL_CLOSED",
        InvalidOptions = "INVALID_OPTIONS",
        Cancelled = "CANCELLED",
    }
}

impl StopReason {
    /// Returns whether the last attempt would have been retried, except for a limit, the budget or the server: what gax's
    /// tracers call exhausted retries.
    #[must_use]
    pub const fn is_of_retries(self) -> bool {
        match self {
            StopReason::TotalTimeout
            | StopReason::MaxAttempts
            | StopReason::NoLimits
            | StopReason::Throttled
            | StopReason::Pushback
            | StopReason::ServerDelayExceedsTotalTimeout
            | StopReason::NestedRetry => true,
            StopReason::NonRetryable
            | StopReason::NotReplayable
            | StopReason::Committed
            | StopReason::ChannelClosed
            | StopReason::InvalidOptions
            | StopReason::Cancelled => false,
        }
    }
}

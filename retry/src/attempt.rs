//! What is known of an attempt that has ended.

use crate::Code;
use std::time::Duration;

/// One row of a plan or report: an attempt that has ended.
///
/// All times count from the start of the operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    number: u32,
    delay: Duration,
    start: Duration,
    rpc_timeout: Option<Duration>,
    end: Duration,
    code: Code,
}

impl Attempt {
    /// An attempt that `started` at `start` and ended at `end` with `code`, after a wait of `delay`.
    #[inline]
    #[must_use]
    pub fn new(started: Started, delay: Duration, start: Duration, end: Duration, code: Code) -> Self {
        Self { number: started.number, delay, start, rpc_timeout: started.rpc_timeout, end, code }
    }

    /// Its number in the operation; the first is 1.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.number
    }

    /// The wait before it, as drawn; zero for the first.
    #[must_use]
    pub fn delay(&self) -> Duration {
        self.delay
    }

    /// When it started.
    #[must_use]
    pub fn start(&self) -> Duration {
        self.start
    }

    /// The RPC timeout it was given; `None` is no deadline.
    #[must_use]
    pub fn rpc_timeout(&self) -> Option<Duration> {
        self.rpc_timeout
    }

    /// When it ended.
    #[must_use]
    pub fn end(&self) -> Duration {
        self.end
    }

    /// The code it ended with.
    #[must_use]
    pub fn code(&self) -> Code {
        self.code
    }
}

/// An attempt that may be sent now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Started {
    number: u32,
    whole_milliseconds: bool,
    rpc_timeout: Option<Duration>,
}

impl Started {
    pub(crate) fn new(number: u32, rpc_timeout: Option<Duration>) -> Self {
        Self { number, whole_milliseconds: false, rpc_timeout }
    }

    /// The attempt is cut at a whole number of milliseconds.
    pub(crate) fn with_whole_milliseconds(self) -> Self {
        Self { whole_milliseconds: true, ..self }
    }

    /// The same attempt with exactly that timeout.
    #[must_use]
    pub fn with_rpc_timeout(self, timeout: Duration) -> Self {
        Self { rpc_timeout: Some(timeout), ..self }
    }

    /// Its number in the operation; the first is 1.
    #[inline]
    #[must_use]
    pub fn number(self) -> u32 {
        self.number
    }

    /// How long it may take; `None` is no deadline.
    #[inline]
    #[must_use]
    pub fn rpc_timeout(self) -> Option<Duration> {
        self.rpc_timeout
    }

    /// When, after its start, it is cut: the RPC timeout. By gax-java's rules the deadline is what the
    /// timeout has of whole milliseconds, so that a timeout of 0.9 ms fails at once.
    #[inline]
    #[must_use]
    pub fn deadline(self) -> Option<Duration> {
        let below_ms =
            |timeout: Duration| Duration::from_nanos(u64::from(timeout.subsec_nanos() % 1_000_000));
        match self.rpc_timeout {
            Some(timeout) if self.whole_milliseconds => Some(timeout.saturating_sub(below_ms(timeout))),
            timeout => timeout,
        }
    }
}

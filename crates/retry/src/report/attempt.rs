//! An attempt that has ended.

#[cfg(feature = "serde")]
use crate::nanos::timeout_or_forever;
use crate::nanos::{bounded, nanos};
use crate::{Code, StartedAttempt};
use std::time::Duration;

/// One row of a plan or report: an attempt that has ended.
///
/// All times count from the start of the operation, in nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    number: u32,
    transparent_retries: u8,
    code: Code,
    delay: u64,
    start: u64,
    rpc_timeout: u64,
    end: u64,
}

impl Attempt {
    /// An attempt that ended at `end` with `code`.
    #[inline]
    #[must_use]
    pub fn new(started: StartedAttempt, end: Duration, code: Code) -> Self {
        let StartedAttempt { number, transparent_retries, delay, start, rpc_timeout, .. } = started;
        Self { number, transparent_retries, code, delay, start, rpc_timeout, end: nanos(end) }
    }

    /// A row that was stored.
    #[cfg(feature = "serde")]
    pub(crate) fn stored(
        [number, transparent_retries]: [u32; 2],
        rpc_timeout: Option<Duration>,
        delay: Duration,
        [start, end]: [Duration; 2],
        code: Code,
    ) -> Self {
        let transparent_retries = u8::try_from(transparent_retries).unwrap_or(u8::MAX);
        Self {
            number,
            transparent_retries,
            code,
            delay: nanos(delay),
            start: nanos(start),
            rpc_timeout: timeout_or_forever(rpc_timeout),
            end: nanos(end),
        }
    }

    gax_text::setters! { self:
        /// The attempt, ended with that code.
        #[must_use]
        pub with_code(code: Code) => self.code = code;

        /// The attempt, ended at that time after its operation began.
        #[must_use]
        pub with_end(end: Duration) => self.end = nanos(end);
    }

    gax_text::getters! { self:
        /// Its number in the operation; the first is 1.
        pub number: u32 = self.number;

        /// How often its request was sent again immediately, since it had not reached a server: transparent retries (gRFC
        /// A6). They are no attempts and have no rows.
        pub transparent_retries: u32 = self.transparent_retries.into();

        /// The code it ended with.
        pub code: Code = self.code;
    }

    /// The actual wait before it; zero for the first.
    #[must_use]
    pub fn delay(&self) -> Duration {
        Duration::from_nanos(self.delay)
    }

    /// When it started.
    #[must_use]
    pub fn start(&self) -> Duration {
        Duration::from_nanos(self.start)
    }

    /// The RPC timeout it was given; `None` means no deadline.
    #[must_use]
    pub fn rpc_timeout(&self) -> Option<Duration> {
        bounded(self.rpc_timeout)
    }

    /// When it ended.
    #[must_use]
    pub fn end(&self) -> Duration {
        Duration::from_nanos(self.end)
    }
}

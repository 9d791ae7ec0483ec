//! What is known of an attempt that has ended.

use crate::{Code, StartedAttempt};
use std::time::Duration;

/// One row of a plan or report: an attempt that has ended.
///
/// All times count from the start of the operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    number: u32,
    transparent_retries: u8,
    delay: Duration,
    start: Duration,
    rpc_timeout: Option<Duration>,
    end: Duration,
    code: Code,
}

impl Attempt {
    /// An attempt that ended at `end` with `code`.
    #[inline]
    #[must_use]
    pub fn new(started: StartedAttempt, delay: Duration, start: Duration, end: Duration, code: Code) -> Self {
        Self {
            number: started.number(),
            transparent_retries: started.transparent_retries,
            delay,
            start,
            rpc_timeout: started.rpc_timeout(),
            end,
            code,
        }
    }

    /// The same attempt, ended with that code.
    #[must_use]
    pub fn with_code(self, code: Code) -> Self {
        Self { code, ..self }
    }

    /// Its number in the operation; the first is 1.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.number
    }

    /// How often its request was sent again at once, since it had not reached a server: transparent retries (gRFC A6). They
    /// are no attempts and have no rows.
    #[must_use]
    pub fn transparent_retries(&self) -> u32 {
        self.transparent_retries.into()
    }

    /// The actual wait before it; zero for the first.
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

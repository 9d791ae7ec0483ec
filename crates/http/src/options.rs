//! Limits of a single HTTP request.

use crate::config::HttpLimits;
use gax_retry::settings::Override;
use std::time::Duration;

/// Limits of a single HTTP request, put into its extensions: how much of it and of its response is buffered, and how
/// long a response may pause.
///
/// An option that is not set is as in the [layer](crate::HttpRetryLayer). Timeouts, attempts and codes are in
/// [`CallOptions`](crate::CallOptions), in the same words as for gRPC.
///
/// # Defaults
///
/// Nothing is set.
///
/// # Stored
///
/// With the feature `serde` they are read from a program's own configuration, as [`CallOptions`](crate::CallOptions) are.
/// The names are those of the setters: `max_replay_bytes` or `without_replay_limit = true`, `max_response_buffer`,
/// `body_idle_timeout = "30s"` or `without_body_idle_timeout = true`. Unknown names, both names of a limit at once and a
/// timeout of zero are errors.
///
/// # Examples
///
/// A download that is passed on as it arrives, while other responses are buffered so that they can be retried:
///
/// ```
/// use std::time::Duration;
/// use gax_http::HttpCallOptions;
///
/// let options = HttpCallOptions::new().max_response_buffer(0).body_idle_timeout(Duration::from_secs(30));
/// let request = http::Request::get("http://localhost:8080/backup.tar").extension(options).body(())?;
/// # drop(request);
/// # Ok::<(), http::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[must_use = "options do nothing until they are in a request's extensions"]
pub struct HttpCallOptions {
    pub(super) max_replay_bytes: Option<usize>,
    pub(super) max_response_buffer: Option<usize>,
    pub(super) body_idle_timeout: Override<Duration>,
}

impl HttpCallOptions {
    /// Nothing set.
    pub fn new() -> Self {
        Self::default()
    }

    /// The longest body in memory, in bytes, that is buffered, so that it can be replayed; see
    /// [`HttpRetryLayer::max_replay_bytes`](crate::HttpRetryLayer::max_replay_bytes).
    pub fn max_replay_bytes(mut self, bytes: usize) -> Self {
        self.max_replay_bytes = Some(bytes);
        self
    }

    /// Buffers a body of any length for replay.
    pub fn without_replay_limit(self) -> Self {
        self.max_replay_bytes(usize::MAX)
    }

    gax_text::setters! { self:
        /// The most bytes of a success that are buffered until it has ended; see
        /// [`HttpRetryLayer::max_response_buffer`](crate::HttpRetryLayer::max_response_buffer). Zero hands every body on
        /// that is not empty.
        pub max_response_buffer(bytes: usize) => self.max_response_buffer = Some(bytes);

        /// The longest pause in the response's body while a reader waits for its next bytes; see
        /// [`HttpRetryLayer::body_idle_timeout`](crate::HttpRetryLayer::body_idle_timeout).
        pub body_idle_timeout(timeout: Duration) => self.body_idle_timeout = Override::Set(timeout);
    }

    /// No such bound, whatever the layer says.
    pub fn without_body_idle_timeout(mut self) -> Self {
        self.body_idle_timeout = Override::Disabled;
        self
    }

    /// These limits with what is set.
    pub(super) fn over(self, limits: HttpLimits) -> HttpLimits {
        HttpLimits {
            max_replay_bytes: self.max_replay_bytes.unwrap_or(limits.max_replay_bytes),
            max_response_buffer: self.max_response_buffer.unwrap_or(limits.max_response_buffer),
            body_idle_timeout: self.body_idle_timeout.over(limits.body_idle_timeout),
        }
    }
}

//! Notes: whatever else is worth knowing of an operation.

use std::fmt;
use std::hash::{Hash, Hasher};

/// Something about an operation that the attempts alone don't show: a sentence, and a name by which programs know it.
///
/// The constants here are those of every transport; each transport has others (`note` for gRPC).
///
/// # Examples
///
/// ```
/// use gax_driver::{Note, OperationReport};
///
/// const LETTER_LOST: Note = Note::new(&("mailbox.letter_lost", "a letter was lost on its way"));
///
/// fn is_odd(report: &OperationReport) -> bool {
///     report.notes().iter().any(|note| [LETTER_LOST, Note::UNREADABLE_RESPONSE].contains(note))
/// }
/// ```
#[derive(Clone, Copy)]
pub struct Note(&'static (&'static str, &'static str));

impl Note {
    /// The request is larger than the replay limit, so that it was sent once only.
    pub const REQUEST_TOO_LARGE_TO_REPLAY: Self = Self::new(&(
        "driver.request_too_large_to_replay",
        "the request is larger than the replay limit: sent once only",
    ));
    /// The request is a stream that is not replayed, or may be one for all that a layer without descriptors can see, so
    /// that it was sent once only.
    pub const REQUEST_IS_A_STREAM: Self =
        Self::new(&("driver.request_is_a_stream", "the request is a stream: sent once only"));
    /// The response was committed before its end was seen: what came after its first message was not
    /// classified.
    pub const COMMITTED: Self =
        Self::new(&("driver.committed", "the response was committed before its end had arrived"));
    /// The response was larger than the buffer that responses are classified in, and was handed to the caller.
    pub const RESPONSE_TOO_LARGE_TO_BUFFER: Self = Self::new(&(
        "driver.response_too_large_to_buffer",
        "the response was larger than the response buffer: committed",
    ));
    /// No more than five attempts are made, as over any gRPC channel, although the settings allow more.
    pub const ATTEMPTS_CAPPED: Self =
        Self::new(&("driver.attempts_capped", "at most five attempts are made by gRPC's rules"));
    /// The code is retryable, and the settings have neither a total timeout nor a number of attempts.
    pub const NO_LIMITS: Self = Self::new(&(
        "driver.no_limits",
        "nothing is retried without a limit: set total_timeout or max_attempts",
    ));
    /// The retry budget was used up when a hedge was due, so that it was not sent then (gRFC A6).
    pub const HEDGE_WITHHELD: Self =
        Self::new(&("driver.hedge_withheld", "a hedge was withheld: the retry budget was used up"));
    /// The server found a condition of the request not to hold (`FAILED_PRECONDITION`, `ABORTED`, `ALREADY_EXISTS`), and an
    /// attempt before, whose response was lost, may have been carried out: that can be why.
    pub const EARLIER_ATTEMPT_MAY_HAVE_SUCCEEDED: Self =
        Self::new(&("driver.earlier_attempt_may_have_succeeded", "an earlier attempt may have succeeded"));
    /// Attempts in a row have used up their RPC timeouts without a byte from the server: a new connection is made for the next.
    pub const CONNECTION_GIVEN_UP: Self = Self::new(&(
        "driver.connection_given_up",
        "attempts timed out and the server was silent: the connection was given up",
    ));
    /// Attempts were operations of another layer or client below, which retried them: retries multiply.
    /// [`OperationReport::request_count`](crate::OperationReport::request_count) has the number of requests.
    pub const RETRIED_INSIDE: Self = Self::new(&(
        "driver.retried_inside",
        "attempts were themselves retried by another layer or client below",
    ));
    /// A timeout inside the retries, such as `tower::timeout` or a client's own, ended an attempt before its RPC timeout.
    pub const INNER_TIMEOUT: Self = Self::new(&(
        "driver.inner_timeout",
        "a timeout of the client or of a layer inside the retries ended an attempt before its RPC timeout",
    ));
    /// The client's own HTTP/2 stack closed a connection because one response on it broke the rules: this operation's, or that of
    /// another call.
    pub const CONNECTION_CLOSED_FOR_A_RESPONSE: Self = Self::new(&(
        "driver.connection_closed_for_a_response",
        "the client closed a connection because a response on it broke HTTP/2's rules: this call's or another's",
    ));
    /// The response breaks the rules of its transport, so that it can't be read: the operation ended there,
    /// regardless of which codes are retryable.
    pub const UNREADABLE_RESPONSE: Self = Self::new(&(
        "driver.unreadable_response",
        "the response can't be read: not retried, regardless of its code",
    ));

    /// A note of that name with that sentence. The name begins with the transport's, so that no two are the same.
    #[must_use]
    pub const fn new(name_and_text: &'static (&'static str, &'static str)) -> Self {
        Self(name_and_text)
    }

    /// Its name, such as `driver.committed`. Notes of the same name are equal.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.0.0
    }
}

impl PartialEq for Note {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Note {}

impl Hash for Note {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

/// Its name.
impl fmt::Debug for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Its sentence.
impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.1)
    }
}

//! Which errors are worth another attempt.

use gax_retry::{Code, CodeSet};

/// Decides which errors of a closure are retried: a set of codes, or a predicate.
///
/// Codes fit errors that have one ([`ErrorCode`]); a predicate `Fn(&E) -> bool` fits any error.
pub trait Retryable<E> {
    /// The code that the attempt ends with, by which the operation decides and which the report shows.
    fn code(&self, error: &E) -> Code;

    /// The codes that are retried.
    fn codes(&self) -> CodeSet;

    /// Returns whether no other attempt can do better, whatever the code says; false unless said.
    fn is_final(&self, _error: &E) -> bool {
        false
    }
}

/// An error that has a [`Code`].
pub trait ErrorCode {
    /// The code.
    fn error_code(&self) -> Code;

    /// Returns whether no other attempt can do better, whatever the code says; false unless said. A tonic status is final if a message is
    /// longer than the program's own limit (`max_decoding_message_size`, `max_encoding_message_size`). A server may send that
    /// code too, and then it is one like any other.
    fn is_final(&self) -> bool {
        false
    }
}

#[cfg(feature = "tonic")]
impl ErrorCode for tonic::Status {
    fn error_code(&self) -> Code {
        Code::from_wire(tonic::Status::code(self) as i32)
    }

    fn is_final(&self) -> bool {
        self.code() == tonic::Code::OutOfRange
            && self.metadata().is_empty()
            && (TONICS_LIMITS.iter().any(|beginning| self.message().starts_with(beginning))
                || comes_of_own_limit(self))
    }
}

/// How messages of statuses begin that tonic makes where a message is above the program's own limit.
#[cfg(feature = "tonic")]
const TONICS_LIMITS: [&str; 2] =
    ["Error, decoded message length too large", "Error, encoded message length too large"];

#[cfg(feature = "tonic")]
fn comes_of_own_limit(error: &(dyn std::error::Error + 'static)) -> bool {
    error.is::<AboveOwnLimit>() || error.source().is_some_and(comes_of_own_limit)
}

/// The source of a status that a generated client makes where a message is above the program's own limit.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "our own crates make it")]
pub struct AboveOwnLimit;

gax_text::error_text! { AboveOwnLimit {}, "a message is above the program's own limit" }

impl<E: ErrorCode> Retryable<E> for CodeSet {
    fn code(&self, error: &E) -> Code {
        error.error_code()
    }

    fn codes(&self) -> CodeSet {
        *self
    }

    fn is_final(&self, error: &E) -> bool {
        error.is_final()
    }
}

impl<E: ErrorCode, const N: usize> Retryable<E> for [Code; N] {
    fn code(&self, error: &E) -> Code {
        error.error_code()
    }

    fn codes(&self) -> CodeSet {
        CodeSet::from(*self)
    }

    fn is_final(&self, error: &E) -> bool {
        error.is_final()
    }
}

/// An error for which the predicate is true is treated as `UNAVAILABLE`, any other as `UNKNOWN`. An attempt that runs
/// into its RPC timeout is always retried, because the predicate can't be asked about it.
impl<E, F: Fn(&E) -> bool> Retryable<E> for F {
    fn code(&self, error: &E) -> Code {
        if self(error) { Code::Unavailable } else { Code::Unknown }
    }

    fn codes(&self) -> CodeSet {
        CodeSet::from([Code::Unavailable, Code::DeadlineExceeded])
    }
}

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
}

/// An error that has a [`Code`].
pub trait ErrorCode {
    /// The code.
    fn error_code(&self) -> Code;
}

impl ErrorCode for tonic::Status {
    fn error_code(&self) -> Code {
        Code::from_wire(tonic::Status::code(self) as i32)
    }
}

impl<E: ErrorCode> Retryable<E> for CodeSet {
    fn code(&self, error: &E) -> Code {
        error.error_code()
    }

    fn codes(&self) -> CodeSet {
        *self
    }
}

impl<E: ErrorCode, const N: usize> Retryable<E> for [Code; N] {
    fn code(&self, error: &E) -> Code {
        error.error_code()
    }

    fn codes(&self) -> CodeSet {
        CodeSet::from(*self)
    }
}

/// An error for which the predicate is true counts as `UNAVAILABLE`, any other as `UNKNOWN`. An attempt that runs
/// into its RPC timeout is always retried, because the predicate can't be asked about it.
impl<E, F: Fn(&E) -> bool> Retryable<E> for F {
    fn code(&self, error: &E) -> Code {
        if self(error) { Code::Unavailable } else { Code::Unknown }
    }

    fn codes(&self) -> CodeSet {
        CodeSet::from([Code::Unavailable, Code::DeadlineExceeded])
    }
}

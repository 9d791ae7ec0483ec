//! What is wrong with descriptors and rules, and the statuses of attempts that failed before a server's status was there.

use gax_driver::credentials::CredentialsError;
use gax_http::__private::{Part, classify};
use gax_retry::Code;
use gax_retry::http::TransportFailure;
use gax_wire::__private::{BoxError, ClassifiedError, Finality, LayerError, Reach, chain, explain};
use std::fmt;
use std::sync::Arc;
use tonic::Status;
use tonic_gax::CodeExt as _;

/// A request that can't be made: nothing is sent, and no other attempt would do better.
pub(super) fn refused(code: Code, message: impl Into<String>) -> Status {
    status(code, message.into(), Reach::Unconnected, Finality::Final, None)
}

/// A response that is longer than the limit.
pub(super) fn too_long(limit: usize) -> Status {
    let message = format!("the response is longer than max_response_bytes, which is {limit}");
    status(Code::OutOfRange, message, Reach::MaybeSent, Finality::Final, None)
}

/// A response that can't be read. `is_cut` says that it ended too early.
pub(super) fn unreadable(message: String, is_cut: bool, is_java: bool) -> Status {
    let (code, finality) = match (is_java, is_cut) {
        (true, _) => (Code::Cancelled, Finality::ByCode),
        (false, true) => (Code::Unavailable, Finality::ByCode),
        (false, false) => (Code::Internal, Finality::Unreadable),
    };
    status(code, message, Reach::MaybeSent, finality, None)
}

/// An error below HTTP, while that part of the response was awaited.
pub(super) fn broken(error: BoxError, part: Part, is_java: bool) -> Status {
    // A layer between says what it means.
    if chain(&*error).any(|link| link.is::<CredentialsError>() || link.is::<Status>()) {
        return Status::from_error(error);
    }
    let cause = classify(&*error, part);
    let (code, finality) = match cause.failure {
        Some(TransportFailure::Timeout) => (Code::DeadlineExceeded, Finality::ByCode),
        _ if LayerError::behind(&*error) == Some(LayerError::Overloaded) => {
            (Code::ResourceExhausted, Finality::ByCode)
        }
        // gax-java: I/O errors are never retried.
        _ if is_java => (Code::Unknown, Finality::Final),
        // The driver knows whether it was for this response.
        _ if cause.is_closed_by_us => return Status::from_error(error),
        None if cause.problem.is_some() => (Code::Unavailable, Finality::Final),
        None => (Code::Unknown, Finality::Final),
        Some(TransportFailure::Unreadable) => (Code::Internal, Finality::Unreadable),
        Some(_) => (Code::Unavailable, Finality::ByCode),
    };
    let message = explain(&*error);
    status(code, message, cause.reach, finality, Some(error))
}

fn status(code: Code, message: String, reach: Reach, finality: Finality, source: Option<BoxError>) -> Status {
    let mut status = Status::new(code.to_tonic(), message);
    status.set_source(Arc::new(ClassifiedError { code, reach, finality, source }));
    status
}

/// Why a REST transport can't be made of some descriptors or rules: one sentence, with the RPC in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestError {
    message: String,
}

impl RestError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }

    /// The rule of that RPC can't be used.
    pub(super) fn of_rule(method: &str, problem: impl fmt::Display) -> Self {
        Self::new(format!("the google.api.http rule of {method} can't be used: {problem}"))
    }
}

gax_text::error_text! { RestError { message }, "{message}" }

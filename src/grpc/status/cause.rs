//! The meaning of a transport error, read from its chain of sources.
//!
//! Codes are no help: tonic makes UNKNOWN of a broken connection, CANCELLED of its own timeout, and of an
//! HTTP/2 reset whatever its compile-time features say.

use crate::grpc::status::CodeExt as _;
use gax_driver::credentials::CredentialsError;
use gax_retry::Code;
use gax_wire::__private::{ClassifiedError, Finality, H2Cause, LayerError, Reach};
use std::error::Error;
use std::io;
use tonic::Status;

/// The meaning of an error for the operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Classification {
    pub code: Code,
    pub reach: Reach,
    pub nature: Nature,
}

/// A side of an error that its code does not show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nature {
    /// Nothing: the code says it all.
    Plain,
    /// The server reset the stream with CANCEL, as it does when its own deadline for the call passes.
    CancelledByServer,
    /// Our own HTTP/2 stack has reset the stream: the response, or the request, breaks the rules.
    Unreadable,
    /// Our own HTTP/2 stack has closed the connection, for this response or for another one on it. If it was for
    /// this one, that code is the error's.
    ClosedByUs(Code),
    /// A timeout inside the retries passed.
    TimedOut,
    /// No other attempt can do better.
    Final,
}

/// How far an attempt had come when it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// The service below was not ready to take it.
    NotReady,
    /// Its request was passed on.
    Sent,
    /// The response's headers had arrived, after which nothing is treated as not sent.
    Begun,
}

impl Classification {
    fn new(code: Code, reach: Reach) -> Self {
        Self { code, reach, nature: Nature::Plain }
    }
}

/// Classifies an error of an attempt that had come that far.
pub(crate) fn classify(error: &(dyn Error + 'static), progress: Progress) -> Classification {
    let Classification { code, reach, nature } = from_chain(error);
    let (code, reach) = match (progress, code) {
        (Progress::Begun, _) => (code, reach.of_begun()),
        // Whatever closed the service, it has not seen the request.
        (Progress::NotReady, Code::Unknown) => (Code::Unavailable, reach.of_unsent()),
        (Progress::NotReady, _) => (code, reach.of_unsent()),
        (Progress::Sent, _) => (code, reach),
    };
    Classification { code, reach, nature }
}

fn from_chain(error: &(dyn Error + 'static)) -> Classification {
    let mut status_code = None;
    let mut connection_broke = false;
    let mut link = Some(error);
    while let Some(current) = link {
        if let Some(error) = current.downcast_ref::<ClassifiedError>() {
            return from_classified(error);
        }
        let layer = match LayerError::of(current) {
            None if current.is::<tonic::TimeoutExpired>() => Some(LayerError::TimedOut),
            layer => layer,
        };
        if let Some(layer) = layer {
            return from_layer(layer);
        }
        if current.is::<tonic::ConnectError>() {
            // No transparent retry: a server that is down is met with back-off.
            return Classification::new(Code::Unavailable, Reach::Unconnected);
        }
        if let Some(h2) = current.downcast_ref::<h2::Error>() {
            return from_h2(h2);
        }
        if let Some(hyper) = current.downcast_ref::<hyper::Error>() {
            if hyper.is_canceled() || hyper.is_closed() {
                return Classification::new(Code::Unavailable, Reach::NeverSent);
            }
            // hyper calls the end of a connection's task a user error, too, for calls that wait for a free stream. Such
            // an error has a source; real user errors have none.
            connection_broke |= !hyper.is_user() || hyper.source().is_some();
        }
        if current.is::<io::Error>() {
            connection_broke = true;
        }
        if let Some(error) = current.downcast_ref::<CredentialsError>() {
            return Classification::new(error.code(), Reach::Unconnected);
        }
        if let Some(status) = current.downcast_ref::<Status>() {
            status_code.get_or_insert(status.code().to_gax());
        }
        link = current.source();
    }
    // A status keeps its code, unless it is UNKNOWN or CANCELLED, which tonic uses for broken connections.
    match status_code {
        Some(code) if !matches!(code, Code::Unknown | Code::Cancelled) => {
            Classification::new(code, Reach::MaybeSent)
        }
        _ if connection_broke => Classification::new(Code::Unavailable, Reach::MaybeSent),
        Some(code) => Classification::new(code, Reach::MaybeSent),
        None => Classification::new(Code::Unknown, Reach::MaybeSent),
    }
}

/// The classification of a layer inside the retries.
fn from_layer(error: LayerError) -> Classification {
    match error {
        LayerError::TimedOut => Classification {
            nature: Nature::TimedOut,
            ..Classification::new(Code::DeadlineExceeded, Reach::MaybeSent)
        },
        // As tonic's servers say it.
        LayerError::Overloaded => Classification::new(Code::ResourceExhausted, Reach::Unconnected),
        LayerError::Closed => Classification::new(Code::Unavailable, Reach::ChannelClosed),
    }
}

/// The classification of a transport that replaces gRPC's own.
fn from_classified(error: &ClassifiedError) -> Classification {
    let nature = match error.finality {
        Finality::ByCode => Nature::Plain,
        Finality::Final => Nature::Final,
        Finality::Unreadable => Nature::Unreadable,
    };
    Classification { nature, ..Classification::new(error.code, error.reach) }
}

/// The code of an HTTP/2 error, by its reason and by who raised it.
fn from_h2(error: &h2::Error) -> Classification {
    let of = |code, nature| Classification { nature, ..Classification::new(code, Reach::MaybeSent) };
    match (H2Cause::from(error), error.reason()) {
        (H2Cause::Refused, _) => Classification::new(Code::Unavailable, Reach::Refused),
        (_, None) => of(Code::Unavailable, Nature::Plain),
        (H2Cause::ConnectionClosed, Some(reason)) => {
            of(Code::Unavailable, Nature::ClosedByUs(code_of(reason)))
        }
        (H2Cause::Unreadable | H2Cause::Request, Some(reason)) => of(code_of(reason), Nature::Unreadable),
        (H2Cause::Broken, Some(h2::Reason::CANCEL)) => of(Code::Cancelled, Nature::CancelledByServer),
        (H2Cause::Broken, Some(reason)) => of(code_of(reason), Nature::Plain),
    }
}

/// The code of a reason, by the table in the "Errors" section of the gRPC protocol. The reasons that it leaves out
/// are INTERNAL too, where HTTP/2 knows them.
fn code_of(reason: h2::Reason) -> Code {
    match reason {
        h2::Reason::REFUSED_STREAM => Code::Unavailable,
        h2::Reason::CANCEL => Code::Cancelled,
        h2::Reason::ENHANCE_YOUR_CALM => Code::ResourceExhausted,
        h2::Reason::INADEQUATE_SECURITY => Code::PermissionDenied,
        h2::Reason::NO_ERROR
        | h2::Reason::PROTOCOL_ERROR
        | h2::Reason::INTERNAL_ERROR
        | h2::Reason::FLOW_CONTROL_ERROR
        | h2::Reason::SETTINGS_TIMEOUT
        | h2::Reason::STREAM_CLOSED
        | h2::Reason::FRAME_SIZE_ERROR
        | h2::Reason::COMPRESSION_ERROR
        | h2::Reason::CONNECT_ERROR
        | h2::Reason::HTTP_1_1_REQUIRED => Code::Internal,
        _ => Code::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tonic::codegen::StdError;

    fn classified(error: impl Error + 'static) -> Classification {
        classify(&error, Progress::Sent)
    }

    fn with_source(status: Status, source: impl Error + Send + Sync + 'static) -> Status {
        let mut status = status;
        status.set_source(std::sync::Arc::new(source));
        status
    }

    #[test]
    fn a_status_that_names_its_reason_keeps_it() {
        let status = Status::unauthenticated("no token");
        assert_eq!(classified(status), Classification::new(Code::Unauthenticated, Reach::MaybeSent));
    }

    #[test]
    fn a_broken_connection_behind_unknown_or_cancelled_is_unavailable() {
        for status in [Status::unknown("transport error"), Status::cancelled("gone")] {
            let broken = with_source(status, io::Error::from(io::ErrorKind::BrokenPipe));
            assert_eq!(classified(broken), Classification::new(Code::Unavailable, Reach::MaybeSent));
        }
    }

    #[test]
    fn resets_by_reason() {
        use h2::Reason;
        for (reason, code, reach) in [
            (Reason::REFUSED_STREAM, Code::Unavailable, Reach::Refused),
            (Reason::CANCEL, Code::Cancelled, Reach::MaybeSent),
            (Reason::INTERNAL_ERROR, Code::Internal, Reach::MaybeSent),
            (Reason::ENHANCE_YOUR_CALM, Code::ResourceExhausted, Reach::MaybeSent),
            (Reason::INADEQUATE_SECURITY, Code::PermissionDenied, Reach::MaybeSent),
            (Reason::STREAM_CLOSED, Code::Internal, Reach::MaybeSent),
            (Reason::HTTP_1_1_REQUIRED, Code::Internal, Reach::MaybeSent),
            (Reason::from(0x1234), Code::Unknown, Reach::MaybeSent),
        ] {
            let classification = classified(h2::Error::from(reason));
            assert_eq!((classification.code, classification.reach), (code, reach), "{reason:?}");
        }
    }

    #[test]
    fn nothing_counts_as_not_sent_once_the_response_has_begun() {
        let refused = h2::Error::from(h2::Reason::REFUSED_STREAM);
        assert_eq!(classify(&refused, Progress::Begun).reach, Reach::MaybeSent);
    }

    #[test]
    fn an_error_that_nobody_knows_is_unknown() {
        let other = std::fmt::Error;
        assert_eq!(classified(other), Classification::new(Code::Unknown, Reach::MaybeSent));
    }

    #[test]
    fn a_service_that_is_not_ready_has_not_seen_the_request() {
        for (error, code) in [
            (StdError::from(std::fmt::Error), Code::Unavailable),
            (Status::unauthenticated("no token").into(), Code::Unauthenticated),
            (io::Error::from(io::ErrorKind::BrokenPipe).into(), Code::Unavailable),
        ] {
            let classification = classify(&*error, Progress::NotReady);
            assert_eq!(classification, Classification::new(code, Reach::Unconnected));
        }
    }
}

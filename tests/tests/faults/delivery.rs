//! Whether an operation that failed may have been carried out.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use gax_retry::{Code, Compatibility, Delivery, RetrySettings};
use gax_testing::{Break, Reply, Script, pipes};
use std::future::{Pending, pending};
use std::task::{Context, Poll};
use std::time::Duration;
use tonic::Status;
use tonic::body::Body;
use tonic_gax::{Note, OperationError, RequestExt as _};
use tonic_gax_tests::generated::google::cloud::asset::v1::ListAssetsRequest;
use tonic_gax_tests::{Setup, Stack, VirtualServer, ms};
use tower_service::Service;

fn setup() -> Setup {
    let settings =
        RetrySettings::builder().max_attempts(3).initial_retry_delay(ms(10)).initial_rpc_timeout(ms(100));
    Setup::new(settings.jittered(false).build().unwrap())
}

fn error(status: &Status) -> &OperationError {
    OperationError::of(status).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_request_that_was_sent_may_have_been_carried_out() {
    const REFUSED_STREAM: u32 = 7;
    let refused = Reply::Break(Break::Reset(REFUSED_STREAM));
    for (replies, expected) in [
        (vec![Reply::unavailable()], Delivery::Unknown),
        (vec![Reply::Hang], Delivery::Unknown),
        (vec![Reply::Break(Break::Close)], Delivery::Unknown),
        (vec![refused.clone(); 9], Delivery::NotProcessed),
        (vec![refused.clone(), refused.clone(), Reply::unavailable()], Delivery::Unknown),
        // The attempts that came last were not processed; the first may have been.
        (vec![Reply::unavailable(), refused.clone(), refused], Delivery::Unknown),
    ] {
        for stack in Stack::ALL {
            let script = Script::at_once(replies.clone()).then_always(ms(0), replies.last().unwrap().clone());
            let server = VirtualServer::start(script);
            let status = stack.list(server.channel(), &setup()).await.unwrap_err();
            assert_eq!(error(&status).delivery(), expected, "{stack:?} {replies:?}");
            assert_eq!(error(&status).may_have_been_applied(), expected == Delivery::Unknown);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_without_a_connection_or_time_was_not_sent() {
    for stack in Stack::ALL {
        let (channel, incoming) = pipes();
        drop(incoming);
        let status = stack.caller(channel, &setup()).list(ListAssetsRequest::default()).await.unwrap_err();
        assert_eq!(error(&status).report().attempts().len(), 3, "{stack:?}");
        assert_eq!(error(&status).delivery(), Delivery::NotSent, "{stack:?}");
        let server = VirtualServer::start(Script::new());
        let late = tonic::Request::new(ListAssetsRequest::default())
            .with_call_options(tonic_gax::CallOptions::new().timeout(ms(0)));
        let status = stack.caller(server.channel(), &setup()).list(late).await.unwrap_err();
        assert_eq!(error(&status).delivery(), Delivery::NotSent, "{stack:?}");
    }
}

/// A service that is never ready.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Busy;

impl Service<http::Request<Body>> for Busy {
    type Response = http::Response<Body>;
    type Error = Status;
    type Future = Pending<Result<Self::Response, Status>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Status>> {
        Poll::Pending
    }

    fn call(&mut self, _: http::Request<Body>) -> Self::Future {
        pending()
    }
}

#[tokio::test(start_paused = true)]
async fn a_write_that_timed_out_before_it_was_sent_was_not_applied() {
    for stack in Stack::ALL {
        let mut caller = stack.caller(Busy, &setup());
        let status = caller.list(ListAssetsRequest::default()).await.unwrap_err();
        assert_eq!(error(&status).report().attempt_count(), 3, "{stack:?}");
        assert_eq!(error(&status).delivery(), Delivery::NotSent, "{stack:?}");
        assert!(!error(&status).may_have_been_applied(), "{stack:?}");
    }
}

/// gax-java's arithmetic leaves an attempt less than a millisecond, which is no time.
#[tokio::test(start_paused = true)]
async fn a_write_whose_only_attempt_had_no_time_was_not_applied() {
    let settings = RetrySettings::builder().initial_rpc_timeout(Duration::from_micros(900)).max_attempts(2);
    let setup = Setup::new(settings.build().unwrap()).compatible(Compatibility::GaxJava);
    let setup = setup.retrying([Code::Unavailable]);
    for stack in Stack::ALL {
        let server = VirtualServer::start(Script::new());
        let status = stack.list(server.channel(), &setup).await.unwrap_err();
        assert_eq!(server.seen(), [], "{stack:?}");
        assert_eq!(error(&status).delivery(), Delivery::NotSent, "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_condition_that_fails_a_second_time_may_be_the_firsts_doing() {
    let conflict = Reply::code(tonic::Code::FailedPrecondition);
    let note = [Note::EARLIER_ATTEMPT_MAY_HAVE_SUCCEEDED];
    for (replies, expected) in [
        (vec![Reply::Hang, conflict.clone()], note.as_slice()),
        (vec![Reply::unavailable(), Reply::code(tonic::Code::Aborted)], &note),
        (vec![Reply::Hang, Reply::code(tonic::Code::NotFound)], &[]),
        (vec![conflict], &[]),
    ] {
        for stack in Stack::ALL {
            let server = VirtualServer::start(Script::at_once(replies.clone()));
            let setup = setup().retrying([Code::Unavailable, Code::DeadlineExceeded]);
            let status = stack.list(server.channel(), &setup).await.unwrap_err();
            let error = error(&status);
            assert_eq!(error.report().notes(), expected, "{stack:?} {replies:?}");
            let says = error.to_string().ends_with("; an earlier attempt may have succeeded");
            assert_eq!(says, !expected.is_empty(), "{error}");
        }
    }
}

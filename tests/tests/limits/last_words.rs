//! A server's error is never replaced by a bare `DEADLINE_EXCEEDED`.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use std::error::Error as _;
use tonic::Status;
use tonic_gax::OperationError;
use tonic_gax_tests::generated::google::cloud::asset::v1::ListAssetsRequest;
use tonic_gax_tests::{Reply, Script, Setup, Stack, VirtualServer, lasting, ms};

fn said() -> Status {
    Status::with_details(tonic::Code::Unavailable, "shard 7 is down", vec![7].into())
}

/// The status of an operation of three seconds that runs against this script.
async fn status(stack: Stack, script: Script) -> Status {
    let server = VirtualServer::start(script);
    let mut caller = stack.caller(server.channel(), &Setup::new(lasting(3000)));
    caller.list(ListAssetsRequest::default()).await.unwrap_err()
}

#[tokio::test(start_paused = true)]
async fn the_last_attempt_s_error_is_the_operation_s() {
    for stack in Stack::ALL {
        let status = status(stack, Script::always(Reply::status(said()))).await;
        assert_eq!((status.code(), status.message()), (said().code(), said().message()), "{stack:?}");
        assert_eq!(status.details(), [7], "{stack:?}");
    }
}

/// After its last word the server falls silent, for one attempt or for several.
#[tokio::test(start_paused = true)]
async fn the_server_s_last_word_stands_in_the_timeout_s_message_and_behind_it() {
    for stack in Stack::ALL {
        for total in [1200, 3000] {
            let script = Script::at_once([Reply::status(said())]).then_always(ms(0), Reply::Hang);
            let server = VirtualServer::start(script);
            let status = stack.list(server.channel(), &Setup::new(lasting(total))).await.unwrap_err();
            assert_eq!(status.code(), tonic::Code::DeadlineExceeded, "{stack:?}");
            assert_eq!(server.seen().len(), if total == 1200 { 2 } else { 4 }, "{stack:?}");
            assert!(status.message().contains("UNAVAILABLE: shard 7 is down"), "{stack:?}: {status}");
            let cause = OperationError::of(&status).unwrap().source().unwrap();
            assert_eq!(cause.downcast_ref::<Status>().unwrap().details(), [7], "{stack:?}");
        }
    }
}

/// An HTTP error of a proxy counts as the server's error too.
#[tokio::test(start_paused = true)]
async fn so_does_a_proxy_s() {
    for stack in Stack::ALL {
        let script = Script::at_once([Reply::http(503, &[])]).then_always(ms(0), Reply::Hang);
        let status = status(stack, script).await;
        assert_eq!(status.code(), tonic::Code::DeadlineExceeded, "{stack:?}");
        assert!(status.message().contains("HTTP status 503"), "{stack:?}: {status}");
    }
}

/// A tonic server's "Timeout expired" says nothing that the deadline does not.
#[tokio::test(start_paused = true)]
async fn a_server_s_timeout_is_no_word() {
    for stack in Stack::ALL {
        let late = Reply::status(Status::cancelled("Timeout expired"));
        let script = Script::at_once([Reply::status(said())]).then_always(ms(1000), late);
        let status = status(stack, script).await;
        assert_eq!(status.code(), tonic::Code::DeadlineExceeded, "{stack:?}");
        assert!(status.message().contains("UNAVAILABLE: shard 7 is down"), "{stack:?}: {status}");
    }
}

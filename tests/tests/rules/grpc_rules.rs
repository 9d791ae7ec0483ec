//! Calls by gRPC's own rules of retrying (gRFC A6).
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use gax_retry::{Code, Compatibility, StopReason};
use std::error::Error as _;
use tonic::Status;
use tonic_gax::{Note, OperationError, OperationReport};
use tonic_gax_tests::{
    BodyPart, Reply, Script, Setup, Stack, VirtualServer, delays, ms, report_of, row, rows,
};

const DOWN: Code = Code::Unavailable;

fn setup(total: u64, max_attempts: u32) -> Setup {
    let settings = delays(100, 2.0)
        .max_retry_delay(ms(300))
        // No attempt has a timeout of its own here.
        .initial_rpc_timeout(ms(50))
        .total_timeout(ms(total))
        .max_attempts(max_attempts)
        .build()
        .unwrap();
    Setup::new(settings).compatible(Compatibility::Grpc)
}

async fn outage(stack: Stack, setup: &Setup) -> (Status, OperationReport, VirtualServer) {
    let server = VirtualServer::start(Script::always(Reply::status(Status::unavailable("down"))));
    let result = stack.list(server.channel(), setup).await;
    let report = report_of(&result);
    (result.unwrap_err(), report, server)
}

#[tokio::test(start_paused = true)]
async fn five_attempts_are_the_most_and_the_report_says_so() {
    for stack in Stack::ALL {
        let (status, report, server) = outage(stack, &setup(5000, 9)).await;
        let table = [
            row(1, 5000, 0, 0, 0, DOWN),
            row(2, 4900, 100, 100, 100, DOWN),
            row(3, 4700, 200, 300, 300, DOWN),
            row(4, 4400, 300, 600, 600, DOWN),
            row(5, 4100, 300, 900, 900, DOWN),
        ];
        assert_eq!(rows(&report), table, "{stack:?}");
        assert_eq!(report.stop_reason(), Some(StopReason::MaxAttempts), "{stack:?}");
        assert_eq!(report.notes(), [Note::ATTEMPTS_CAPPED], "{stack:?}");
        assert_eq!((status.code(), status.message()), (tonic::Code::Unavailable, "down"), "{stack:?}");
        let seen: Vec<_> = table.iter().map(|row| (row.3, row.1)).collect();
        assert_eq!(server.seen(), seen, "{stack:?}");

        let (_, report, server) = outage(stack, &setup(5000, 3)).await;
        assert_eq!((report.notes(), server.seen().len()), ([].as_slice(), 3), "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn it_sleeps_up_to_the_deadline_and_ends_there() {
    for stack in Stack::ALL {
        let (status, report, server) = outage(stack, &setup(450, 5)).await;
        let table =
            [row(1, 450, 0, 0, 0, DOWN), row(2, 350, 100, 100, 100, DOWN), row(3, 150, 200, 300, 300, DOWN)];
        assert_eq!(rows(&report), table, "{stack:?}");
        assert_eq!(report.stop_reason(), Some(StopReason::TotalTimeout), "{stack:?}");
        assert_eq!(server.log().elapsed(), ms(450), "{stack:?}");
        assert_eq!(status.code(), tonic::Code::DeadlineExceeded, "{stack:?}");
        let cause = OperationError::of(&status).unwrap().source().unwrap();
        assert_eq!(cause.downcast_ref::<Status>().unwrap().message(), "down", "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn waits_lie_within_a_fifth_of_their_delay() {
    for seed in 0..20 {
        let mut jittered = setup(5000, 5).seeded(seed);
        jittered.settings = jittered.settings.to_builder().jittered(true).build().unwrap();
        let (_, report, _) = outage(Stack::Generated, &jittered).await;
        for (attempt, delay) in report.attempts().iter().skip(1).zip([100, 200, 300, 300]) {
            let (least, most) = (ms(delay * 4 / 5), ms(delay * 6 / 5));
            assert!(attempt.delay() >= least && attempt.delay() <= most, "{report}");
        }
    }
}

/// A response of headers, and an error after them.
#[tokio::test(start_paused = true)]
async fn an_attempt_is_committed_once_its_response_has_headers() {
    let late = Reply::play([BodyPart::status(&Status::unavailable("down"))]);
    let half =
        Reply::play([BodyPart::Data(vec![0, 0].into()), BodyPart::status(&Status::unavailable("down"))]);
    for reply in [late, half] {
        for stack in Stack::ALL {
            let server = VirtualServer::start(Script::always(reply.clone()));
            let status = stack.list(server.channel(), &setup(5000, 4)).await.unwrap_err();
            assert_eq!((status.code(), status.message()), (tonic::Code::Unavailable, "down"), "{stack:?}");
            let report = OperationError::of(&status).unwrap().report();
            assert_eq!(rows(report), [row(1, 5000, 0, 0, 0, DOWN)], "{stack:?}");
            assert_eq!(report.stop_reason(), Some(StopReason::Committed), "{stack:?}");
        }
    }
}

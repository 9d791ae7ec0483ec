//! Transparent retries.

use super::{ByHand, MS, base, documented, grpc, unavailable};
use crate::operation::{AttemptResult, CommitPoint, Resend};
use crate::{AttemptKind, Code, CodeSet, Delivery, Policy, RetryBudget, ServerDelay};
use std::time::Duration;

fn lost() -> AttemptResult {
    unavailable().with_resend(Resend::Lost)
}

fn refused() -> AttemptResult {
    unavailable().with_resend(Resend::Refused)
}

fn stale() -> AttemptResult {
    unavailable().with_resend(Resend::Stale)
}

#[test]
fn the_same_attempt_goes_out_at_once() {
    let settings =
        base().to_builder().initial_rpc_timeout(400 * MS).total_timeout(2000 * MS).build().unwrap();
    let mut operation = ByHand::begin(&Policy::new(&settings, Code::Unavailable));
    let first = operation.send();
    assert_eq!(operation.at(30 * MS).ends(unavailable()).until(130 * MS), ["130 retry 2"]);
    assert!(!operation.operation().is_resending());
    assert!(operation.at(150 * MS).ends(lost()).operation().is_resending());
    let resent = operation.send();
    assert_eq!((resent.number(), resent.kind(), resent.delay()), (2, AttemptKind::Resend, 100 * MS));
    assert_eq!((resent.start(), resent.rpc_timeout()), (130 * MS, first.rpc_timeout()));
    assert!(!operation.operation().is_resending());
    // Its time is the attempt's.
    assert_eq!(operation.until(600 * MS), ["530 expire 2"]);
}

#[test]
fn a_request_is_lost_three_times_between_two_attempts() {
    for policy in [grpc(), documented()] {
        let mut operation = ByHand::begin(&policy);
        assert_eq!(operation.now(), ["0 send 1"]);
        for _ in 0..3 {
            assert_eq!(operation.ends(lost()).now(), ["0 resend 1"]);
        }
        // The next loss is an attempt that failed, after which there are three more.
        assert_eq!(operation.ends(lost()).until(100 * MS), ["100 retry 2"]);
        for _ in 0..3 {
            assert_eq!(operation.ends(lost()).now(), ["100 resend 2"]);
        }
        assert_eq!(operation.ends(lost()).until(300 * MS), ["300 retry 3"]);
    }
}

/// t04: with two attempts, a refused stream, UNAVAILABLE and OK make a success.
#[test]
fn a_resend_counts_as_no_attempt() {
    let settings = base().to_builder().max_attempts(2).build().unwrap();
    let policy = Policy::with_compatibility(&settings, Code::Unavailable, crate::Compatibility::Grpc);
    let mut operation = ByHand::begin(&policy);
    operation.send();
    assert_eq!(operation.ends(refused()).now(), ["0 resend 1"]);
    assert_eq!(operation.ends(unavailable()).until(100 * MS), ["100 retry 2"]);
    assert_eq!(operation.clone().ends(AttemptResult::done()).now(), ["100 reply 2"]);
    assert_eq!(operation.ends(unavailable()).now(), ["100 stop of 2 MAX_ATTEMPTS"]);
}

/// gRFC A6: refused streams are sent again once in an operation (t01, t03); without a retry policy the
/// second is the end (t02).
#[test]
fn a_refused_stream_is_sent_again_once_in_an_operation() {
    let mut operation = ByHand::begin(&grpc());
    operation.send();
    assert_eq!(operation.ends(refused()).now(), ["0 resend 1"]);
    assert_eq!(operation.ends(refused()).until(100 * MS), ["100 retry 2"]);
    assert_eq!(operation.ends(refused()).until(300 * MS), ["300 retry 3"]);

    let mut single = ByHand::begin(&grpc().with_retryable_codes(CodeSet::EMPTY));
    single.send();
    assert_eq!(single.ends(refused()).now(), ["0 resend 1"]);
    assert_eq!(single.ends(refused()).now(), ["0 stop of 1 NON_RETRYABLE"]);
}

#[test]
fn a_stale_connection_is_left_once_between_two_attempts() {
    let mut operation = ByHand::begin(&documented());
    operation.send();
    assert_eq!(operation.ends(stale()).now(), ["0 resend 1"]);
    assert_eq!(operation.ends(stale()).until(100 * MS), ["100 retry 2"]);
    assert_eq!(operation.ends(stale()).now(), ["100 resend 2"]);
    assert_eq!(operation.ends(stale()).until(300 * MS), ["300 retry 3"]);
}

#[test]
fn each_kind_of_loss_is_counted_by_itself() {
    let mut operation = ByHand::begin(&documented());
    operation.send();
    for loss in [lost(), stale(), lost(), refused(), lost()] {
        assert_eq!(operation.ends(loss).now(), ["0 resend 1"]);
    }
    for loss in [lost(), stale(), refused()] {
        assert_eq!(operation.clone().ends(loss).until(100 * MS), ["100 retry 2"]);
    }
}

#[test]
fn what_can_not_be_sent_again_is_not() {
    let mut operation = ByHand::begin(&documented());
    operation.send();
    let streamed = lost().with_replayable(false);
    assert_eq!(operation.clone().ends(streamed).now(), ["0 stop of 1 NOT_REPLAYABLE"]);
    operation.committed(1, CommitPoint::FirstMessage);
    assert_eq!(operation.ends(lost()).now(), ["0 stop of 1 COMMITTED"]);
}

fn renewed() -> AttemptResult {
    AttemptResult::failed(Code::Unauthenticated).with_resend(Resend::Renewed)
}

/// No number, no token, and all of its RPC timeout as far as the operation has that time.
#[test]
fn refused_credentials_are_followed_by_the_same_attempt_once() {
    let budget = RetryBudget::tokens(4, 1.0);
    let settings = base().to_builder().initial_rpc_timeout(400 * MS).total_timeout(1000 * MS).max_attempts(1);
    let policy = Policy::new(&settings.build().unwrap(), Code::Unavailable).with_budget(budget.clone());
    for (ended, expired) in [(300, 700), (399, 799), (0, 400)] {
        let mut operation = ByHand::begin(&policy);
        operation.send();
        assert_eq!(operation.at(ended * MS).ends(renewed()).now(), [format!("{ended} resend 1")]);
        let mut again = operation.clone();
        assert_eq!(operation.until(2000 * MS)[0], format!("{expired} expire 1"));
        let stop = again.at(ended * MS + MS).ends(renewed()).stop();
        assert_eq!((stop.attempt(), stop.reason()), (Some(1), crate::StopReason::NonRetryable));
    }
    let settings = base().to_builder().initial_rpc_timeout(900 * MS).total_timeout(1000 * MS);
    let mut operation = ByHand::begin(&Policy::new(&settings.build().unwrap(), Code::Unavailable));
    operation.send();
    operation.at(800 * MS).ends(renewed()).now();
    assert_eq!(operation.until(2000 * MS)[0], "1000 expire 1");
    assert!((budget.available(Duration::default) - 4.0).abs() < 1e-9);
}

/// What is safe to repeat, or certainly not carried out; and again once the operation has got on.
#[test]
fn refused_credentials_ask_whether_the_request_may_be_repeated() {
    let unsafe_one = renewed().with_idempotent(false);
    for (result, is_sent) in [
        (unsafe_one, false),
        (unsafe_one.with_delivery(Delivery::NotProcessed), true),
        (renewed().with_replayable(false), false),
    ] {
        let mut operation = ByHand::begin(&documented());
        operation.send();
        let next = operation.ends(result).now();
        assert_eq!(next == ["0 resend 1"], is_sent, "{next:?}");
    }
    let mut operation = ByHand::begin(&documented());
    operation.send();
    for time in [0, 100] {
        let number = 1 + time / 100;
        assert_eq!(operation.ends(renewed()).now(), [format!("{time} resend {number}")]);
        if time == 0 {
            assert_eq!(operation.ends(unavailable().with_progress(true)).until(100 * MS), ["100 retry 2"]);
        }
    }
}

/// A loss that is reported when the attempt's time is over is a failure: nobody would wait for a response.
#[test]
fn an_attempt_without_time_is_not_sent_again() {
    let settings = base().to_builder().total_timeout(50 * MS).build().unwrap();
    for (now, done) in [(49, "49 resend 1"), (50, "50 stop of 1 TOTAL_TIMEOUT")] {
        let mut operation = ByHand::begin(&Policy::new(&settings, Code::Unavailable));
        operation.send();
        assert_eq!(operation.at(now * MS).ends(lost()).now(), [done]);
    }
}

/// A transparent retry asks nothing of codes, idempotency, servers or the budget.
#[test]
fn no_gate_stands_before_a_resend() {
    let budget = RetryBudget::tokens(4, 1.0);
    for _ in 0..4 {
        budget.failed();
    }
    let policy = grpc().with_budget(budget.clone()).with_retryable_codes(CodeSet::EMPTY);
    let mut operation = ByHand::begin(&policy);
    operation.send();
    let result = AttemptResult::failed(Code::Internal).with_idempotent(false).with_resend(Resend::Lost);
    assert_eq!(operation.ends(result.with_server_delay(ServerDelay::Never)).now(), ["0 resend 1"]);
}

#[test]
fn an_attempt_that_was_sent_again_has_no_error_yet() {
    let mut operation = ByHand::begin(&documented());
    operation.send();
    assert_eq!(operation.ends(lost()).now(), ["0 resend 1"]);
    assert_eq!(operation.cancelled().until(Duration::MAX), ["0 cancel 1", "0 stop CANCELLED"]);
}

//! Operations that their caller has given up.

use super::{ByHand, MS, documented, grpc, unavailable};
use crate::operation::{AttemptResult, CommitPoint, Resend};
use crate::{Code, Hedging};
use std::time::Duration;

#[test]
fn an_attempt_in_flight_is_cancelled_and_the_operation_ends() {
    let mut operation = ByHand::begin(&documented());
    operation.send();
    operation.at(30 * MS).cancelled();
    assert_eq!(operation.now(), ["30 cancel 1", "30 stop CANCELLED"]);
    assert_eq!(operation.until(1000 * MS), [] as [&str; 0]);
    assert_eq!(operation.wake_at(), None);
}

#[test]
fn during_a_delay_nothing_more_is_sent() {
    let mut operation = ByHand::begin(&documented());
    operation.send();
    operation.at(30 * MS).ends(unavailable());
    assert_eq!(operation.wait(), 100 * MS);
    operation.at(80 * MS).cancelled();
    assert_eq!(operation.until(1000 * MS), ["80 stop of 1 CANCELLED"]);
    assert_eq!(operation.until(2000 * MS), [] as [&str; 0]);
}

#[test]
fn a_retry_that_is_due_is_not_sent() {
    let mut operation = ByHand::begin(&documented());
    operation.send();
    operation.at(30 * MS).ends(unavailable().with_resend(Resend::Lost)).cancelled();
    assert_eq!(operation.until(1000 * MS), ["30 stop CANCELLED"]);
    let mut operation = ByHand::begin(&documented());
    operation.send();
    operation.at(30 * MS).ends(unavailable()).at(130 * MS).cancelled();
    assert_eq!(operation.until(1000 * MS), ["130 stop of 1 CANCELLED"]);
}

#[test]
fn every_hedge_is_cancelled() {
    let mut operation = ByHand::begin(&grpc().with_hedging(Hedging::new(4).delay(100 * MS)));
    assert_eq!(operation.until(250 * MS), ["0 send 1", "100 hedge 2", "200 hedge 3"]);
    operation.cancelled();
    let expected = ["250 cancel 1", "250 cancel 2", "250 cancel 3", "250 stop CANCELLED"];
    assert_eq!(operation.until(1000 * MS), expected);
}

/// The driver asks the operation after each fact; whatever it forgets, there is one end.
#[test]
fn a_reply_that_was_there_first_is_the_end() {
    let replied = || {
        let mut operation = ByHand::begin(&documented());
        operation.send();
        operation.at(30 * MS).ends(AttemptResult::done());
        operation
    };
    assert_eq!(replied().cancelled().now(), ["30 reply 1"]);
    assert_eq!(replied().committed(1, CommitPoint::FirstMessage).now(), ["30 reply 1"]);
    assert_eq!(replied().ended(1, unavailable()).now(), ["30 reply 1"]);
    let mut finished = replied();
    assert_eq!(finished.now(), ["30 reply 1"]);
    assert_eq!(finished.cancelled().now(), [] as [&str; 0]);
}

#[test]
fn an_attempt_that_ended_meanwhile_is_not_cancelled() {
    let mut operation = ByHand::begin(&grpc().with_hedging(Hedging::new(4)));
    assert_eq!(operation.now(), ["0 send 1", "0 hedge 2", "0 hedge 3", "0 hedge 4"]);
    operation.at(9 * MS).cancelled().ended(2, unavailable()).ended(3, AttemptResult::done());
    assert_eq!(operation.now(), ["9 cancel 1", "9 cancel 4", "9 stop CANCELLED"]);
}

#[test]
fn a_failure_of_the_end_stays_the_end() {
    let mut operation = ByHand::begin(&documented());
    operation.send();
    operation.at(30 * MS).fails(Code::Internal).cancelled();
    assert_eq!(operation.until(Duration::MAX), ["30 stop of 1 NON_RETRYABLE"]);
}

#[test]
fn losers_are_cancelled_in_the_order_in_which_they_were_sent() {
    let hedging = Hedging::new(4).delay(100 * MS).non_fatal_codes(Code::Unavailable);
    let mut operation = ByHand::begin(&grpc().with_hedging(hedging));
    assert_eq!(operation.until(150 * MS), ["0 send 1", "100 hedge 2"]);
    assert_eq!(operation.ended(1, unavailable()).until(300 * MS), ["150 hedge 3", "250 hedge 4"]);
    let expected = ["300 cancel 2", "300 cancel 3", "300 cancel 4", "300 stop of 1 CANCELLED"];
    assert_eq!(operation.cancelled().now(), expected);
}

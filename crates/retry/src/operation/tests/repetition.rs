//! Failures that can come of an earlier attempt of the operation which was carried out.

use super::{ByHand, MS, base, unavailable};
use crate::jitter::JitterSource;
use crate::operation::{AttemptResult, Repetition, Stop};
use crate::{Code, CodeSet, Compatibility, Delivery, Hedging, Policy, RetrySettings, ServerDelay};
use std::time::Duration;

const LONG: Duration = Duration::from_secs(100);
const NONE: [&str; 0] = [];

/// The codes of a write whose effect is there already.
const HELD: [Code; 4] = [Code::NotFound, Code::AlreadyExists, Code::Aborted, Code::FailedPrecondition];

fn policy(compatibility: Compatibility) -> Policy {
    let settings = RetrySettings::builder().jittered(false).build().unwrap();
    Policy::with_compatibility(&settings, CodeSet::EMPTY, compatibility)
        .with_hedging(Hedging::new(4).delay(100 * MS).non_fatal_codes(Code::Unavailable))
}

/// Two attempts in flight, 110 ms after the start.
fn two(policy: &Policy) -> ByHand {
    let mut operation = ByHand::begin(policy);
    assert_eq!(operation.until(110 * MS), ["0 send 1", "100 hedge 2"]);
    operation
}

#[test]
fn a_hedge_s_refusal_is_held_while_an_attempt_before_it_is_in_flight() {
    for compatibility in [Compatibility::Documented, Compatibility::GaxJava] {
        for code in HELD {
            let mut operation = two(&policy(compatibility));
            operation.ended(2, AttemptResult::failed(code));
            // No hedge follows meanwhile.
            assert_eq!(operation.until(350 * MS), NONE, "{compatibility} {code}");
            assert_eq!(operation.operation().held(), Some(2), "{compatibility} {code}");
            let mut lost = operation.clone();
            assert_eq!(operation.ended(1, AttemptResult::done()).until(LONG), ["350 reply 1"], "{code}");
            let stop = lost.ended(1, unavailable()).stop();
            assert_eq!((stop.attempt(), stop.may_be_repetition()), (Some(2), true), "{compatibility} {code}");
        }
    }
}

#[test]
fn other_codes_and_rules_and_orders_end_the_operation_at_once() {
    let at_once = ["110 cancel 1", "110 stop of 2 NON_RETRYABLE"];
    let ends = |policy: &Policy, attempt: u32, result: AttemptResult| {
        let mut operation = two(policy);
        assert_eq!(operation.operation().held(), None);
        operation.ended(attempt, result).until(LONG)
    };
    let documented = policy(Compatibility::Documented);
    let refused = AttemptResult::failed(Code::InvalidArgument);
    assert_eq!(ends(&documented, 2, refused), at_once);
    // The protocol knows that it is one, or that it is none.
    assert_eq!(ends(&documented, 2, refused.with_repetition(Repetition::Yes)), NONE);
    for code in HELD {
        let failed = AttemptResult::failed(code);
        assert_eq!(ends(&documented, 2, failed.with_repetition(Repetition::No)), at_once, "{code}");
        // gRFC A6 knows fatal codes only.
        assert_eq!(ends(&policy(Compatibility::Grpc), 2, failed), at_once, "{code}");
        // The hedge came later: the first attempt is refused by itself.
        let first = ends(&documented, 1, failed);
        assert_eq!(first, ["110 cancel 2", "110 stop of 1 NON_RETRYABLE"], "{code}");
    }
}

/// The end of an operation whose first attempt failed so, and whose second was refused with that code.
fn retried(first: AttemptResult, second: AttemptResult) -> Stop {
    let mut operation = ByHand::begin(&Policy::new(&base(), Code::Unavailable));
    operation.send();
    operation.ends(first).until(1000 * MS);
    operation.ends(second).stop()
}

#[test]
fn a_retry_that_is_refused_may_be_a_repetition_unless_nothing_was_carried_out_before() {
    let refused = AttemptResult::failed(Code::FailedPrecondition);
    assert!(retried(unavailable(), refused).may_be_repetition());
    assert!(!retried(unavailable().with_delivery(Delivery::NotProcessed), refused).may_be_repetition());
    assert!(!retried(unavailable(), AttemptResult::failed(Code::InvalidArgument)).may_be_repetition());
    // Over gRPC a NOT_FOUND says nothing of the attempt before, unless the protocol knows more.
    let absent = AttemptResult::failed(Code::NotFound);
    assert!(!retried(unavailable(), absent).may_be_repetition());
    assert!(retried(unavailable(), absent.with_repetition(Repetition::Yes)).may_be_repetition());
    assert!(!retried(unavailable(), refused.with_repetition(Repetition::No)).may_be_repetition());
}

/// The last draw that there is.
struct High;

impl JitterSource for High {
    fn next_u64(&mut self) -> u64 {
        u64::MAX
    }
}

#[test]
fn a_hedge_that_a_server_puts_off_is_spread_where_waits_are_drawn() {
    let rules = [Compatibility::Documented, Compatibility::GaxJava, Compatibility::Grpc];
    for (rules, is_jittered) in rules.into_iter().flat_map(|rules| [(rules, true), (rules, false)]) {
        let settings = RetrySettings::builder().jittered(is_jittered).total_timeout(LONG).build().unwrap();
        let policy = Policy::with_compatibility(&settings, Code::Unavailable, rules)
            .with_server_delays(true)
            .with_hedging(Hedging::new(2).delay(1000 * MS).non_fatal_codes(Code::Unavailable));
        let mut operation = ByHand::begin(&policy).with_jitter(High);
        operation.send();
        let asked = ServerDelay::AtLeast(200 * MS);
        operation.at(10 * MS).ends(unavailable().with_server_delay(asked));
        let waited = operation.wait();
        // Half of what the server asked for comes on top, at most.
        let expected = if is_jittered { 290 * MS..=301 * MS } else { 200 * MS..=201 * MS };
        assert!(expected.contains(&waited), "{rules} {is_jittered} {waited:?}");
    }
}

//! Attempts whose connection our own stack has closed, for one response on it.

use super::{ByHand, MS, base, documented, grpc, unavailable};
use crate::jitter::ScriptedJitter;
use crate::operation::{AttemptResult, RetryFact};
use crate::{Code, Compatibility, Hedging, Policy, RetryBudget, RetrySettings};
use std::time::Duration;

fn closed() -> AttemptResult {
    unavailable().with_retry(RetryFact::ClosedByUs)
}

/// Attempts at most, a hundred milliseconds apart.
fn attempts(most: u32) -> RetrySettings {
    base().to_builder().max_attempts(most).retry_delay_multiplier(1.0).jittered(false).build().unwrap()
}

#[test]
fn the_last_end_says_whether_the_connection_was_closed() {
    let policy = Policy::new(&attempts(9), Code::Unavailable);
    let mut operation = ByHand::begin(&policy);
    operation.send();
    let ends = [closed(), closed(), unavailable(), closed()];
    let found = ends.map(|end| {
        operation.ends(end);
        let wait = operation.wait();
        operation.after(wait).send();
        operation.operation().is_closed()
    });
    assert_eq!(found, [true, true, false, true]);
}

/// With waits that are jittered, and with those that are not.
#[test]
fn the_wait_is_spread_out() {
    let wait = |policy: &Policy, took: Duration, draw: f64, result: AttemptResult| {
        let mut operation = ByHand::begin(policy).with_jitter(ScriptedJitter::new([draw]));
        operation.send();
        operation.at(took).ends(result).wait().as_millis()
    };
    for rules in [Compatibility::Documented, Compatibility::GaxJava] {
        let policy = Policy::with_compatibility(&attempts(9), Code::Unavailable, rules);
        let of = |took: u32, draw| wait(&policy, took * MS, draw, closed());
        // Three times the back-off, or ten times what the attempt took.
        assert_eq!([of(5, 0.0), of(5, 0.5), of(5, 1.0), of(90, 1.0)], [100, 250, 400, 1000], "{rules}");
        assert_eq!(wait(&policy, 5 * MS, 1.0, unavailable()), 100, "{rules}");
    }
    // A back-off below a hundred milliseconds is spread as if it were as long.
    let short = attempts(9).to_builder().initial_retry_delay(MS).max_retry_delay(MS).build().unwrap();
    assert_eq!(wait(&Policy::new(&short, Code::Unavailable), MS, 1.0, closed()), 301);
    // The next attempt has half of what is left at least: 995 ms, without the back-off 895.
    let total = attempts(9).to_builder().total_timeout(1000 * MS).build().unwrap();
    let policy = Policy::new(&total, Code::Unavailable);
    assert_eq!(wait(&policy, 5 * MS, 1.0, closed()), 100 + 300);
    assert_eq!(wait(&policy, 500 * MS, 1.0, closed()), 100 + 200);
    // By gRPC's rules too, whose own draw comes first.
    let mut operation = ByHand::begin(&grpc()).with_jitter(ScriptedJitter::new([0.5, 1.0]));
    operation.send();
    assert_eq!(operation.ends(closed()).wait().as_millis(), 400);
}

/// gax-java settles the timeout of an attempt together with its wait, which is longer now.
#[test]
fn no_attempt_outlives_the_total_by_its_spread() {
    for rules in [Compatibility::Documented, Compatibility::GaxJava, Compatibility::Grpc] {
        let total = attempts(9).to_builder().total_timeout(1000 * MS).initial_rpc_timeout(1000 * MS);
        let policy = Policy::with_compatibility(&total.build().unwrap(), Code::Unavailable, rules);
        let mut operation = ByHand::begin(&policy).with_jitter(ScriptedJitter::new([1.0]));
        operation.send();
        let wait = operation.at(500 * MS).ends(closed()).wait();
        let second = operation.after(wait).send();
        assert_eq!(second.expires_at(), Some(1000 * MS), "{rules}");
    }
}

#[test]
fn hedges_are_spread_out() {
    let hedging = Hedging::new(3).delay(50 * MS).non_fatal_codes(Code::Unavailable);
    let mut operation =
        ByHand::begin(&documented().with_hedging(hedging)).with_jitter(ScriptedJitter::new([1.0]));
    operation.send();
    operation.at(5 * MS).ends(closed());
    assert_eq!(operation.until(400 * MS), ["305 hedge 2", "355 hedge 3"]);
}

/// It is an ordinary failure in all else.
#[test]
fn its_limits_and_its_budget_are_asked() {
    let mut operation = ByHand::begin(&Policy::new(&attempts(1), Code::Unavailable));
    operation.send();
    assert_eq!(operation.ends(closed()).now(), ["0 stop of 1 MAX_ATTEMPTS"]);
    let budget = RetryBudget::tokens(2, 1.0);
    let mut operation = ByHand::begin(&documented().with_budget(budget));
    operation.send();
    assert_eq!(operation.ends(closed()).now(), ["0 stop of 1 THROTTLED"]);
}

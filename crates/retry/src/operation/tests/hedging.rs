//! Hedging (gRFC A6), with the cases that were run against grpc-go, grpc-java and grpc-js under their numbers. h10
//! rests on the text alone.

use super::{ByHand, MS, documented, unavailable};
use crate::operation::{AttemptResult, Resend};
use crate::{
    Code, CodeSet, Compatibility, Delivery, Hedging, Policy, RetryBudget, RetrySettings, ServerDelay,
};
use std::time::Duration;

const NONE: [&str; 0] = [];
const NS: Duration = Duration::from_nanos(1);
const LONG: Duration = Duration::from_secs(100);

/// Four attempts, 100 ms apart, UNAVAILABLE is not fatal.
fn base() -> Hedging {
    Hedging::new(4).delay(100 * MS).non_fatal_codes(Code::Unavailable)
}

fn hedged(hedging: Hedging) -> Policy {
    bounded(None, hedging)
}

fn bounded(total: Option<Duration>, hedging: Hedging) -> Policy {
    let settings = RetrySettings::builder().total_timeout(total).build().unwrap();
    Policy::with_compatibility(&settings, CodeSet::EMPTY, Compatibility::Grpc).with_hedging(hedging)
}

fn begin() -> ByHand {
    ByHand::begin(&hedged(base()))
}

fn pushback(delay: ServerDelay) -> AttemptResult {
    unavailable().with_server_delay(delay)
}

#[test]
fn h01_h03_attempts_go_out_until_one_has_the_reply() {
    let mut operation = begin();
    assert_eq!(operation.until(350 * MS), ["0 send 1", "100 hedge 2", "200 hedge 3", "300 hedge 4"]);
    assert_eq!(operation.until(1000 * MS), NONE);
    operation.ended(3, AttemptResult::done());
    assert_eq!(operation.until(LONG), ["1000 cancel 1", "1000 cancel 2", "1000 cancel 4", "1000 reply 3"]);
}

#[test]
fn h02_a_reply_before_the_delay_leaves_it_at_one() {
    let mut operation = begin();
    assert_eq!(operation.until(99 * MS), ["0 send 1"]);
    assert_eq!(operation.ended(1, AttemptResult::done()).until(LONG), ["99 reply 1"]);
}

#[test]
fn h04_a_failure_that_is_not_fatal_brings_the_next_at_once() {
    let mut operation = begin();
    assert_eq!(operation.until(30 * MS), ["0 send 1"]);
    operation.ended(1, unavailable());
    assert_eq!(operation.until(200 * MS), ["30 hedge 2", "130 hedge 3"]);
    operation.ended(3, unavailable());
    assert_eq!(operation.until(200 * MS), ["200 hedge 4"]);
}

#[test]
fn a_hedge_is_an_attempt_of_its_own() {
    let settings = RetrySettings::builder()
        .initial_rpc_timeout(150 * MS)
        .rpc_timeout_multiplier(3.0)
        .total_timeout(400 * MS)
        .build()
        .unwrap();
    let policy = Policy::new(&settings, CodeSet::EMPTY).with_hedging(base());
    let mut operation = ByHand::begin(&policy);
    assert_eq!(operation.send().rpc_timeout(), Some(150 * MS));
    // A reply that is there as it is due wins.
    assert_eq!(operation.wait(), 100 * MS + NS);
    let hedge = operation.at(100 * MS + NS).send();
    assert_eq!((hedge.number(), hedge.delay(), hedge.start()), (2, 100 * MS, 100 * MS));
    assert_eq!(hedge.rpc_timeout(), Some(150 * MS));
    assert_eq!(operation.until(160 * MS), ["150 expire 1"]);
    let hedge = operation.ended(1, unavailable()).send();
    assert_eq!((hedge.number(), hedge.delay()), (3, Duration::ZERO));
    assert_eq!(operation.until(290 * MS), ["250 expire 2", "260 hedge 4"]);
    operation.ended(3, unavailable()).ended(2, unavailable());
    assert_eq!(operation.until(LONG), ["400 expire 4"]);
}

#[test]
fn h05_h07_the_last_failure_is_the_operations_and_no_more_are_made() {
    let mut operation = begin();
    assert_eq!(operation.now(), ["0 send 1"]);
    for number in 1..4_u32 {
        operation.ended(number, unavailable());
        assert_eq!(operation.now(), [format!("0 hedge {}", number + 1)]);
    }
    assert_eq!(operation.ended(4, unavailable()).until(LONG), ["0 stop of 4 MAX_ATTEMPTS"]);

    let mut operation = begin();
    assert_eq!(operation.until(300 * MS + NS).len(), 4);
    for number in [4, 1, 3] {
        assert_eq!(operation.ended(number, unavailable()).now(), NONE);
    }
    assert_eq!(operation.ended(2, unavailable()).until(LONG), ["300 stop of 2 MAX_ATTEMPTS"]);
}

#[test]
fn h06_a_fatal_failure_ends_all() {
    let mut operation = begin();
    assert_eq!(operation.until(250 * MS).len(), 3);
    operation.ended(2, AttemptResult::failed(Code::Internal));
    assert_eq!(operation.until(LONG), ["250 cancel 1", "250 cancel 3", "250 stop of 2 NON_RETRYABLE"]);
}

/// h16: without a list of codes every failure is fatal.
#[test]
fn h16_every_failure_is_fatal_unless_said() {
    let mut operation = ByHand::begin(&hedged(Hedging::new(4).delay(100 * MS)));
    assert_eq!(operation.until(150 * MS).len(), 2);
    assert_eq!(operation.ended(1, unavailable()).now(), ["150 cancel 2", "150 stop of 1 NON_RETRYABLE"]);
}

#[test]
fn h08_after_never_those_in_flight_may_still_win_and_no_more_are_sent() {
    let mut operation = begin();
    assert_eq!(operation.until(150 * MS), ["0 send 1", "100 hedge 2"]);
    assert_eq!(operation.ended(1, pushback(ServerDelay::Never)).until(500 * MS), NONE);
    assert_eq!(operation.clone().ended(2, AttemptResult::done()).until(LONG), ["500 reply 2"]);
    // Another failure does not undo the pushback.
    assert_eq!(operation.ended(2, unavailable()).until(LONG), ["500 stop of 2 PUSHBACK"]);
}

#[test]
fn h09_never_with_nothing_in_flight_is_the_end() {
    let mut operation = begin();
    assert_eq!(operation.until(30 * MS), ["0 send 1"]);
    assert_eq!(operation.ended(1, pushback(ServerDelay::Never)).until(LONG), ["30 stop of 1 PUSHBACK"]);
}

#[test]
fn h10_the_server_says_when_the_next_one_goes() {
    let mut operation = begin();
    assert_eq!(operation.until(30 * MS), ["0 send 1"]);
    operation.ended(1, pushback(ServerDelay::Exactly(200 * MS)));
    assert_eq!(operation.until(350 * MS), ["230 hedge 2", "330 hedge 3"]);
}

/// gRFC A6: until the server's delay has passed, no hedge is sent, whatever becomes of the others.
#[test]
fn a_failure_does_not_cut_the_servers_delay_short() {
    let mut operation = begin();
    assert_eq!(operation.until(150 * MS), ["0 send 1", "100 hedge 2"]);
    operation.ended(1, pushback(ServerDelay::Exactly(200 * MS)));
    assert_eq!(operation.until(250 * MS), NONE);
    assert_eq!(operation.ended(2, unavailable()).until(500 * MS), ["350 hedge 3", "450 hedge 4"]);
    // The later of two counts.
    for (asked, sent) in [(50, "350 hedge 3"), (150, "400 hedge 3")] {
        let mut operation = begin();
        assert_eq!(operation.until(150 * MS).len(), 2);
        operation.ended(1, pushback(ServerDelay::Exactly(200 * MS)));
        assert_eq!(operation.until(250 * MS), NONE);
        operation.ended(2, pushback(ServerDelay::Exactly(asked * MS)));
        assert_eq!(operation.until(400 * MS + NS), [sent], "{asked}");
    }
}

#[test]
fn a_pushback_of_zero_is_at_once() {
    let mut operation = begin();
    assert_eq!(operation.until(30 * MS), ["0 send 1"]);
    operation.ended(1, pushback(ServerDelay::Exactly(Duration::ZERO)));
    assert_eq!(operation.until(100 * MS), ["30 hedge 2"]);
}

/// A wait beyond the budget ends the operation now.
#[test]
fn a_servers_delay_beyond_the_deadline_ends_the_operation_now() {
    for (asked, end) in [
        (470, "30 stop of 1 SERVER_DELAY_EXCEEDS_BUDGET at the deadline before 2 after 470"),
        (469, "499 hedge 2"),
    ] {
        let mut operation = ByHand::begin(&bounded(Some(500 * MS), base()));
        assert_eq!(operation.until(30 * MS), ["0 send 1"]);
        operation.ended(1, pushback(ServerDelay::Exactly(asked * MS)));
        assert_eq!(operation.until(499 * MS + NS), [end]);
    }
    // Those in flight may still win; there are no more hedges.
    let mut operation = ByHand::begin(&bounded(Some(500 * MS), base()));
    assert_eq!(operation.until(130 * MS), ["0 send 1", "100 hedge 2"]);
    operation.ended(1, pushback(ServerDelay::Exactly(400 * MS)));
    assert_eq!(operation.until(300 * MS), NONE);
    assert_eq!(operation.clone().ended(2, AttemptResult::done()).now(), ["300 reply 2"]);
    let end = operation.ended(2, unavailable()).until(LONG);
    assert_eq!(end, ["300 stop of 2 SERVER_DELAY_EXCEEDS_BUDGET at the deadline before 3 after 400"]);
}

#[test]
fn documented_rules_heed_a_lower_bound_as_well() {
    let mut operation = ByHand::begin(&documented().with_hedging(base()));
    assert_eq!(operation.until(30 * MS), ["0 send 1"]);
    operation.ended(1, pushback(ServerDelay::AtLeast(200 * MS)));
    assert_eq!(operation.until(300 * MS), ["230 hedge 2"]);
    let mut operation = begin();
    assert_eq!(operation.until(30 * MS), ["0 send 1"]);
    operation.ended(1, pushback(ServerDelay::AtLeast(200 * MS)));
    assert_eq!(operation.now(), ["30 hedge 2"]);
}

#[test]
fn h11_without_a_delay_all_go_at_once() {
    let mut operation = ByHand::begin(&hedged(Hedging::new(3)));
    assert_eq!(operation.now(), ["0 send 1", "0 hedge 2", "0 hedge 3"]);
}

/// gRFC A6: a number above five is read as five.
#[test]
fn h12_no_more_than_five_are_made_by_grpcs_rules() {
    let many = Hedging::new(99).non_fatal_codes(Code::Unavailable);
    let policy = hedged(many);
    assert_eq!(policy.attempts_cap(), Some(5));
    let mut operation = ByHand::begin(&policy);
    assert_eq!(operation.now().len(), 5);
    for number in 1..5 {
        assert_eq!(operation.ended(number, unavailable()).now(), NONE);
    }
    assert_eq!(operation.ended(5, unavailable()).now(), ["0 stop of 5 MAX_ATTEMPTS"]);
    assert_eq!(hedged(Hedging::new(5)).attempts_cap(), None);
    let documented = documented().with_hedging(many);
    assert_eq!(documented.attempts_cap(), None);
    assert_eq!(ByHand::begin(&documented).now().len(), 99);
}

#[test]
fn h13_the_deadline_ends_all() {
    let mut operation = ByHand::begin(&bounded(Some(250 * MS), base()));
    let expected = ["0 send 1", "100 hedge 2", "200 hedge 3", "250 expire 1", "250 expire 2", "250 expire 3"];
    assert_eq!(operation.until(LONG), expected);
    operation.at(250 * MS).ended(1, AttemptResult::failed(Code::DeadlineExceeded));
    assert_eq!(operation.until(LONG), ["250 cancel 2", "250 cancel 3", "250 stop of 1 NON_RETRYABLE"]);
    // A hedge that would be sent at the deadline isn't.
    let mut operation = ByHand::begin(&bounded(Some(200 * MS), base()));
    let expected = ["0 send 1", "100 hedge 2", "200 expire 1", "200 expire 2"];
    assert_eq!(operation.until(LONG), expected);
}

/// gax-java gives a first attempt the whole total, whenever it starts; a hedge gets what is left of it.
#[test]
fn by_gax_javas_rules_no_hedge_outlives_the_total() {
    let settings =
        RetrySettings::builder().initial_rpc_timeout(250 * MS).total_timeout(250 * MS).build().unwrap();
    let policy = Policy::with_compatibility(&settings, CodeSet::EMPTY, Compatibility::GaxJava);
    let policy = policy.with_hedging(base().non_fatal_codes([Code::DeadlineExceeded]));
    let mut operation = ByHand::begin(&policy);
    let sent: Vec<_> =
        [Duration::ZERO, 100 * MS + NS, 200 * MS + NS].map(|at| operation.at(at).send().rpc_timeout()).into();
    assert_eq!(sent, [Some(250 * MS), Some(150 * MS), Some(50 * MS)]);
    let expected = ["250 expire 1", "250 expire 2", "250 expire 3"];
    assert_eq!(operation.until(250 * MS), expected);
    for attempt in 1..=3 {
        operation.ended(attempt, AttemptResult::failed(Code::DeadlineExceeded));
    }
    assert_eq!(operation.until(LONG), ["250 stop of 3 TOTAL_TIMEOUT"]);
}

#[test]
fn h15_a_throttled_hedge_is_withheld_and_the_first_attempt_is_not() {
    let budget = RetryBudget::tokens(4, 1.0);
    for _ in 0..4 {
        budget.failed();
    }
    let policy = hedged(base()).with_budget(budget.clone());
    let mut operation = ByHand::begin(&policy);
    assert_eq!(operation.until(99 * MS), ["0 send 1"]);
    assert!(!operation.operation().has_withheld_hedges());
    assert_eq!(operation.until(350 * MS), NONE);
    assert!(operation.operation().has_withheld_hedges());
    // Others have succeeded meanwhile: what was withheld is sent when it is next due.
    for _ in 0..3 {
        budget.succeeded(|| Duration::ZERO);
    }
    assert_eq!(operation.until(450 * MS), ["400 hedge 2"]);
    // A failure drains the budget; with others in flight it is not the end.
    assert_eq!(operation.ended(1, unavailable()).until(650 * MS), NONE);
    assert_eq!(operation.ended(2, unavailable()).until(LONG), ["650 stop of 2 THROTTLED"]);
}

/// One that would follow a failure at once is withheld as well as one that is due; the last one's failure withholds none.
#[test]
fn a_failure_whose_hedge_the_budget_does_not_allow_withholds_it() {
    for (most, is_withheld) in [(3, true), (2, false)] {
        let budget = RetryBudget::tokens(2, 1.0);
        let hedging = Hedging::new(most).delay(100 * MS).non_fatal_codes(Code::Unavailable);
        let mut operation = ByHand::begin(&hedged(hedging).with_budget(budget));
        assert_eq!(operation.until(150 * MS), ["0 send 1", "100 hedge 2"]);
        operation.ended(2, unavailable());
        assert_eq!(operation.until(160 * MS), NONE);
        assert_eq!(operation.operation().has_withheld_hedges(), is_withheld, "{most}");
        assert_eq!(operation.ended(1, AttemptResult::done()).until(LONG), ["160 reply 1"]);
    }
}

/// A delay of zero does not ask the budget without end.
#[test]
fn a_withheld_hedge_without_a_delay_is_asked_for_again_after_a_millisecond() {
    let budget = RetryBudget::tokens(1, 1.0);
    budget.failed();
    let policy = hedged(Hedging::new(2)).with_budget(budget.clone());
    let mut operation = ByHand::begin(&policy);
    operation.send();
    assert_eq!(operation.wait(), MS + NS);
    budget.succeeded(|| Duration::ZERO);
    assert_eq!(operation.until(5 * MS), ["1 hedge 2"]);
}

/// An outage that empties the budget is no time for timers that run every other millisecond.
#[test]
fn a_withheld_hedge_is_asked_for_ever_more_rarely() {
    let budget = RetryBudget::tokens(1, 1.0);
    budget.failed();
    let mut operation = ByHand::begin(&hedged(Hedging::new(2).delay(2 * MS)).with_budget(budget));
    operation.send();
    let (mut asked, mut now) = (Vec::new(), Duration::ZERO);
    while now < 3600 * 1000 * MS {
        now += operation.wait();
        asked.push(now);
        operation.at(now);
    }
    let first: Vec<u128> = asked.iter().take(6).map(Duration::as_micros).collect();
    assert_eq!(first, [2000, 4000, 6000, 8000, 10_000, 12_500]);
    assert_eq!(asked.len(), 63);
}

/// While it waits out the server's delay nothing is in flight: a budget that was emptied meanwhile is the end.
#[test]
fn a_throttled_hedge_with_nothing_in_flight_is_the_end() {
    let budget = RetryBudget::tokens(10, 1.0);
    let mut operation = ByHand::begin(&hedged(base()).with_budget(budget.clone()));
    operation.send();
    operation.ended(1, pushback(ServerDelay::Exactly(200 * MS)));
    assert_eq!(operation.until(150 * MS), NONE);
    for _ in 0..9 {
        budget.failed();
    }
    assert_eq!(operation.until(LONG), ["200 stop of 1 THROTTLED"]);
}

#[test]
fn a_request_that_can_not_be_sent_again_ends_hedging_only() {
    let mut operation = begin();
    assert_eq!(operation.until(150 * MS), ["0 send 1", "100 hedge 2"]);
    assert_eq!(operation.ended(1, unavailable().with_replayable(false)).until(400 * MS), NONE);
    assert_eq!(operation.clone().ended(2, AttemptResult::done()).now(), ["400 reply 2"]);
    assert_eq!(operation.ended(2, unavailable()).now(), ["400 stop of 2 NOT_REPLAYABLE"]);
}

#[test]
fn a_request_that_may_not_be_carried_out_twice_ends_all() {
    let mut operation = begin();
    assert_eq!(operation.until(150 * MS), ["0 send 1", "100 hedge 2"]);
    let written = unavailable().with_idempotent(false);
    assert_eq!(operation.clone().ended(1, written).now(), ["150 cancel 2", "150 stop of 1 NON_RETRYABLE"]);
    operation.ended(1, written.with_delivery(Delivery::NotSent));
    assert_eq!(operation.now(), ["150 hedge 3"]);
}

#[test]
fn a_hedge_that_was_lost_is_sent_again() {
    let mut operation = begin();
    assert_eq!(operation.until(150 * MS), ["0 send 1", "100 hedge 2"]);
    operation.ended(1, unavailable().with_resend(Resend::Lost));
    assert_eq!(operation.until(200 * MS + NS), ["150 resend 1", "200 hedge 3"]);
    operation.ended(2, AttemptResult::done());
    assert_eq!(operation.now(), ["200 cancel 1", "200 cancel 3", "200 reply 2"]);
}

#[test]
fn one_attempt_is_no_hedging() {
    let mut operation = ByHand::begin(&hedged(Hedging::new(1).non_fatal_codes(Code::Unavailable)));
    assert_eq!(operation.until(1000 * MS), ["0 send 1"]);
    assert_eq!(operation.ended(1, unavailable()).now(), ["1000 stop of 1 MAX_ATTEMPTS"]);
}

/// 584 years after the start of the operation there are no more.
#[test]
fn time_beyond_all_clocks_ends_hedging() {
    let budget = RetryBudget::tokens(1, 1.0);
    budget.failed();
    let last = Duration::from_nanos(u64::MAX - 2);
    for (delay, wake) in [(last, Some(last + NS)), (Duration::MAX, None)] {
        let policy = hedged(base().delay(delay)).with_budget(budget.clone());
        let mut operation = ByHand::begin(&policy);
        operation.send();
        assert_eq!(operation.wake_at(), wake);
        assert_eq!(operation.at(Duration::MAX).now(), NONE);
        assert_eq!(operation.wake_at(), None);
    }
}

#[test]
fn inside_a_retry_nothing_is_hedged() {
    let mut operation = ByHand::begin(&hedged(base()).with_nested_retries(false).inside_retry());
    assert_eq!(operation.until(LONG), ["0 send 1"]);
    assert_eq!(operation.ended(1, unavailable()).until(LONG), ["100000 stop of 1 NESTED_RETRY"]);
}

#[test]
fn a_request_that_is_being_read_is_not_hedged() {
    let mut operation = begin();
    assert_eq!(operation.until(150 * MS), ["0 send 1", "100 hedge 2"]);
    assert_eq!(operation.close_hedges().until(1000 * MS), NONE);
    assert!(!operation.operation().has_withheld_hedges());
    assert_eq!(operation.clone().ended(1, AttemptResult::done()).now(), ["1000 cancel 2", "1000 reply 1"]);
    operation.ended(1, unavailable());
    assert_eq!(operation.ended(2, unavailable()).now(), ["1000 stop of 2 NOT_REPLAYABLE"]);
}

/// The attempt that was cancelled last and the one that has the reply are known, for reports.
#[test]
fn who_has_lost_or_won_stays_known() {
    let policy = hedged(base());
    let mut operation = ByHand::begin(&policy);
    assert_eq!(operation.until(250 * MS).len(), 3);
    operation.ended(2, AttemptResult::done());
    let known = |operation: &ByHand| {
        [1, 2, 3]
            .map(|number| operation.operation().attempt(&policy, number).map(crate::StartedAttempt::start))
    };
    let [first, second, third] = [0, 100, 200].map(|start| Some(start * MS));
    assert_eq!(known(&operation), [first, second, third]);
    operation.next();
    assert_eq!(known(&operation), [first, None, third]);
    operation.next();
    assert_eq!(known(&operation), [None, None, third]);
}

/// How long the first attempt took counts, or had taken when another one won.
#[test]
fn a_percentile_is_that_of_first_attempts() {
    for (won_by, at, expected) in [(1, 3, "3 hedge 2"), (2, 30, "30 hedge 2")] {
        let policy = hedged(Hedging::new(2).delay(5 * MS).percentile(0.95));
        for _ in 0..20 {
            let mut operation = ByHand::begin(&policy);
            operation.until(at * MS);
            operation.ended(won_by, AttemptResult::done());
        }
        assert_eq!(ByHand::begin(&policy).until(100 * MS), ["0 send 1", expected]);
    }
}

/// A plan says so, and a driver that is woken then does as it says.
#[test]
fn a_reply_that_is_there_as_a_hedge_is_due_wins() {
    let mut operation = begin();
    assert_eq!(operation.until(100 * MS), ["0 send 1"]);
    assert_eq!(operation.clone().ended(1, AttemptResult::done()).now(), ["100 reply 1"]);
    // The hedge itself counts from when it was due, so that those after it don't drift.
    let hedge = operation.at(101 * MS).send();
    assert_eq!((hedge.start(), hedge.delay()), (100 * MS, 100 * MS));
    assert_eq!(operation.wait(), 99 * MS + NS);
}

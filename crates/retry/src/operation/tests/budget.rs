//! The retry budget (gRFC A6), with the cases that were run against grpc-go, grpc-java and grpc-js under their
//! numbers.

use super::{ByHand, MS, base, grpc, unavailable};
use crate::operation::{AttemptResult, Resend, RetryFact, Seen};
use crate::{Code, Policy, RetryBudget, ServerDelay, StopReason};
use std::time::Duration;

fn throttled(max: u32, ratio: f64) -> Policy {
    grpc().with_budget(RetryBudget::tokens(max, ratio))
}

/// Runs an operation whose attempts end that way, the last one for good, and says how many it made.
fn call(policy: &Policy, results: &[AttemptResult]) -> (u32, Option<StopReason>) {
    let mut operation = ByHand::begin(policy);
    let mut results = results.iter().chain(results.last().into_iter().cycle());
    let mut made = 0;
    loop {
        match operation.next() {
            crate::operation::Action::Send(attempt) => {
                made = attempt.number();
                operation.ends(*results.next().unwrap());
            }
            crate::operation::Action::Wait(Some(until)) => {
                operation.at(until);
            }
            crate::operation::Action::Finish(crate::operation::End::Reply(_)) => return (made, None),
            crate::operation::Action::Finish(crate::operation::End::Failure(stop)) => {
                return (made, Some(stop.reason()));
            }
            other => panic!("{other:?}"),
        }
    }
}

/// U: UNAVAILABLE, O: OK, I: INTERNAL, -: UNAVAILABLE with a pushback of -1.
fn calls(policy: &Policy, script: &[&str]) -> Vec<(u32, Option<StopReason>)> {
    let result = |letter| match letter {
        'O' => AttemptResult::done(),
        'U' => unavailable(),
        'I' => AttemptResult::failed(Code::Internal),
        '-' => unavailable().with_server_delay(ServerDelay::Never),
        other => panic!("{other}"),
    };
    script.iter().map(|call_| call(policy, &call_.chars().map(result).collect::<Vec<_>>())).collect()
}

const THROTTLED: Option<StopReason> = Some(StopReason::Throttled);

#[test]
fn k01_a_bucket_of_ten() {
    let made =
        calls(&throttled(10, 0.5), &["O", "UUO", "UUO", "UU", "U", "O", "O", "O", "O", "O", "UO", "U"]);
    let expected = [
        (1, None),
        (3, None),
        (3, None),
        (2, THROTTLED),
        (1, THROTTLED),
        (1, None),
        (1, None),
        (1, None),
        (1, None),
        (1, None),
        (2, None),
        (1, THROTTLED),
    ];
    assert_eq!(made, expected);
}

#[test]
fn k02_half_the_tokens_are_not_enough() {
    assert_eq!(calls(&throttled(4, 1.0), &["U"]), [(2, THROTTLED)]);
}

#[test]
fn k03_a_ratio_has_three_decimals() {
    let made = calls(&throttled(4, 0.3339), &["U", "O", "O", "O", "UO"]);
    assert_eq!(made, [(2, THROTTLED), (1, None), (1, None), (1, None), (1, THROTTLED)]);
}

#[test]
fn k04_other_codes_drain_nothing() {
    let made = calls(&throttled(4, 1.0), &["I", "I", "I", "UO"]);
    let end = Some(StopReason::NonRetryable);
    assert_eq!(made, [(1, end), (1, end), (1, end), (2, None)]);
}

#[test]
fn k05_a_server_that_forbids_retries_drains() {
    let made = calls(&throttled(4, 0.001), &["-", "-", "U"]);
    assert_eq!(made, [(1, Some(StopReason::Pushback)), (1, Some(StopReason::Pushback)), (1, THROTTLED)]);
}

/// A code that is not retried drains too if the server said never; by rules that don't heed it, it does not.
#[test]
fn never_drains_with_any_code_where_it_is_heeded() {
    let never = AttemptResult::failed(Code::Internal).with_server_delay(ServerDelay::Never);
    let policy = throttled(4, 1.0);
    for _ in 0..2 {
        assert_eq!(call(&policy, &[never]), (1, Some(StopReason::NonRetryable)));
    }
    assert_eq!(calls(&policy, &["U"]), [(1, THROTTLED)]);

    let deaf = throttled(4, 1.0).with_server_delays(false);
    for _ in 0..2 {
        assert_eq!(call(&deaf, &[never]), (1, Some(StopReason::NonRetryable)));
    }
    assert_eq!(calls(&deaf, &["UO"]), [(2, None)]);
}

#[test]
fn k06_transparent_retries_drain_nothing() {
    let policy = throttled(4, 1.0);
    let lost = unavailable().with_resend(Resend::Lost);
    assert_eq!(call(&policy, &[lost, lost, lost, AttemptResult::done()]), (1, None));
    assert_eq!(calls(&policy, &["U"]), [(2, THROTTLED)]);
}

#[test]
fn k07_never_above_the_maximum() {
    assert_eq!(calls(&throttled(4, 1.0), &["O", "O", "U"]), [(1, None), (1, None), (2, THROTTLED)]);
}

#[test]
fn k08_never_below_nothing_and_the_first_attempt_always_goes() {
    let policy = throttled(4, 1.0);
    assert_eq!(calls(&policy, &["U"; 9])[1..], [(1, THROTTLED); 8]);
    assert_eq!(calls(&policy, &["O", "O", "O", "O", "UO"]).last(), Some(&(2, None)));
}

#[test]
fn an_attempt_that_ends_the_operation_drains() {
    let single = base().to_builder().max_attempts(1).build().unwrap();
    let policy = throttled(4, 1.0);
    let end = (1, Some(StopReason::MaxAttempts));
    assert_eq!(calls(&policy.clone().with_retry_settings(&single), &["U"]), [end]);
    assert_eq!(calls(&policy, &["U"]), [(1, THROTTLED)]);
}

#[test]
fn what_the_protocol_knows_to_be_retried_drains() {
    let policy = throttled(4, 1.0);
    let known = AttemptResult::failed(Code::Internal).with_retry(RetryFact::Yes);
    assert_eq!(call(&policy, &[known]), (2, THROTTLED));
    let policy = throttled(4, 1.0);
    let known = unavailable().with_retry(RetryFact::No(StopReason::NonRetryable));
    for _ in 0..4 {
        assert_eq!(call(&policy, &[known]), (1, Some(StopReason::NonRetryable)));
    }
    assert_eq!(calls(&policy, &["UO"]), [(2, None)]);
}

#[test]
fn a_throttled_failure_waits_for_nothing() {
    let policy = throttled(2, 1.0);
    let mut operation = ByHand::begin(&policy);
    operation.send();
    assert_eq!(operation.at(3 * MS).ends(unavailable()).until(Duration::MAX), ["3 stop of 1 THROTTLED"]);
}

/// A stream breaks any number of times, as long as each resumption delivers something; however much, it gives back the token of
/// its own break and no other.
#[test]
fn a_resumption_that_delivers_gives_its_token_back() {
    let budget = RetryBudget::tokens(6, 0.1);
    let policy = grpc().with_budget(budget.clone());
    let left = || format!("{:.1}", budget.available(|| Duration::ZERO));
    let broken = unavailable().with_seen(Seen::Messages { resumable: true });
    let mut operation = ByHand::begin(&policy);
    operation.send();
    for attempt in 1..10 {
        operation.progressed(attempt).progressed(attempt);
        assert_eq!(left(), "6.0");
        operation.ends(broken);
        assert_eq!(left(), "5.0");
        operation.after(Duration::from_secs(1)).send();
    }
    // One that fails before its first message takes another.
    operation.ends(unavailable()).after(Duration::from_secs(1)).send();
    assert_eq!(left(), "4.0");
    operation.progressed(11).ends(AttemptResult::done());
    assert_eq!(left(), "5.1");
}

/// A share of the successes: what limits end before a retry is made takes none.
#[test]
fn a_ratio_of_the_successes_is_retried() {
    let policy = grpc().with_budget(RetryBudget::ratio(0.2).min_per_second(0));
    assert_eq!(calls(&policy, &["U"]), [(1, THROTTLED)]);
    let made = calls(&policy, &["O", "O", "O", "O", "O", "UI", "U", "O", "O", "O", "O", "UO"]);
    let mut expected = vec![(1, None); 12];
    expected[5] = (2, Some(StopReason::NonRetryable));
    expected[6] = (1, THROTTLED);
    expected[11] = (1, THROTTLED);
    assert_eq!(made, expected, "0.8 of a retry is none");
    assert_eq!(calls(&policy, &["O", "UO"]), [(1, None), (2, None)]);
    // A hundred in ten seconds: 33 operations of four attempts, and one retry.
    let policy = grpc().with_budget(RetryBudget::ratio(0.2));
    let made: Vec<u32> = calls(&policy, &["U"; 40]).into_iter().map(|(made, _)| made).collect();
    assert_eq!(made[..33], [4; 33]);
    assert_eq!(made[33..], [2, 1, 1, 1, 1, 1, 1]);
}

/// Where nothing else is known, an operation's own time is the time that a budget over a span of time counts by.
#[test]
fn retries_come_back_as_the_time_of_operations_goes_on() {
    let policy = grpc().with_budget(RetryBudget::ratio(0.2).min_per_second(1));
    let made = calls(&policy, &["U"; 5]);
    assert_eq!(made[3..], [(2, THROTTLED), (1, THROTTLED)], "ten in ten seconds");
    let mut operation = ByHand::begin(&policy);
    operation.send();
    operation.at(20_000 * MS).ends(unavailable());
    assert_eq!(operation.wait(), 100 * MS);
}

#[test]
fn a_policy_gives_out_the_budget_that_it_draws_on() {
    let budget = RetryBudget::tokens(1, 1.0);
    let policy = grpc().with_budget(budget.clone());
    let allows = |policy: &Policy| policy.budget().map(|budget| budget.allows(|| Duration::ZERO));
    assert_eq!(allows(&policy), Some(true));
    budget.failed();
    assert_eq!(allows(&policy), Some(false));
    assert_eq!(allows(&policy.with_budget(None)), None);
}

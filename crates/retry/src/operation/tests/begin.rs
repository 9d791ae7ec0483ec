//! When an operation begins, and with how much time.

use super::{ByHand, MS, base, documented, unavailable};
use crate::gax_java::{Polling, RawSettings};
use crate::operation::{Action, AttemptResult, CommitPoint, End, Operation, Ready, RetryFact};
use crate::strategy::{Backoff, BackoffStrategy, Limits, TimeRule};
use crate::{
    AttemptKind, Code, CodeSet, Compatibility, Hedging, Policy, RetrySettings, StartedAttempt, StopReason,
};
use std::time::Duration;

fn timed() -> RetrySettings {
    let settings = base().to_builder().total_timeout(1000 * MS).initial_rpc_timeout(400 * MS);
    settings.rpc_timeout_multiplier(2.0).build().unwrap()
}

#[test]
fn an_operation_that_succeeds_asks_for_nothing() {
    let mut operation = ByHand::begin(&documented());
    let first = operation.send();
    assert_eq!((first.number(), first.kind(), first.start()), (1, AttemptKind::Original, Duration::ZERO));
    assert_eq!((first.delay(), first.rpc_timeout()), (Duration::ZERO, None));
    assert_eq!(operation.until(5 * MS), [] as [&str; 0]);
    assert_eq!(operation.ends(AttemptResult::done()).now(), ["5 reply 1"]);
    assert_eq!(operation.until(9 * MS), [] as [&str; 0]);
    assert_eq!(operation.wake_at(), None);
}

#[test]
fn a_late_first_attempt_has_what_is_left() {
    let policy = Policy::new(&timed(), Code::Unavailable);
    for (late, timeout) in [(0, 400), (600, 400), (700, 300), (999, 1)] {
        let mut operation = ByHand::of(&policy, None, Ready::Late(late * MS));
        let first = operation.send();
        assert_eq!((first.number(), first.kind()), (1, AttemptKind::Original));
        assert_eq!((first.start(), first.delay()), (late * MS, Duration::ZERO));
        assert_eq!(first.rpc_timeout(), Some(timeout * MS), "{late}");
        assert_eq!(first.expires_at(), Some((late + timeout) * MS));
    }
    let mut operation = ByHand::of(&policy, None, Ready::Late(1000 * MS));
    assert_eq!(operation.now(), ["1000 stop TOTAL_TIMEOUT"]);
    let mut bounded = ByHand::of(&policy, Some(700 * MS), Ready::Late(500 * MS));
    assert_eq!(bounded.send().rpc_timeout(), Some(200 * MS));
}

#[test]
fn a_late_operation_goes_on_as_any_other() {
    let policy = Policy::new(&timed(), Code::Unavailable);
    let mut operation = ByHand::of(&policy, None, Ready::Late(100 * MS));
    operation.send();
    operation.at(250 * MS).ends(unavailable());
    assert_eq!(operation.until(350 * MS), ["350 retry 2"]);
    assert_eq!(operation.ends(unavailable()).until(600 * MS), ["550 retry 3"]);
    assert_eq!(operation.until(2000 * MS), ["1000 expire 3"]);
}

/// Java knows no late first attempt: it has the timeout that was settled before.
#[test]
fn a_late_first_attempt_keeps_its_timeout_by_javas_rules() {
    let settings = RawSettings {
        total_timeout_us: 1_000_000,
        initial_rpc_timeout_us: 400_000,
        max_rpc_timeout_us: 400_000,
        ..RawSettings::default()
    };
    let policy = Policy::gax_java(&settings, CodeSet::from(Code::Unavailable));
    assert_eq!(ByHand::of(&policy, None, Ready::Late(900 * MS)).send().rpc_timeout(), Some(400 * MS));
    let mut bounded = ByHand::of(&policy, Some(1000 * MS), Ready::Late(900 * MS));
    assert_eq!(bounded.send().rpc_timeout(), Some(100 * MS));
}

#[test]
fn hedges_follow_a_late_first_attempt() {
    let policy = documented().with_hedging(Hedging::new(3).delay(100 * MS));
    let mut operation = ByHand::of(&policy, None, Ready::Late(50 * MS));
    assert_eq!(operation.until(1000 * MS), ["50 send 1", "150 hedge 2", "250 hedge 3"]);
}

#[test]
fn an_operation_without_time_sends_nothing() {
    let mut operation = ByHand::bounded(&documented(), Duration::ZERO);
    assert_eq!(operation.now(), ["0 stop TOTAL_TIMEOUT"]);
    assert_eq!(operation.now(), [] as [&str; 0]);
}

#[test]
fn the_shorter_of_settings_and_caller_counts() {
    for (bound, timeout) in [(Duration::from_nanos(1), Duration::from_nanos(1)), (500 * MS, 400 * MS)] {
        let mut operation = ByHand::bounded(&Policy::new(&timed(), Code::Unavailable), bound);
        assert_eq!(operation.send().rpc_timeout(), Some(timeout));
        assert_eq!(operation.wake_at(), Some(timeout));
        assert_eq!(operation.wait(), timeout);
    }
}

#[test]
fn an_attempt_is_asked_once_what_its_timeout_amounts_to() {
    let mut operation = ByHand::begin(&Policy::new(&timed(), Code::DeadlineExceeded));
    assert_eq!(operation.until(399 * MS), ["0 send 1"]);
    assert_eq!(operation.until(450 * MS), ["400 expire 1"]);
    assert_eq!(operation.wake_at(), None);
    assert_eq!(operation.fails(Code::DeadlineExceeded).until(600 * MS), ["550 retry 2"]);
    // A reply after the deadline, but before the driver asked, still counts.
    let mut operation = ByHand::begin(&Policy::new(&timed(), Code::DeadlineExceeded));
    operation.send();
    assert_eq!(operation.at(500 * MS).fails(Code::Ok).now(), ["500 reply 1"]);
}

#[test]
fn facts_of_attempts_that_are_not_in_flight_change_nothing() {
    let mut operation = ByHand::begin(&documented());
    operation.send();
    operation.ended(2, unavailable()).ended(0, unavailable());
    assert_eq!(operation.now(), [] as [&str; 0]);
    operation.ended(1, unavailable()).ended(1, AttemptResult::done());
    assert_eq!(operation.until(100 * MS), ["100 retry 2"]);
    operation.ended(1, AttemptResult::done());
    assert_eq!(operation.now(), [] as [&str; 0]);
}

#[test]
fn a_request_that_can_not_be_made_ends_the_operation() {
    for reason in [StopReason::NonRetryable, StopReason::Cancelled] {
        let mut operation = ByHand::of(&documented(), None, Ready::Never(reason));
        assert_eq!(operation.until(1000 * MS), [format!("0 stop {reason}")]);
    }
}

/// Zero that a program passes is no time, by any rules.
#[test]
fn a_timeout_of_zero_sends_nothing() {
    for rules in [Compatibility::Documented, Compatibility::GaxJava, Compatibility::Grpc] {
        let policy = Policy::with_compatibility(&timed(), Code::Unavailable, rules);
        let none = policy.clone().with_attempt_timeout(Duration::ZERO);
        assert_eq!(ByHand::begin(&none).now(), ["0 stop TOTAL_TIMEOUT"], "{rules}");
        assert_eq!(ByHand::of(&none, None, Ready::Late(MS)).now(), ["1 stop TOTAL_TIMEOUT"], "{rules}");
        let hedged = none.clone().with_hedging(Hedging::new(3));
        assert_eq!(ByHand::begin(&hedged).now(), ["0 stop TOTAL_TIMEOUT"], "{rules}");
        // The settings of a call replace it, a timeout of a call does not.
        assert_eq!(ByHand::begin(&none.clone().with_attempt_timeout(MS)).now(), ["0 stop TOTAL_TIMEOUT"]);
        assert_eq!(ByHand::begin(&none.with_retry_settings(&timed())).now(), ["0 send 1"], "{rules}");
        let spent = RetrySettings::logical_timeout(Duration::ZERO);
        assert_eq!(
            ByHand::begin(&policy.with_retry_settings(&spent)).now(),
            ["0 stop TOTAL_TIMEOUT"],
            "{rules}"
        );
    }
}

#[test]
fn the_shorter_of_total_and_bound_is_the_limit_of_time() {
    let limit = Policy::time_limit;
    let timed_by = |rules| Policy::with_compatibility(&timed(), Code::Unavailable, rules);
    for rules in [Compatibility::Documented, Compatibility::GaxJava, Compatibility::Grpc] {
        assert_eq!(limit(&timed_by(rules), None), Some(1000 * MS), "{rules}");
        assert_eq!(limit(&timed_by(rules), Some(2000 * MS)), Some(1000 * MS), "{rules}");
        assert_eq!(limit(&timed_by(rules), Some(900 * MS)), Some(900 * MS), "{rules}");
        let unlimited = Policy::with_compatibility(&base(), Code::Unavailable, rules);
        assert_eq!(limit(&unlimited, None), None, "{rules}");
        assert_eq!(limit(&unlimited, Some(MS)), Some(MS), "{rules}");
    }
    let strategy = |rule| {
        let limits = Limits::none().with_time(500 * MS, rule);
        Policy::from_strategy(
            &BackoffStrategy::new(Backoff::exponential(MS, 1.0, MS), limits),
            Code::Unavailable,
        )
    };
    assert_eq!(limit(&strategy(TimeRule::Strict), None), Some(500 * MS));
    // By the others an attempt may run on.
    assert_eq!(limit(&strategy(TimeRule::Clip), None), None);
    let polling = RawSettings { total_timeout_us: 1000, ..RawSettings::default() };
    assert_eq!(limit(&Policy::polling(Polling::new(&polling)), None), None);
}

#[test]
fn attempts_in_flight_are_known() {
    let policy = documented().with_hedging(Hedging::new(3).delay(10 * MS));
    let mut operation = ByHand::begin(&policy);
    let known = |operation: &ByHand, number| {
        operation.operation().attempt(&policy, number).map(StartedAttempt::number)
    };
    assert_eq!(operation.until(25 * MS).len(), 3);
    operation.ended(2, unavailable().with_retry(RetryFact::Yes));
    assert_eq!([1, 2, 3, 4].map(|number| known(&operation, number)), [Some(1), None, Some(3), None]);

    let mut single = ByHand::begin(&documented());
    let first = single.send();
    let attempt = |operation: &ByHand, number| operation.operation().attempt(&documented(), number);
    assert_eq!((attempt(&single, 1), attempt(&single, 2)), (Some(first), None));
    assert_eq!(attempt(single.ends(AttemptResult::done()), 1), Some(first));
}

/// The first action is known as the operation begins.
#[test]
fn an_operation_begins_with_its_first_attempt_or_its_end() {
    let policy = Policy::new(&timed(), Code::Unavailable);
    let begin = |policy: &Policy, bound, ready| match Operation::begin(policy, bound, ready).1 {
        Action::Send(first) => Ok((first.start(), first.rpc_timeout())),
        other => Err(other),
    };
    let (now, third) = (Duration::ZERO, Some(300 * MS));
    assert_eq!(begin(&policy, Some(300 * MS), Ready::Now), Ok((now, third)));
    assert_eq!(begin(&policy, Some(900 * MS), Ready::Late(600 * MS)), Ok((600 * MS, third)));
    assert_eq!(begin(&policy, None, Ready::Late(now)), Ok((now, Some(400 * MS))));
    let hedged = policy.clone().with_hedging(Hedging::new(2));
    assert_eq!(begin(&hedged, Some(300 * MS), Ready::Now), Ok((now, third)));
    // By gax-java's rules this one has no millisecond: it is over before it is sent.
    let java = Policy::with_compatibility(&timed(), Code::Unavailable, Compatibility::GaxJava);
    let (mut operation, first) = Operation::begin(&java, Some(Duration::from_micros(999)), Ready::Now);
    assert!(matches!(first, Action::Send(first) if first.has_no_time()));
    assert_eq!(
        ByHand::of(&java, Some(Duration::from_micros(999)), Ready::Now).now(),
        ["0 send 1", "0 expire 1"]
    );
    operation.cancelled(&java);
    for (bound, ready, reason) in [
        (Some(now), Ready::Now, StopReason::TotalTimeout),
        (None, Ready::Late(1000 * MS), StopReason::TotalTimeout),
        (None, Ready::Never(StopReason::NonRetryable), StopReason::NonRetryable),
        (Some(now), Ready::Never(StopReason::Cancelled), StopReason::Cancelled),
    ] {
        for policy in [&policy, &hedged] {
            let Err(Action::Finish(End::Failure(stop))) = begin(policy, bound, ready) else {
                panic!("{bound:?} {ready:?}")
            };
            assert_eq!((stop.reason(), stop.attempt()), (reason, None), "{bound:?} {ready:?}");
        }
    }
}

#[test]
fn a_drivers_notes_outlive_the_operation() {
    let policy = Policy::new(&timed(), Code::Unavailable);
    let (mut operation, _) = Operation::<u32>::with_notes(&policy, None, Ready::Now);
    *operation.notes_mut(&policy) += 3;
    assert!(operation.committed(&policy, 1, CommitPoint::OverLimit));
    *operation.notes_mut(&policy) += 4;
    assert_eq!((operation.notes(), operation.wake_at(&policy)), (Some(&7), Some(400 * MS)));
    assert_eq!(*operation.into_notes(&policy), 7);
}

#[test]
fn a_policy_knows_the_version_of_the_settings_that_it_was_made_of() {
    assert_eq!(documented().version(), None);
    assert_eq!(documented().with_version(3).version(), Some(3));
    assert_eq!(documented().with_version(3).with_version(0).version(), None);
}

//! Waits that a server asks for, by all kinds of rules.

use super::ByHand;
use crate::jitter::{ScriptedJitter, SeededJitter};
use crate::operation::{Action, AttemptResult, End};
use crate::strategy::{Backoff, BackoffStrategy, Jitter, Limits, TimeRule};
use crate::{Code, Compatibility, Hedging, NotAttempted, Policy, RetrySettings, ServerDelay, StopReason};
use std::time::Duration;

const S: Duration = Duration::from_secs(1);
const MS: Duration = Duration::from_millis(1);

/// Ten seconds in all, five attempts, no waits but those that a server asks for.
fn settings() -> RetrySettings {
    RetrySettings::builder()
        .initial_retry_delay(Duration::ZERO)
        .initial_rpc_timeout(4 * S)
        .max_rpc_timeout(4 * S)
        .total_timeout(10 * S)
        .max_attempts(5)
        .jittered(false)
        .build()
        .unwrap()
}

/// Waits of 1 s, 2 s, 4 s.
fn doubling() -> RetrySettings {
    let settings = settings().to_builder().initial_retry_delay(S);
    settings.retry_delay_multiplier(2.0).max_retry_delay(60 * S).build().unwrap()
}

fn strategy(initial: Duration, limits: Limits) -> Policy {
    Policy::from_strategy(
        &BackoffStrategy::new(Backoff::exponential(initial, 2.0, 60 * S), limits),
        Code::Unavailable,
    )
}

fn unavailable(asked: ServerDelay) -> AttemptResult {
    AttemptResult::failed(Code::Unavailable).with_server_delay(asked)
}

/// The waits that were made, and what ended the operation: the reason, and the wait that was not made.
type Waits = (Vec<Duration>, Option<(StopReason, Option<Duration>)>);

/// Runs attempts that take no time, each followed by a delay that the server asks for.
fn waits(policy: &Policy, asked: &[Duration]) -> Waits {
    waits_of(ByHand::begin(policy), asked)
}

fn waits_of(operation: ByHand, asked: &[Duration]) -> Waits {
    let mut operation = operation.with_jitter(ScriptedJitter::new([0.0]));
    operation.send();
    let mut now = Duration::ZERO;
    let mut waits = Vec::new();
    for delay in asked {
        match operation.ends(unavailable(ServerDelay::AtLeast(*delay))).next() {
            Action::Wait(Some(until)) => {
                waits.push(until.saturating_sub(now));
                now = until;
                assert_eq!(Some(&operation.at(now).send().delay()), waits.last());
            }
            Action::Send(attempt) => waits.push(attempt.delay()),
            Action::Finish(End::Failure(stop)) => {
                let refused = stop.not_attempted().map(NotAttempted::delay);
                return (waits, Some((stop.reason(), refused)));
            }
            other => panic!("{other:?}"),
        }
    }
    (waits, None)
}

/// Policies that heed what servers ask for.
fn every_kind(settings: &RetrySettings) -> [Policy; 3] {
    let limits = Limits::none().with_time(10 * S, TimeRule::Strict).with_max_attempts(5);
    [
        Policy::with_compatibility(settings, Code::Unavailable, Compatibility::Documented),
        Policy::with_compatibility(settings, Code::Unavailable, Compatibility::GaxJava)
            .with_server_delays(true),
        strategy(settings.initial_retry_delay().unwrap(), limits),
    ]
}

#[test]
fn a_server_never_shortens_a_wait_and_back_off_grows_by_itself() {
    for policy in every_kind(&doubling()) {
        let (made, end) = waits(&policy, &[Duration::ZERO, 500 * MS, Duration::ZERO]);
        assert_eq!((made[0], made[1] >= 2 * S, made[2]), (S, true, 4 * S), "{made:?}");
        assert_eq!(end, None);
    }
}

#[test]
fn back_off_comes_on_top_of_what_a_server_asks_for() {
    for policy in every_kind(&doubling()) {
        let asked = [500 * MS, S, Duration::ZERO];
        assert_eq!(waits(&policy, &asked), (vec![1500 * MS, 3 * S, 4 * S], None));
    }
}

#[test]
fn back_off_is_cut_to_half_of_what_the_servers_delay_leaves() {
    for policy in every_kind(&doubling()) {
        assert_eq!(waits(&policy, &[9500 * MS]).0, [9750 * MS]);
        // The back-off alone would not fit either.
        assert_eq!(waits(&policy, &[7 * S, S]).0, [8 * S, 1500 * MS]);
        assert_eq!(waits_of(ByHand::bounded(&policy, 4 * S), &[2 * S]).0, [3 * S]);
        assert_eq!(waits_of(ByHand::bounded(&policy, 4 * S), &[3 * S]).0, [3500 * MS]);
    }
}

/// The waits of a thousand clients that are asked for the same wait, sorted.
fn herd(policy: &Policy, asked: Duration) -> Vec<Duration> {
    let wait = |seed| {
        let mut operation = ByHand::begin(policy).with_jitter(SeededJitter::new(seed));
        operation.send();
        operation.ends(unavailable(ServerDelay::AtLeast(asked))).wait()
    };
    let mut waits: Vec<Duration> = (0..1000).map(wait).collect();
    waits.sort_unstable();
    waits
}

/// As Envoy's clients do: from the wait that they are asked for to half as much again.
#[test]
fn clients_that_are_asked_for_the_same_wait_come_back_over_half_of_that_or_the_back_off() {
    let jittered = doubling().to_builder().jittered(true).build().unwrap();
    let limits = Limits::none().with_time(10 * S, TimeRule::Strict).with_max_attempts(5);
    let backoff = Backoff::exponential(S, 2.0, 60 * S).with_jitter(Jitter::Full);
    // A hedge has no back-off.
    let hedging = Hedging::new(5).delay(60 * S).non_fatal_codes(Code::Unavailable);
    for policy in [
        Policy::with_compatibility(&jittered, Code::Unavailable, Compatibility::Documented),
        Policy::with_compatibility(&jittered, Code::Unavailable, Compatibility::GaxJava),
        Policy::with_compatibility(&jittered, Code::Unavailable, Compatibility::Grpc),
        Policy::from_strategy(&BackoffStrategy::new(backoff, limits), Code::Unavailable),
        Policy::new(&jittered, Code::Unavailable).with_hedging(hedging),
    ] {
        let policy = policy.with_server_delays(true);
        let is_hedged = policy.hedging().is_some();
        for (asked, from, until) in [
            (4 * S, 4 * S, 6 * S),
            // Half of what is asked for is less than the back-off of a second.
            (500 * MS, 500 * MS, if is_hedged { 750 * MS } else { 1500 * MS }),
            // Where that doesn't fit the attempt keeps half of the room.
            (8 * S, 8 * S, 9 * S),
            (9600 * MS, 9600 * MS, 9800 * MS),
        ] {
            let waits = herd(&policy, asked);
            let (first, last) = (waits[0], waits[999]);
            let part = until.saturating_sub(from) / 20;
            assert!(first >= from && first < from + part, "{asked:?} {first:?} {policy:?}");
            assert!(last <= until && last + part > until, "{asked:?} {last:?} {policy:?}");
            for from in (0..20).map(|number| from + part * number) {
                let count = waits.iter().filter(|wait| **wait >= from && **wait < from + part).count();
                assert!(count < 100, "{count} of 1000 within {part:?} from {from:?}");
            }
        }
    }
}

#[test]
fn without_a_total_a_server_may_ask_for_a_minute_or_the_longest_delay() {
    let unlimited = doubling().to_builder().total_timeout(None);
    let longer = unlimited.clone().max_retry_delay(300 * S);
    let shorter = unlimited.clone().max_retry_delay(2 * S);
    let set = longer.clone().max_server_delay(90 * S);
    for (settings, longest) in [(unlimited, 60 * S), (longer, 300 * S), (shorter, 60 * S), (set, 90 * S)] {
        let settings = settings.build().unwrap();
        for rules in [Compatibility::Documented, Compatibility::GaxJava, Compatibility::Grpc] {
            let policy = Policy::with_compatibility(&settings, Code::Unavailable, rules);
            let policy = policy.with_server_delays(true);
            assert_eq!(waits(&policy, &[longest]).0, [longest + S], "{rules}");
            let too_long = longest + MS;
            let end = Some((StopReason::ServerDelayExceedsTotalTimeout, Some(too_long)));
            assert_eq!(waits(&policy, &[too_long]), (vec![], end), "{rules}");
            // The caller's own time is a bound like any other.
            let bounded = ByHand::bounded(&policy, 7200 * S);
            assert_eq!(waits_of(bounded, &[3600 * S]).0, [3601 * S], "{rules}");
        }
    }
    let three =
        BackoffStrategy::new(Backoff::exponential(S, 2.0, 64 * S), Limits::none().with_max_attempts(3));
    for (strategy, longest) in [(three, 64 * S), (three.with_max_server_delay(7200 * S), 7200 * S)] {
        let policy = Policy::from_strategy(&strategy, Code::Unavailable);
        assert_eq!(waits(&policy, &[longest]).0, [longest + S]);
        let (_, end) = waits(&policy, &[longest + MS]);
        assert_eq!(end.unwrap().0, StopReason::ServerDelayExceedsTotalTimeout);
        // A pushback is bounded by the budget alone.
        let mut operation = ByHand::begin(&policy);
        operation.send();
        assert_eq!(operation.ends(unavailable(ServerDelay::Exactly(86_400 * S))).wait(), 86_400 * S);
    }
}

#[test]
fn by_grpcs_rules_a_delay_without_time_ends_as_the_deadline() {
    let policy = Policy::with_compatibility(&doubling(), Code::Unavailable, Compatibility::Grpc);
    for (policy, end) in [
        (policy.clone(), "1000 retry 2"),
        (
            policy.with_server_delays(true),
            "0 stop of 1 SERVER_DELAY_EXCEEDS_BUDGET at the deadline before 2 after 60000",
        ),
    ] {
        let mut operation = ByHand::begin(&policy);
        operation.send();
        operation.ends(unavailable(ServerDelay::AtLeast(60 * S)));
        assert_eq!(operation.until(S), [end]);
    }
}

/// Java's timeouts are cut to what is left once the wait is known, not to what back-off alone would leave.
#[test]
fn by_javas_rules_the_timeout_is_what_the_real_wait_leaves() {
    let settings = doubling().to_builder().initial_retry_delay(6 * S).build().unwrap();
    let policy = Policy::with_compatibility(&settings, Code::Unavailable, Compatibility::GaxJava);
    for (asked, wait, left) in [(ServerDelay::Exactly(S), S, 4 * S), (ServerDelay::AtLeast(8 * S), 9 * S, S)]
    {
        let mut operation = ByHand::begin(&policy.clone().with_server_delays(true));
        operation.send();
        assert_eq!(operation.ends(unavailable(asked)).wait(), wait);
        assert_eq!(operation.at(wait).send().rpc_timeout(), Some(left));
    }
}

#[test]
fn a_wait_that_the_operation_has_no_time_for_ends_it_now() {
    for policy in every_kind(&settings()) {
        let (made, end) = waits(&policy, &[3 * S, 7 * S]);
        assert_eq!(made, [3 * S]);
        assert_eq!(end, Some((StopReason::ServerDelayExceedsTotalTimeout, Some(7 * S))));
        let (made, end) = waits(&policy, &[Duration::MAX]);
        assert_eq!(made, []);
        assert_eq!(end, Some((StopReason::ServerDelayExceedsTotalTimeout, Some(Duration::MAX))));
    }
}

#[test]
fn the_number_of_attempts_comes_before_the_servers_delay() {
    for policy in every_kind(&settings()) {
        let short = policy.with_retry_settings(&settings().to_builder().max_attempts(2).build().unwrap());
        let (_, end) = waits(&short, &[Duration::ZERO, 60 * S]);
        assert_eq!(end.unwrap().0, StopReason::MaxAttempts);
    }
}

#[test]
fn the_rpc_timeout_after_a_longer_wait_is_what_that_leaves() {
    for policy in &every_kind(&settings())[..2] {
        let mut operation = ByHand::begin(policy);
        operation.send();
        let asked = 7500 * MS;
        assert_eq!(operation.ends(unavailable(ServerDelay::AtLeast(asked))).wait(), asked);
        assert_eq!(operation.at(asked).send().rpc_timeout(), Some(2500 * MS));
    }
}

#[test]
fn a_callers_time_bounds_the_servers_delay() {
    for policy in every_kind(&settings()) {
        let bounded = || ByHand::bounded(&policy, 4 * S);
        assert_eq!(waits_of(bounded(), &[3999 * MS]).0, [3999 * MS]);
        let (_, end) = waits_of(bounded(), &[4 * S]);
        assert_eq!(end, Some((StopReason::ServerDelayExceedsTotalTimeout, Some(4 * S))));
    }
}

#[test]
fn every_strategy_counts_the_servers_wait_as_it_counts_its_own() {
    for (rule, longest) in [
        (TimeRule::Strict, 9999 * MS),
        (TimeRule::Refuse, 10 * S),
        (TimeRule::Clip, 10 * S),
        (TimeRule::Check, 9999 * MS),
        (TimeRule::Waits, 10 * S),
    ] {
        let policy = strategy(Duration::ZERO, Limits::none().with_time(10 * S, rule));
        assert_eq!(waits(&policy, &[longest]), (vec![longest], None), "{rule:?}");
        let longer = longest + MS;
        let end = Some((StopReason::ServerDelayExceedsTotalTimeout, Some(longer)));
        assert_eq!(waits(&policy, &[longer]), (vec![], end), "{rule:?}");
    }
    let waited = strategy(Duration::ZERO, Limits::none().with_time(10 * S, TimeRule::Waits));
    assert_eq!(waits(&waited, &[6 * S, 5 * S]).1.unwrap().0, StopReason::ServerDelayExceedsTotalTimeout);
}

#[test]
fn a_random_part_that_compounds_does_so_by_its_own_draws_only() {
    let backoff = Backoff::exponential(S, 2.0, 60 * S).with_jitter(Jitter::Compounding);
    let policy = Policy::from_strategy(&BackoffStrategy::new(backoff, Limits::none()), Code::Unavailable);
    assert_eq!(waits(&policy, &[30 * S, Duration::ZERO]).0[1], 2 * S);
}

/// The actions after a first attempt that ended with each of the four, 50 ms after its start.
fn after_each(policy: &Policy) -> [String; 4] {
    let asked = [
        ServerDelay::None,
        ServerDelay::AtLeast(500 * MS),
        ServerDelay::Exactly(20 * MS),
        ServerDelay::Never,
    ];
    asked.map(|asked| {
        let mut operation = ByHand::begin(policy);
        operation.send();
        operation.at(50 * MS).ends(unavailable(asked)).until(700 * MS).remove(0)
    })
}

/// Back-off of zero, so that the wait is the server's delay alone.
#[test]
fn each_rule_set_heeds_what_it_knows() {
    let policy = |rules| Policy::with_compatibility(&settings(), Code::Unavailable, rules);
    let heeded = ["50 retry 2", "550 retry 2", "70 retry 2", "50 stop of 1 PUSHBACK"];
    assert_eq!(after_each(&policy(Compatibility::Documented)), heeded);
    let grpc = ["50 retry 2", "50 retry 2", "70 retry 2", "50 stop of 1 PUSHBACK"];
    assert_eq!(after_each(&policy(Compatibility::Grpc)), grpc);
    assert_eq!(after_each(&policy(Compatibility::GaxJava)), ["50 retry 2"; 4]);
    assert_eq!(after_each(&strategy(Duration::ZERO, Limits::none())), heeded);

    for rules in [Compatibility::Documented, Compatibility::GaxJava] {
        assert_eq!(after_each(&policy(rules).with_server_delays(true)), heeded);
        assert_eq!(after_each(&policy(rules).with_server_delays(false)), ["50 retry 2"; 4]);
    }
}

/// 300 ms exactly, then back-off from its beginning (p01); in the middle, too (p02).
#[test]
fn a_pushback_replaces_the_wait_and_back_off_begins_anew() {
    for rules in [Compatibility::Grpc, Compatibility::Documented] {
        let policy = Policy::with_compatibility(&super::base(), Code::Unavailable, rules);
        let mut operation = ByHand::begin(&policy).with_jitter(ScriptedJitter::new([0.999, 0.5, 0.5]));
        operation.send();
        operation.ends(unavailable(ServerDelay::Exactly(300 * MS)));
        assert_eq!(operation.until(300 * MS), ["300 retry 2"]);
    }
    for rules in [Compatibility::Grpc, Compatibility::Documented] {
        let policy = Policy::with_compatibility(&super::base(), Code::Unavailable, rules);
        let mut operation = ByHand::begin(&policy);
        operation.send();
        assert_eq!(
            operation.ends(unavailable(ServerDelay::Exactly(300 * MS))).until(300 * MS),
            ["300 retry 2"]
        );
        assert_eq!(operation.ends(unavailable(ServerDelay::None)).until(400 * MS), ["400 retry 3"]);
        assert_eq!(operation.ends(unavailable(ServerDelay::None)).until(600 * MS), ["600 retry 4"]);

        let mut operation = ByHand::begin(&policy);
        operation.send();
        assert_eq!(operation.ends(unavailable(ServerDelay::None)).until(100 * MS), ["100 retry 2"]);
        operation.ends(unavailable(ServerDelay::Exactly(Duration::ZERO)));
        assert_eq!(operation.now(), ["100 retry 3"]);
        assert_eq!(operation.ends(unavailable(ServerDelay::None)).until(200 * MS), ["200 retry 4"]);
    }
}

/// It does not lift the number of attempts (p11) nor the deadline (p12).
#[test]
fn a_pushback_is_bounded_by_attempts_and_time() {
    for rules in [Compatibility::Grpc, Compatibility::Documented] {
        let policy =
            |settings: &RetrySettings| Policy::with_compatibility(settings, Code::Unavailable, rules);
        let end = |policy: &Policy, asked| {
            let mut operation = ByHand::begin(policy);
            operation.send();
            operation.at(50 * MS).ends(unavailable(ServerDelay::Exactly(asked)));
            operation.until(1000 * MS).remove(0)
        };
        let single = super::base().to_builder().max_attempts(1).build().unwrap();
        assert_eq!(end(&policy(&single), Duration::ZERO), "50 stop of 1 MAX_ATTEMPTS");

        let timed = policy(&super::base().to_builder().total_timeout(450 * MS).build().unwrap());
        assert_eq!(end(&timed, 399 * MS), "449 retry 2");
        let refused = end(&timed, 400 * MS);
        let at_deadline = if rules == Compatibility::Grpc { " at the deadline" } else { "" };
        let expected = format!("50 stop of 1 SERVER_DELAY_EXCEEDS_BUDGET{at_deadline} before 2 after 400");
        assert_eq!(refused, expected);
    }
}

/// It counts where the own delay would have no time, since it replaces it.
#[test]
fn a_pushback_may_be_shorter_than_the_own_delay() {
    let settings = RetrySettings::builder().initial_retry_delay(S).total_timeout(S).build().unwrap();
    for rules in [Compatibility::Grpc, Compatibility::Documented] {
        let mut operation = ByHand::begin(&Policy::with_compatibility(&settings, Code::Unavailable, rules));
        operation.send();
        operation.at(50 * MS).ends(unavailable(ServerDelay::Exactly(20 * MS)));
        assert_eq!(operation.until(70 * MS), ["70 retry 2"]);
    }
}

/// It does not make a code retryable.
#[test]
fn a_pushback_makes_no_code_retryable() {
    let mut operation = ByHand::begin(&super::grpc());
    operation.send();
    let internal = AttemptResult::failed(Code::Internal);
    operation.ends(internal.with_server_delay(ServerDelay::Exactly(10 * MS)));
    assert_eq!(operation.now(), ["0 stop of 1 NON_RETRYABLE"]);
}

/// The time that the protocol took since the attempt ended, such as to read the rest of a response, is part of the wait.
#[test]
fn a_wait_counts_from_the_end_of_the_attempt() {
    let wait_after = |policy: &Policy, now, result: AttemptResult| {
        let mut operation = ByHand::begin(policy);
        operation.send();
        operation.at(now).ends(result.with_end(50 * MS)).until(5 * S).remove(0)
    };
    for rules in [Compatibility::Documented, Compatibility::Grpc] {
        let policy = Policy::with_compatibility(&super::base(), Code::Unavailable, rules);
        let failed = unavailable(ServerDelay::None);
        assert_eq!(wait_after(&policy, 80 * MS, failed), "150 retry 2");
        assert_eq!(wait_after(&policy, 150 * MS, failed), "150 retry 2");
        assert_eq!(wait_after(&policy, 200 * MS, failed), "200 retry 2");
        let asked = unavailable(ServerDelay::Exactly(300 * MS));
        assert_eq!(wait_after(&policy, 80 * MS, asked), "350 retry 2");
        let at_once = unavailable(ServerDelay::Exactly(Duration::ZERO));
        assert_eq!(wait_after(&policy, 80 * MS, at_once), "80 retry 2");
        // It starts when it is sent, not when the one before it ended.
        let mut operation = ByHand::begin(&policy);
        operation.send();
        operation.at(80 * MS).ends(at_once.with_end(50 * MS));
        assert_eq!(operation.send().start(), 80 * MS);
    }
    let timed = super::base().to_builder().total_timeout(180 * MS).build().unwrap();
    let timed = Policy::new(&timed, Code::Unavailable);
    assert_eq!(wait_after(&timed, 170 * MS, unavailable(ServerDelay::None)), "170 retry 2");
    let spent = "180 stop of 1 TOTAL_TIMEOUT";
    assert_eq!(wait_after(&timed, 180 * MS, unavailable(ServerDelay::None)), spent);
    assert_eq!(unavailable(ServerDelay::None).with_end(S).ended_at(), Some(S));
    assert_eq!(unavailable(ServerDelay::None).ended_at(), None);
}

//! Waits that a server asks for, by all kinds of rules.

use crate::{
    Backoff, Code, Compatibility, Decision, Ending, Jitter, Limits, OperationState, Recipe, RetrySettings,
    Schedule, ScriptedJitter, StopReason, TimeRule,
};
use std::time::Duration;

const S: Duration = Duration::from_secs(1);
const MS: Duration = Duration::from_millis(1);

/// 1 s, 2 s, 4 s ..., ten seconds in all, five attempts.
fn settings() -> RetrySettings {
    RetrySettings::builder()
        .initial_retry_delay(S)
        .retry_delay_multiplier(2.0)
        .max_retry_delay(60 * S)
        .initial_rpc_timeout(4 * S)
        .max_rpc_timeout(4 * S)
        .total_timeout(10 * S)
        .max_attempts(5)
        .jittered(false)
        .build()
        .unwrap()
}

fn recipe(limits: Limits) -> Schedule {
    Schedule::from_recipe(&Recipe::new(Backoff::exponential(S, 2.0, 60 * S), limits), Code::Unavailable)
}

/// Runs attempts that take no time, each followed by the server's word; the waits, and what ended it.
fn waits(schedule: &Schedule, asked: &[Duration]) -> (Vec<Duration>, Option<(StopReason, Option<Duration>)>) {
    let mut state = OperationState::default();
    let mut now = Duration::ZERO;
    let mut waits = Vec::new();
    for delay in asked {
        state.start(schedule, now).unwrap();
        let ending = Ending::new(Code::Unavailable).after_at_least(*delay);
        match state.ended(schedule, now, ending, &mut ScriptedJitter::new([0.0])) {
            Decision::Retry(retry) => {
                waits.push(retry.wait());
                now += retry.wait();
            }
            Decision::Stop(stop) => {
                let refused = stop.not_attempted().map(crate::NotAttempted::delay);
                return (waits, Some((stop.reason(), refused)));
            }
            Decision::Done => unreachable!(),
        }
    }
    (waits, None)
}

fn every_kind() -> [Schedule; 3] {
    [
        Schedule::with_compatibility(&settings(), Code::Unavailable, Compatibility::Documented),
        Schedule::with_compatibility(&settings(), Code::Unavailable, Compatibility::GaxJava),
        recipe(Limits::none().with_time(10 * S, TimeRule::Strict).with_max_attempts(5)),
    ]
}

#[test]
fn a_server_lengthens_a_wait_and_never_shortens_it_or_the_back_off() {
    for schedule in every_kind() {
        assert_eq!(waits(&schedule, &[500 * MS, 3 * S, Duration::ZERO]), (vec![S, 3 * S, 4 * S], None));
    }
}

#[test]
fn a_wait_that_the_operation_has_no_time_for_ends_it_now() {
    for schedule in every_kind() {
        let (made, end) = waits(&schedule, &[3 * S, 7 * S]);
        assert_eq!(made, [3 * S]);
        assert_eq!(end, Some((StopReason::ServerDelayExceedsBudget, Some(7 * S))));
        let (made, end) = waits(&schedule, &[Duration::MAX]);
        assert_eq!(made, []);
        assert_eq!(end, Some((StopReason::ServerDelayExceedsBudget, Some(Duration::MAX))));
    }
}

#[test]
fn own_limits_come_before_the_servers_word() {
    for schedule in every_kind() {
        let (_, end) = waits(&schedule, &[Duration::ZERO, 6 * S, 60 * S]);
        assert_eq!(end.unwrap().0, StopReason::TotalTimeout);
        let short = schedule.with_retry_settings(&settings().to_builder().max_attempts(2).build().unwrap());
        let (_, end) = waits(&short, &[Duration::ZERO, 60 * S]);
        assert_eq!(end.unwrap().0, StopReason::MaxAttempts);
    }
}

#[test]
fn the_rpc_timeout_after_a_longer_wait_is_what_that_leaves() {
    for schedule in &every_kind()[..2] {
        let mut state = OperationState::default();
        state.start(schedule, Duration::ZERO).unwrap();
        let ending = Ending::new(Code::Unavailable).after_at_least(7 * S + 500 * MS);
        let decision = state.ended(schedule, Duration::ZERO, ending, &mut ScriptedJitter::new([0.0]));
        let Decision::Retry(retry) = decision else { unreachable!() };
        assert_eq!((retry.delay(), retry.wait()), (S, 7500 * MS));
        assert_eq!(state.start(schedule, 7500 * MS).unwrap().rpc_timeout(), Some(2500 * MS));
    }
}

#[test]
fn a_callers_time_bounds_the_servers_word() {
    for schedule in every_kind() {
        let bounded = schedule.bounded_by(4 * S);
        assert_eq!(waits(&bounded, &[3999 * MS]).0, [3999 * MS]);
        let (_, end) = waits(&bounded, &[4 * S]);
        assert_eq!(end, Some((StopReason::ServerDelayExceedsBudget, Some(4 * S))));
    }
}

#[test]
fn every_recipe_counts_the_servers_wait_as_it_counts_its_own() {
    for (rule, longest) in [
        (TimeRule::Strict, 9999 * MS),
        (TimeRule::Refuse, 10 * S),
        (TimeRule::Clip, 10 * S),
        (TimeRule::Check, 9999 * MS),
        (TimeRule::Waits, 10 * S),
    ] {
        let schedule = recipe(Limits::none().with_time(10 * S, rule));
        assert_eq!(waits(&schedule, &[longest]), (vec![longest], None), "{rule:?}");
        let longer = longest + MS;
        let end = Some((StopReason::ServerDelayExceedsBudget, Some(longer)));
        assert_eq!(waits(&schedule, &[longer]), (vec![], end), "{rule:?}");
    }
    let waited = recipe(Limits::none().with_time(10 * S, TimeRule::Waits));
    assert_eq!(waits(&waited, &[6 * S, 5 * S]).1.unwrap().0, StopReason::ServerDelayExceedsBudget);
    let unlimited = recipe(Limits::none().with_max_attempts(3));
    assert_eq!(waits(&unlimited, &[3600 * S, 7200 * S]).0, [3600 * S, 7200 * S]);
}

#[test]
fn a_random_part_that_compounds_does_so_by_its_own_draws_only() {
    let backoff = Backoff::exponential(S, 2.0, 60 * S).with_jitter(Jitter::Compounding);
    let schedule = Schedule::from_recipe(&Recipe::new(backoff, Limits::none()), Code::Unavailable);
    assert_eq!(waits(&schedule, &[30 * S, Duration::ZERO]).0, [30 * S, 2 * S]);
}

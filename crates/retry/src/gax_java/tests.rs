use super::*;
use crate::jitter::{JitterSource, SeededJitter};
use crate::operation::{Action, AttemptResult, ByHand, Seen};
use crate::{
    AttemptPlan, Code, CodeSet, Compatibility, NoJitter, Policy, Response, RetrySettings, StopReason,
};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);
const CODES: CodeSet = CodeSet::EMPTY.with(Code::DeadlineExceeded).with(Code::Unavailable);

fn raw(change: impl FnOnce(&mut RawSettings)) -> RawSettings {
    let mut settings = RawSettings::default();
    change(&mut settings);
    settings
}

/// Timeout in microseconds (0: none), delay, start and end in microseconds.
fn rows(plan: &AttemptPlan) -> Vec<(u128, u128, u128, u128)> {
    plan.attempts()
        .iter()
        .map(|row| {
            let timeout = row.rpc_timeout().unwrap_or_default().as_micros();
            (timeout, row.delay().as_micros(), row.start().as_micros(), row.end().as_micros())
        })
        .collect()
}

fn plan(policy: &Policy, responses: &[Response]) -> AttemptPlan {
    AttemptPlan::new(policy, responses, &mut NoJitter)
}

fn unavailable(after: Duration) -> Response {
    Response::after(after, Code::Unavailable)
}

#[test]
fn the_first_problem_is_reported_in_the_order_of_java() {
    let all_wrong = raw(|settings| {
        settings.total_timeout_us = -1000;
        settings.initial_retry_delay_us = -1000;
        settings.retry_delay_multiplier = 0.0;
        settings.max_retry_delay_us = -1001;
        settings.max_attempts = -1;
        settings.initial_rpc_timeout_us = -1000;
        settings.max_rpc_timeout_us = -1001;
        settings.rpc_timeout_multiplier = 1.0_f64.next_down();
    });
    let mut settings = all_wrong;
    let mut messages = Vec::new();
    let repairs: [fn(&mut RawSettings); 8] = [
        |settings| settings.total_timeout_us = 0,
        |settings| settings.initial_retry_delay_us = -999,
        |settings| settings.retry_delay_multiplier = 1.0,
        |settings| settings.max_retry_delay_us = -999,
        |settings| settings.max_attempts = 0,
        |settings| settings.initial_rpc_timeout_us = -999,
        |settings| settings.max_rpc_timeout_us = -999,
        |settings| settings.rpc_timeout_multiplier = 1.0,
    ];
    for repair in repairs {
        messages.push(settings.validate().unwrap_err().to_string());
        repair(&mut settings);
    }
    assert_eq!(settings.validate(), Ok(()));
    assert_eq!(
        messages,
        [
            "total timeout must not be negative",
            "initial retry delay must not be negative",
            "retry delay multiplier must be at least 1",
            "max retry delay must not be shorter than initial delay",
            "max attempts must be non-negative",
            "initial rpc timeout must not be negative",
            "max rpc timeout must not be shorter than initial timeout",
            "rpc timeout multiplier must be at least 1",
        ]
    );
}

#[test]
fn multipliers_that_are_no_number_pass_as_in_java() {
    for multiplier in [f64::NAN, f64::INFINITY] {
        let settings = raw(|settings| {
            settings.retry_delay_multiplier = multiplier;
            settings.rpc_timeout_multiplier = multiplier;
        });
        assert_eq!(settings.validate(), Ok(()));
    }
    assert!(raw(|settings| settings.rpc_timeout_multiplier = f64::NEG_INFINITY).validate().is_err());
}

#[test]
fn what_is_unset_is_zero_and_what_is_set_is_not() {
    assert_eq!(RawSettings::from(&RetrySettings::default()), RawSettings::default());
    let short = Duration::from_nanos(1);
    let settings = RetrySettings::builder()
        .total_timeout(short)
        .initial_retry_delay(2 * MS)
        .initial_rpc_timeout(short)
        .max_attempts(u32::MAX)
        .jittered(false)
        .build()
        .unwrap();
    let expected = raw(|settings| {
        settings.total_timeout_us = 1;
        settings.initial_retry_delay_us = 2000;
        settings.max_retry_delay_us = i64::MAX;
        settings.initial_rpc_timeout_us = 1;
        settings.max_rpc_timeout_us = i64::MAX;
        settings.max_attempts = i32::MAX;
        settings.jittered = false;
    });
    assert_eq!(RawSettings::from(&settings), expected);
    assert_eq!(RawSettings::from(&RetrySettings::default().bounded_by(Duration::ZERO)).total_timeout_us, 1);
}

#[test]
fn a_logical_timeout_does_not_turn_retries_off() {
    let mut settings = raw(|settings| {
        settings.rpc_timeout_multiplier = 3.0;
        settings.initial_retry_delay_us = 1000;
        settings.max_retry_delay_us = 1000;
    });
    settings.set_logical_timeout(5_000);
    let plan = plan(&Policy::gax_java(&settings, CODES), &[unavailable(MS), unavailable(MS)]);
    assert_eq!(rows(&plan), [(5000, 0, 0, 1000), (3000, 1000, 2000, 3000), (1000, 1000, 4000, 5000)]);
}

#[test]
fn a_method_without_retries_gets_the_total_as_its_deadline() {
    let limited = raw(|settings| {
        settings.total_timeout_us = 60_000_000;
        settings.initial_rpc_timeout_us = 1_000_000;
        settings.max_rpc_timeout_us = 1_000_000;
    });
    let single = RawSettings { max_attempts: 1, ..limited.clone() };
    for policy in [Policy::gax_java(&limited, CodeSet::EMPTY), Policy::gax_java(&single, CODES)] {
        let plan = plan(&policy, &[]);
        assert_eq!(rows(&plan), [(60_000_000, 0, 0, 60_000_000)]);
        assert_eq!(plan.not_attempted(), None);
    }
    let early = plan(&Policy::gax_java(&single, CODES), &[unavailable(MS)]);
    assert_eq!(early.stop_reason(), Some(StopReason::MaxAttempts));
    let unlimited = RawSettings { total_timeout_us: 0, ..limited };
    let plan = plan(&Policy::gax_java(&unlimited, CODES), &[]);
    let [endless] = plan.endless() else { panic!("{plan:?}") };
    assert_eq!((endless.number(), endless.start()), (1, Duration::ZERO));
}

#[test]
fn a_calls_own_settings_are_taken_as_they_are() {
    let none = Policy::gax_java(&RawSettings::simple_timeout_no_retries(60_000_000), CodeSet::EMPTY);
    let own = raw(|settings| {
        settings.total_timeout_us = 60_000_000;
        settings.max_attempts = 1;
        settings.initial_rpc_timeout_us = 7000;
        settings.max_rpc_timeout_us = 7000;
    });
    let hung = plan(&none.clone().with_raw_settings(&own).with_retryable_codes(CODES), &[]);
    assert_eq!(rows(&hung), [(7000, 0, 0, 7000)]);
    assert_eq!(hung.stop_reason(), Some(StopReason::MaxAttempts));
    let codes_only = plan(&none.with_retryable_codes(CODES), &[unavailable(MS)]);
    assert_eq!(codes_only.attempts().len(), 1);
    assert_eq!(codes_only.stop_reason(), Some(StopReason::MaxAttempts));
}

#[test]
fn whether_waits_are_drawn_is_the_clients_choice() {
    let settings = raw(|settings| {
        settings.max_attempts = 2;
        settings.initial_retry_delay_us = 9000;
        settings.max_retry_delay_us = 9000;
    });
    let steady = RawSettings { jittered: false, ..settings.clone() };
    let wait = |client: &RawSettings, codes: CodeSet, call: &RawSettings| {
        let policy = Policy::gax_java(client, codes).with_raw_settings(call).with_retryable_codes(CODES);
        second_after(&policy, Fixed(0))
    };
    assert_eq!(wait(&settings, CODES, &steady), Duration::ZERO);
    assert_eq!(wait(&steady, CODES, &settings), 9 * MS);
    // A method without retries has its switch back at its default.
    assert_eq!(wait(&steady, CodeSet::EMPTY, &steady), Duration::ZERO);
}

#[test]
fn a_call_timeout_replaces_every_attempts_own_and_the_total_does_not_clamp_it() {
    let settings = raw(|settings| {
        settings.total_timeout_us = 10_000;
        settings.initial_rpc_timeout_us = 1000;
        settings.rpc_timeout_multiplier = 2.0;
        settings.max_rpc_timeout_us = 9000;
    });
    let policy = Policy::gax_java(&settings, CODES);
    let longer = policy.clone().with_attempt_timeout(Duration::from_micros(6999));
    assert_eq!(rows(&plan(&longer, &[])), [(6999, 0, 0, 6000), (6999, 0, 6000, 12_000)]);
    let none = plan(&policy.with_attempt_timeout(Duration::ZERO), &[]);
    assert_eq!((none.attempts(), none.stop_reason()), (&[][..], Some(StopReason::TotalTimeout)));
}

#[test]
fn a_caller_deadline_ends_attempts_that_java_would_let_run() {
    let settings = raw(|settings| settings.max_attempts = 3);
    let policy = Policy::gax_java(&settings, CODES);
    let plan = AttemptPlan::within(Some(10 * MS), &policy, &[unavailable(4 * MS)], &mut NoJitter);
    assert_eq!(rows(&plan), [(10_000, 0, 0, 4000), (6000, 0, 4000, 10_000)]);
    assert_eq!(plan.stop_reason(), Some(StopReason::TotalTimeout));
    let late = ByHand::of(&policy, Some(10 * MS), crate::operation::Ready::Late(10 * MS)).stop();
    assert_eq!((late.reason(), late.attempt()), (StopReason::TotalTimeout, None));

    let waiting = RawSettings { initial_retry_delay_us: 6000, max_retry_delay_us: 6000, ..settings };
    let policy = Policy::gax_java(&waiting, CODES);
    for (ended, retried) in [(4 * MS, false), (Duration::from_micros(3999), true)] {
        let mut operation = ByHand::bounded(&policy, 10 * MS);
        operation.send();
        let action = operation.at(ended).fails(Code::Unavailable).next();
        assert_eq!(matches!(action, Action::Wait(_)), retried, "{action:?}");
    }
}

#[test]
fn part_of_a_millisecond_is_no_time() {
    let settings = raw(|settings| {
        settings.max_attempts = 3;
        settings.initial_rpc_timeout_us = 900;
        settings.max_rpc_timeout_us = 900;
    });
    let policy = Policy::gax_java(&settings, CODES);
    let plan_ = plan(&policy, &[unavailable(MS)]);
    assert_eq!(rows(&plan_), [(900, 0, 0, 0)]);
    assert_eq!(plan_.endless().iter().map(|attempt| attempt.number()).collect::<Vec<_>>(), [2]);

    for (total_us, attempts) in [(1_000, 1), (1_999, 1), (2_000, 2), (2_999, 2), (3_000, 3)] {
        let settings = raw(|settings| settings.total_timeout_us = total_us);
        let plan = plan(&Policy::gax_java(&settings, CODES), &[unavailable(MS); 9]);
        assert_eq!(plan.attempts().len(), attempts, "{total_us}");
    }
}

#[test]
fn the_total_is_looked_at_before_the_number_of_attempts() {
    let settings = raw(|settings| {
        settings.total_timeout_us = 10_000;
        settings.max_attempts = 2;
        settings.initial_retry_delay_us = 3_000;
        settings.max_retry_delay_us = 3_000;
    });
    let policy = Policy::gax_java(&settings, CODES);
    for (after, reason) in [(1, StopReason::MaxAttempts), (4, StopReason::TotalTimeout)] {
        let plan = plan(&policy, &[unavailable(after * MS); 2]);
        assert_eq!((plan.attempts().len(), plan.stop_reason()), (2, Some(reason)));
        let refused = plan.not_attempted().unwrap();
        assert_eq!((refused.attempt(), refused.delay()), (3, 3 * MS));
    }
}

#[test]
fn a_late_timer_changes_no_timeout() {
    let settings = raw(|settings| {
        settings.total_timeout_us = 10_000;
        settings.initial_rpc_timeout_us = 8_000;
        settings.max_rpc_timeout_us = 8_000;
    });
    let mut operation = ByHand::begin(&Policy::gax_java(&settings, CODES));
    operation.send();
    operation.at(4 * MS).fails(Code::Unavailable);
    assert_eq!(operation.send().rpc_timeout(), Some(6 * MS));

    let waiting = RawSettings { initial_retry_delay_us: 1_000, max_retry_delay_us: 1_000, ..settings };
    let mut operation = ByHand::begin(&Policy::gax_java(&waiting, CODES));
    operation.send();
    operation.at(4 * MS).fails(Code::Unavailable);
    assert_eq!(operation.at(50 * MS).send().rpc_timeout(), Some(5 * MS));
}

/// How long the wait for the second attempt is.
fn second_after(policy: &Policy, jitter: Fixed) -> Duration {
    let mut operation = ByHand::begin(policy).with_jitter(jitter);
    operation.send();
    match operation.at(MS).fails(Code::Unavailable).next() {
        Action::Wait(Some(until)) => until.saturating_sub(MS),
        Action::Send(second) => second.delay(),
        other => panic!("{other:?}"),
    }
}

/// A source of given numbers.
struct Fixed(u64);

impl JitterSource for Fixed {
    fn next_u64(&mut self) -> u64 {
        self.0
    }
}

#[test]
fn a_drawn_wait_is_whole_milliseconds_below_the_delay() {
    let wait = |delay_us, drawn| {
        let settings = raw(|settings| {
            settings.max_attempts = 2;
            settings.initial_retry_delay_us = delay_us;
            settings.max_retry_delay_us = delay_us;
        });
        let policy = Policy::gax_java(&settings, CODES);
        second_after(&policy, Fixed(drawn))
    };
    assert_eq!(wait(100_000, 0), Duration::ZERO);
    assert_eq!(wait(100_000, u64::MAX), 99 * MS);
    assert_eq!(wait(1_999, u64::MAX), Duration::ZERO);
    assert_eq!(wait(0, u64::MAX), Duration::ZERO);
    let mut seeded = SeededJitter::new(3);
    let mut drawn: Vec<_> = (0..1000).map(|_| wait(4_000, seeded.next_u64())).collect();
    drawn.sort_unstable();
    drawn.dedup();
    assert_eq!(drawn, [Duration::ZERO, MS, 2 * MS, 3 * MS]);
}

#[test]
fn a_wait_beyond_the_clock_ends_the_operation() {
    let settings = raw(|settings| {
        settings.max_attempts = 5;
        settings.initial_retry_delay_us = 9_223_372_036_854_000 + 1_000;
        settings.max_retry_delay_us = i64::MAX;
    });
    let algorithm = Algorithm::new(&settings);
    let next = algorithm.next(0, algorithm.first(), 0, &mut NoJitter);
    assert_eq!(algorithm.limit(1, next, 0, 1), Some(Limit::Overflow));
    let shorter = RawSettings { initial_retry_delay_us: 9_223_372_036_854_000, ..settings };
    let algorithm = Algorithm::new(&shorter);
    let next = algorithm.next(0, algorithm.first(), 0, &mut NoJitter);
    assert_eq!(algorithm.limit(1, next, 0, 1), None);
}

#[test]
fn progress_of_a_stream_restarts_the_counters_and_not_the_clock() {
    let settings = raw(|settings| {
        settings.total_timeout_us = 1_000_000;
        settings.max_attempts = 2;
        settings.initial_retry_delay_us = 10_000;
        settings.retry_delay_multiplier = 2.0;
        settings.max_retry_delay_us = 100_000;
        settings.initial_rpc_timeout_us = 100_000;
        settings.rpc_timeout_multiplier = 2.0;
        settings.max_rpc_timeout_us = 900_000;
    });
    let policy = Policy::gax_java(&settings, CODES);
    let mut operation = ByHand::begin(&policy);
    operation.send();
    let progress = AttemptResult::failed(Code::Unavailable).with_seen(Seen::Messages { resumable: true });
    for (number, now) in (2..).zip([100, 200, 300]) {
        assert_eq!(operation.at(now * MS).ends(progress).wait(), 10 * MS);
        let resumed = operation.at((now + 10) * MS).send();
        assert_eq!((resumed.number(), resumed.rpc_timeout()), (number, Some(200 * MS)));
    }
    let stop = operation.clone().at(400 * MS).fails(Code::Unavailable).stop();
    assert_eq!(stop.reason(), StopReason::MaxAttempts);
    let late = operation.at(990 * MS).ends(progress).stop();
    assert_eq!(late.reason(), StopReason::TotalTimeout);
}

#[test]
fn a_poll_may_land_on_the_total_and_a_retry_may_not() {
    let settings = raw(|settings| {
        settings.total_timeout_us = 10_000;
        settings.initial_retry_delay_us = 3_000;
        settings.max_retry_delay_us = 3_000;
    });
    let polling = Polling::new(&settings);
    for (now_us, made) in [(7_000, true), (7_999, true), (8_000, false)] {
        let poll = polling.not_done(&mut polling.begin(), Duration::from_micros(now_us), &mut NoJitter);
        assert_eq!(poll.is_ok(), made, "{now_us}");
    }
    let retried = plan(&Policy::gax_java(&settings, CODES), &[unavailable(7 * MS)]);
    assert_eq!(retried.stop_reason(), Some(StopReason::TotalTimeout));
}

#[test]
fn a_contexts_timeout_shortens_polls_and_never_lengthens_them() {
    let settings = raw(|settings| {
        settings.max_attempts = 9;
        settings.initial_rpc_timeout_us = 50_000;
        settings.rpc_timeout_multiplier = 1.2;
        settings.max_rpc_timeout_us = 100_000;
    });
    for (call, expected) in [(60_000, [50, 60]), (55, [50, 55]), (0, [50, 60])] {
        let polling = Polling::new(&settings).with_call_timeout(call * MS);
        let second = polling.not_done(&mut polling.begin(), Duration::ZERO, &mut NoJitter).unwrap();
        let timeouts = [polling.at_once().rpc_timeout(), second.rpc_timeout()];
        assert_eq!(timeouts, expected.map(|ms| Some(ms * MS)));
    }
    let own = Polling::new(&raw(|settings| settings.max_attempts = 9)).with_call_timeout(MS);
    assert_eq!(own.at_once().rpc_timeout(), Some(MS));
    assert_eq!(own.call_timeout(), Some(MS));
}

#[test]
fn unset_maxima_do_not_cap() {
    let settings = RetrySettings::builder()
        .initial_retry_delay(MS)
        .retry_delay_multiplier(2.0)
        .initial_rpc_timeout(10 * MS)
        .rpc_timeout_multiplier(2.0)
        .max_attempts(3)
        .build()
        .unwrap();
    let policy = Policy::with_compatibility(&settings, CODES, Compatibility::GaxJava);
    let expected = [(10_000, 0, 0, 10_000), (20_000, 1000, 11_000, 31_000), (40_000, 2000, 33_000, 73_000)];
    assert_eq!(rows(&plan(&policy, &[])), expected);
}

//! The documented rules: when attempts start and how long they may take.

use super::ByHand;
use crate::jitter::{ScriptedJitter, SeededJitter};
use crate::operation::state::State;
use crate::operation::{AttemptResult, End, Operation, Outcome, Seen};
use crate::strategy::{Backoff, BackoffStrategy, Limits};
use crate::{
    Attempt, AttemptPlan, Code, CodeSet, Compatibility, Delivery, NoJitter, Policy, Response, RetrySettings,
    RetrySettingsBuilder, StartedAttempt, StopReason,
};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

type Row = (u32, u128, u128, u128, u128);

fn hanging(settings: &RetrySettings) -> AttemptPlan {
    let codes = CodeSet::from([Code::DeadlineExceeded, Code::Unavailable]);
    AttemptPlan::new(&Policy::new(settings, codes), &[], &mut NoJitter)
}

/// Attempt, RPC timeout, delay, start and end, in milliseconds.
fn rows(plan: &AttemptPlan) -> Vec<Row> {
    plan.attempts()
        .iter()
        .map(|row| {
            let timeout = row.rpc_timeout().unwrap().as_millis();
            (row.number(), timeout, row.delay().as_millis(), row.start().as_millis(), row.end().as_millis())
        })
        .collect()
}

fn growing(rpc: (u32, u32), total: u32) -> RetrySettings {
    RetrySettings::builder()
        .initial_retry_delay(200 * MS)
        .retry_delay_multiplier(2.0)
        .max_retry_delay(500 * MS)
        .initial_rpc_timeout(rpc.0 * MS)
        .rpc_timeout_multiplier(2.0)
        .max_rpc_timeout(rpc.1 * MS)
        .total_timeout(total * MS)
        .build()
        .unwrap()
}

#[test]
fn documented_table_without_retry() {
    let one = RetrySettings::builder().total_timeout(5000 * MS).max_attempts(1).build().unwrap();
    for settings in [one, RetrySettings::logical_timeout(5000 * MS)] {
        let plan = hanging(&settings);
        assert_eq!(rows(&plan), [(1, 5000, 0, 0, 5000)]);
        assert_eq!(plan.not_attempted(), None);
    }
}

#[test]
fn documented_table_of_five_seconds() {
    let plan = hanging(&growing((1500, 3000), 5000));
    assert_eq!(rows(&plan), [(1, 1500, 0, 0, 1500), (2, 3000, 200, 1700, 4700)]);
    let refused = plan.not_attempted().unwrap();
    assert_eq!((refused.attempt(), refused.delay()), (3, 400 * MS));
    assert_eq!(plan.stop_reason(), Some(StopReason::TotalTimeout));
    assert_eq!(plan.end(), 4700 * MS);
}

#[test]
fn documented_table_of_ten_seconds() {
    let plan = hanging(&growing((1500, 3000), 10_000));
    let expected = [(1, 1500, 0, 0, 1500), (2, 3000, 200, 1700, 4700), (3, 4900, 400, 5100, 10_000)];
    assert_eq!(rows(&plan), expected);
    assert_eq!(plan.not_attempted(), None);
}

#[test]
fn documented_table_of_four_seconds() {
    let plan = hanging(&growing((500, 2000), 4000));
    assert_eq!(rows(&plan), [(1, 500, 0, 0, 500), (2, 1000, 200, 700, 1700), (3, 1900, 400, 2100, 4000)]);
}

/// Settings that retry at once, unless the change says otherwise.
fn settings(change: impl FnOnce(RetrySettingsBuilder) -> RetrySettingsBuilder) -> RetrySettings {
    change(RetrySettings::builder().jittered(false).initial_retry_delay(Duration::ZERO)).build().unwrap()
}

fn policy(settings: &RetrySettings) -> Policy {
    Policy::new(settings, CodeSet::from([Code::DeadlineExceeded, Code::Unavailable]))
}

fn refused(times: usize, after: Duration) -> Vec<Response> {
    vec![Response::after(after, Code::Unavailable); times]
}

fn plan(settings: &RetrySettings, responses: &[Response]) -> AttemptPlan {
    AttemptPlan::new(&policy(settings), responses, &mut NoJitter)
}

#[test]
fn without_an_rpc_timeout_an_attempt_may_use_all_that_remains() {
    let total_only = settings(|builder| builder.total_timeout(1000 * MS).rpc_timeout_multiplier(2.0));
    let responses = refused(2, 300 * MS);
    assert_eq!(
        rows(&plan(&total_only, &responses)),
        [(1, 1000, 0, 0, 300), (2, 700, 0, 300, 600), (3, 400, 0, 600, 1000)]
    );
    let capped = settings(|builder| {
        builder.total_timeout(1000 * MS).rpc_timeout_multiplier(2.0).max_rpc_timeout(400 * MS)
    });
    assert_eq!(
        rows(&plan(&capped, &[])),
        [(1, 400, 0, 0, 400), (2, 400, 0, 400, 800), (3, 200, 0, 800, 1000)]
    );
}

#[test]
fn without_a_total_an_attempt_has_its_rpc_timeout_or_none() {
    let growing =
        settings(|builder| builder.max_attempts(3).initial_rpc_timeout(300 * MS).rpc_timeout_multiplier(2.0));
    assert_eq!(
        rows(&plan(&growing, &[])),
        [(1, 300, 0, 0, 300), (2, 600, 0, 300, 900), (3, 1200, 0, 900, 2100)]
    );
    let capped =
        settings(|builder| builder.max_attempts(2).rpc_timeout_multiplier(2.0).max_rpc_timeout(400 * MS));
    assert_eq!(rows(&plan(&capped, &[])), [(1, 400, 0, 0, 400), (2, 400, 0, 400, 800)]);
    let unlimited = policy(&settings(|builder| builder.max_attempts(2).rpc_timeout_multiplier(2.0)));
    let mut operation = ByHand::begin(&unlimited);
    assert_eq!(operation.send().rpc_timeout(), None);
    let second = operation.at(MS).fails(Code::Unavailable).send();
    assert_eq!((second.start(), second.delay(), second.rpc_timeout()), (MS, Duration::ZERO, None));
}

#[test]
fn delays_that_nobody_set_are_the_defaults() {
    let unset = RetrySettings::builder().total_timeout(8000 * MS).build().unwrap();
    for compatibility in [Compatibility::Documented, Compatibility::Grpc] {
        let policy = Policy::with_compatibility(&unset, Code::Unavailable, compatibility);
        let plan = AttemptPlan::new(&policy, &refused(4, Duration::ZERO), &mut NoJitter);
        let delays: Vec<_> = plan.attempts().iter().map(|row| row.delay().as_micros()).collect();
        assert_eq!(delays, [0, 100_000, 130_000, 169_000, 219_700], "{compatibility}");
    }
    let java = Policy::with_compatibility(&unset, Code::Unavailable, Compatibility::GaxJava);
    let plan = AttemptPlan::new(&java, &refused(4, MS), &mut NoJitter);
    assert!(plan.attempts().iter().all(|row| row.delay().is_zero()));
}

/// The attempts of a program that says no more than that a code is retried.
#[test]
fn an_outage_of_eight_seconds_is_no_hot_loop() {
    let unset = RetrySettings::builder().total_timeout(8000 * MS).build().unwrap();
    let plan = AttemptPlan::new(&policy(&unset), &refused(1000, Duration::ZERO), &mut NoJitter);
    // 100 ms x (1 + 1.3 + .. + 1.3^11) is 7.4 s.
    assert_eq!((plan.attempts().len(), plan.stop_reason()), (13, Some(StopReason::TotalTimeout)));
}

#[test]
fn without_any_limit_nothing_is_retried() {
    let plan = plan(&settings(|builder| builder.initial_rpc_timeout(MS)), &[]);
    assert_eq!(rows(&plan), [(1, 1, 0, 0, 1)]);
    assert_eq!(plan.stop_reason(), Some(StopReason::NoLimits));
}

#[test]
fn the_longest_total_is_a_total() {
    let longest = policy(&settings(|builder| builder.total_timeout(Duration::MAX)));
    let mut operation = ByHand::begin(&longest);
    assert!(operation.send().rpc_timeout().is_some());
    assert_eq!(operation.at(MS).fails(Code::Unavailable).send().number(), 2);
    let stop = operation.at(Duration::MAX).fails(Code::Unavailable).stop();
    assert_eq!(stop.reason(), StopReason::TotalTimeout);
}

#[test]
fn delays_grow_to_their_cap_and_without_one_past_any() {
    let delays = |cap: Option<Duration>| {
        let settings = settings(|builder| {
            builder
                .max_attempts(6)
                .initial_retry_delay(100 * MS)
                .retry_delay_multiplier(2.0)
                .max_retry_delay(cap)
        });
        let plan = plan(&settings, &refused(6, MS));
        plan.attempts().iter().map(|row| row.delay().as_millis()).collect::<Vec<_>>()
    };
    assert_eq!(delays(Some(500 * MS)), [0, 100, 200, 400, 500, 500]);
    assert_eq!(delays(None), [0, 100, 200, 400, 800, 1600]);
}

/// Attempts of 1 s, then capped at 1.5 s, 100 ms apart: what is left after the second, of `total`.
fn second_timeout(total: Duration) -> Duration {
    let settings = settings(|builder| {
        builder
            .initial_retry_delay(100 * MS)
            .retry_delay_multiplier(1.0)
            .initial_rpc_timeout(1000 * MS)
            .rpc_timeout_multiplier(2.0)
            .max_rpc_timeout(1500 * MS)
            .total_timeout(total)
    });
    plan(&settings, &[]).attempts()[1].rpc_timeout().unwrap()
}

#[test]
fn crumbs_are_what_no_first_attempt_would_fit_into() {
    // The second attempt starts at 1100; 1500 and the next delay later it is 2700.
    assert_eq!(second_timeout(3700 * MS), 1500 * MS);
    let crumbs = Duration::from_nanos(3_699_999_999);
    assert_eq!(second_timeout(crumbs), Duration::from_nanos(2_599_999_999));
    assert_eq!(second_timeout(2000 * MS), 900 * MS);
}

#[test]
fn growth_that_the_cap_does_not_cut_leaves_crumbs() {
    let settings = |multiplier| {
        settings(|builder| {
            builder
                .initial_rpc_timeout(1000 * MS)
                .rpc_timeout_multiplier(multiplier)
                .max_rpc_timeout(2000 * MS)
                .total_timeout(3500 * MS)
        })
    };
    assert_eq!(
        rows(&plan(&settings(2.0), &[])),
        [(1, 1000, 0, 0, 1000), (2, 2000, 0, 1000, 3000), (3, 500, 0, 3000, 3500)]
    );
    let timeouts: Vec<_> = rows(&plan(&settings(1.0), &[])).iter().map(|row| row.1).collect();
    assert_eq!(timeouts, [1000, 1000, 1000, 500]);
}

#[test]
fn an_attempt_starts_before_the_total_or_not_at_all() {
    let total = 1000 * MS;
    let policy = policy(&settings(|builder| {
        builder.total_timeout(total).initial_retry_delay(200 * MS).initial_rpc_timeout(1000 * MS)
    }));
    let just_before = |moment: Duration| moment.saturating_sub(Duration::from_nanos(1));
    let failed_at = |moment| {
        let mut operation = ByHand::begin(&policy);
        operation.send();
        operation.at(moment).fails(Code::Unavailable);
        operation
    };
    let refused = failed_at(800 * MS).stop();
    assert_eq!(refused.reason(), StopReason::TotalTimeout);
    assert_eq!(refused.not_attempted().unwrap().delay(), 200 * MS);
    let mut operation = failed_at(just_before(800 * MS));
    assert_eq!(operation.wait(), 200 * MS);
    let second = operation.at(just_before(total)).send();
    assert_eq!((second.number(), second.rpc_timeout()), (2, Some(Duration::from_nanos(1))));
    // Here the time was spent before any attempt could be planned.
    assert_eq!(failed_at(total).stop().not_attempted(), None);
}

#[test]
fn a_late_timer_costs_the_attempt_its_time() {
    let policy = policy(&settings(|builder| {
        builder.total_timeout(1000 * MS).initial_retry_delay(200 * MS).initial_rpc_timeout(600 * MS)
    }));
    let mut operation = ByHand::begin(&policy);
    assert_eq!(operation.send().rpc_timeout(), Some(600 * MS));
    operation.at(100 * MS).fails(Code::Unavailable);
    for (now, left) in [(300, 600), (700, 300)] {
        assert_eq!(operation.clone().at(now * MS).send().rpc_timeout(), Some(left * MS));
    }
    let late = operation.at(1000 * MS).stop();
    assert_eq!(late.reason(), StopReason::TotalTimeout);
}

#[test]
fn the_total_is_looked_at_before_the_number_of_attempts() {
    let settings =
        settings(|builder| builder.total_timeout(1000 * MS).max_attempts(2).initial_retry_delay(200 * MS));
    for (after, reason) in [(250, StopReason::MaxAttempts), (350, StopReason::TotalTimeout)] {
        let plan = plan(&settings, &refused(2, after * MS));
        assert_eq!((plan.attempts().len(), plan.stop_reason()), (2, Some(reason)));
    }
    let single = plan(&settings.to_builder().max_attempts(1).build().unwrap(), &refused(1, 900 * MS));
    assert_eq!(single.stop_reason(), Some(StopReason::MaxAttempts));
    assert_eq!(single.not_attempted(), None);
}

#[test]
fn parts_of_a_millisecond_count() {
    let us = Duration::from_micros;
    let settings = settings(|builder| builder.total_timeout(us(999)).initial_rpc_timeout(us(400)));
    let plan = plan(&settings, &[]);
    let timeouts: Vec<_> = plan.attempts().iter().map(|row| row.rpc_timeout().unwrap()).collect();
    assert_eq!(timeouts, [us(400), us(400), us(199)]);
    assert_eq!(plan.end(), us(999));
}

#[test]
fn a_success_or_a_final_code_looks_at_no_limit() {
    let policy = policy(&settings(|builder| builder.total_timeout(10 * MS)));
    let mut operation = ByHand::begin(&policy);
    operation.send();
    operation.at(20 * MS);
    assert_eq!(operation.clone().fails(Code::Ok).finish(), End::Reply(1));
    let internal = operation.fails(Code::Internal).stop();
    assert_eq!((internal.reason(), internal.not_attempted()), (StopReason::NonRetryable, None));
}

#[test]
fn a_drawn_wait_is_from_one_millisecond_to_the_delay() {
    let settings = RetrySettings::builder().max_attempts(2).initial_retry_delay(3 * MS).build().unwrap();
    let policy = policy(&settings);
    let mut source = SeededJitter::new(5);
    let mut waits: Vec<_> = (0..2000)
        .map(|_| {
            let mut operation = ByHand::begin(&policy).with_jitter(&mut source);
            operation.send();
            operation.at(MS).fails(Code::Unavailable).wait()
        })
        .collect();
    waits.sort_unstable();
    let (least, most) = (waits[0], waits[1999]);
    assert!(least >= MS && least < MS + MS / 100, "{least:?}");
    assert!(most <= 3 * MS && most > Duration::from_micros(2990), "{most:?}");
}

#[test]
fn messages_of_a_stream_commit_it_or_begin_anew() {
    let settings = settings(|builder| {
        builder
            .total_timeout(10_000 * MS)
            .max_attempts(2)
            .initial_retry_delay(100 * MS)
            .retry_delay_multiplier(2.0)
            .initial_rpc_timeout(1000 * MS)
            .rpc_timeout_multiplier(2.0)
    });
    let policy = policy(&settings);
    let broken = |resumable| AttemptResult::failed(Code::Unavailable).with_seen(Seen::Messages { resumable });
    let mut operation = ByHand::begin(&policy);
    operation.send();
    let committed = operation.clone().at(MS).ends(broken(false)).stop();
    assert_eq!((committed.reason(), committed.not_attempted()), (StopReason::Committed, None));
    let mut now = MS;
    for number in 2..5 {
        assert_eq!(operation.at(now).ends(broken(true)).wait(), 100 * MS);
        now += 100 * MS;
        let resumed = operation.at(now).send();
        assert_eq!((resumed.number(), resumed.rpc_timeout()), (number, Some(2000 * MS)));
    }
    assert_eq!(operation.fails(Code::Unavailable).stop().reason(), StopReason::MaxAttempts);
}

#[test]
fn a_callers_time_bounds_an_operation() {
    let settings = settings(|builder| builder.max_attempts(9).initial_rpc_timeout(400 * MS));
    let policy = policy(&settings);
    let plan = AttemptPlan::within(Some(700 * MS), &policy, &[], &mut NoJitter);
    assert_eq!(rows(&plan), [(1, 400, 0, 0, 400), (2, 300, 0, 400, 700)]);
    let plan = AttemptPlan::within(Some(Duration::ZERO), &policy, &[], &mut NoJitter);
    assert_eq!((plan.attempts().len(), plan.stop_reason()), (0, Some(StopReason::TotalTimeout)));
}

#[test]
fn a_call_brings_its_own_settings_codes_and_timeout() {
    let method = policy(&settings(|builder| builder.total_timeout(1000 * MS)));
    let own = settings(|builder| builder.total_timeout(900 * MS).initial_rpc_timeout(100 * MS));
    let call = method
        .with_retry_settings(&own)
        .with_retryable_codes(Code::DeadlineExceeded)
        .with_attempt_timeout(500 * MS);
    assert_eq!(call.retryable_codes(), CodeSet::from(Code::DeadlineExceeded));
    let plan = AttemptPlan::new(&call, &[], &mut NoJitter);
    assert_eq!(rows(&plan), [(1, 500, 0, 0, 500), (2, 400, 0, 500, 900)]);
}

#[test]
fn an_operation_and_its_facts_are_small() {
    if cfg!(target_pointer_width = "64") {
        assert_eq!(size_of::<Operation>(), 16);
        assert_eq!(size_of::<AttemptResult>(), 32);
        assert_eq!((size_of::<StartedAttempt>(), size_of::<Attempt>()), (32, 40));
        assert!(size_of::<State>() <= 208, "{}", size_of::<State>());
    }
}

/// A stream may take all that is left; by gax-java's rules its RPC timeout bounds the whole of it.
#[test]
fn streams_have_no_timeout_of_their_own() {
    let first = |policy: &Policy| ByHand::begin(policy).send().rpc_timeout();
    let growing = growing((1500, 3000), 5000);
    for (rules, timeout) in
        [(Compatibility::Documented, 5000), (Compatibility::Grpc, 5000), (Compatibility::GaxJava, 1500)]
    {
        let policy = Policy::with_compatibility(&growing, Code::Unavailable, rules).without_rpc_timeouts();
        assert_eq!(first(&policy), Some(timeout * MS), "{rules}");
    }
    for rules in [Compatibility::Documented, Compatibility::Grpc] {
        let policy = Policy::with_compatibility(&growing, Code::Unavailable, rules);
        let own = policy.with_attempt_timeout(7 * MS);
        assert_eq!(first(&own), Some(7 * MS), "{rules}");
        assert_eq!(first(&own.without_rpc_timeouts()), Some(5000 * MS), "{rules}");
    }
    let strategy = BackoffStrategy::new(Backoff::exponential(MS, 1.0, MS), Limits::none());
    let strategy = Policy::from_strategy(&strategy, Code::Unavailable).with_attempt_timeout(7 * MS);
    assert_eq!(first(&strategy), Some(7 * MS));
    assert_eq!(first(&strategy.without_rpc_timeouts()), None);
    let second = growing.to_builder().initial_rpc_timeout(None).build().unwrap();
    let mut operation = ByHand::begin(&Policy::new(&second, Code::Unavailable).without_rpc_timeouts());
    assert_eq!(operation.send().rpc_timeout(), Some(5000 * MS));
    assert_eq!(operation.fails(Code::Unavailable).until(200 * MS), ["200 retry 2"]);
    assert_eq!(operation.wait(), 4800 * MS);
}

/// Whatever the server does after the attempt's deadline, even on it, comes too late.
#[test]
fn a_response_that_comes_too_late_is_none() {
    let settings = settings(|builder| builder.total_timeout(100 * MS).initial_rpc_timeout(40 * MS));
    for (after, attempts, reason) in [(39, 1, None), (40, 3, Some(StopReason::TotalTimeout))] {
        let plan = plan(&settings, &[Response::after(after * MS, Code::Ok); 3]);
        assert_eq!((plan.attempts().len(), plan.stop_reason()), (attempts, reason));
        let code = if reason.is_none() { Code::Ok } else { Code::DeadlineExceeded };
        assert_eq!(plan.attempts()[0].code(), code);
    }
}

#[test]
fn facts_can_be_read_back() {
    let result = AttemptResult::failed(Code::Aborted);
    assert_eq!((result.code(), result.outcome()), (Code::Aborted, Outcome::Failed(Code::Aborted)));
    assert_eq!(result.delivery(), Delivery::Unknown);
    assert_eq!(result.with_delivery(Delivery::NotSent).delivery(), Delivery::NotSent);
    for reply in [
        AttemptResult::done(),
        AttemptResult::not_done(crate::operation::Next::Later),
        AttemptResult::failed(Code::Ok),
    ] {
        assert_eq!(reply.code(), Code::Ok);
    }
    let mut operation = ByHand::begin(&policy(&settings(|builder| builder.total_timeout(9 * MS))));
    let first = operation.send();
    assert_eq!(
        (first.rpc_timeout(), first.with_rpc_timeout(4 * MS).rpc_timeout()),
        (Some(9 * MS), Some(4 * MS))
    );
}

/// Whenever the driver comes to it.
#[test]
fn an_attempt_without_a_delay_starts_when_the_one_before_ended() {
    let at_once = RetrySettings::builder().initial_retry_delay(Duration::ZERO).max_attempts(3);
    let mut operation = ByHand::begin(&Policy::new(&at_once.build().unwrap(), Code::Unavailable));
    operation.send();
    operation.at(10 * MS).fails(Code::Unavailable);
    let second = operation.at(15 * MS).send();
    assert_eq!((second.number(), second.delay(), second.start()), (2, Duration::ZERO, 10 * MS));
}

/// By gax-java's rules whether waits are drawn at random stays as in the client, whatever a call's settings say.
#[test]
fn a_calls_settings_keep_the_clients_rules() {
    for (rules, waits) in [(Compatibility::Documented, 1), (Compatibility::GaxJava, 100)] {
        let steady =
            settings(|builder| builder.initial_retry_delay(100 * MS).max_attempts(3).jittered(false));
        let policy = Policy::with_compatibility(&steady, Code::Unavailable, rules);
        let call = policy.with_retry_settings(&steady.to_builder().jittered(true).build().unwrap());
        let mut operation = ByHand::begin(&call).with_jitter(ScriptedJitter::new([0.0]));
        operation.send();
        assert_eq!(operation.fails(Code::Unavailable).wait(), waits * MS, "{rules}");
    }
}

//! Rules that hold for every operation, whatever the settings, the server and the timers do.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    clippy::float_cmp,
    reason = "the expected delays are worked out as the algorithm does it"
)]

use gax_retry::gax_java::{Polling, RawSettings};
use gax_retry::jitter::{JitterSource, SeededJitter};
use gax_retry::operation::{Action, AttemptResult, End, Operation, Ready, Seen, World};
use gax_retry::{
    AttemptPlan, Code, CodeSet, Compatibility, NoJitter, Policy, Response, RetrySettings, ServerDelay,
    StopReason,
};
use proptest::prelude::*;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);
const CODES: CodeSet = CodeSet::EMPTY.with(Code::DeadlineExceeded).with(Code::Unavailable);

/// From nothing over parts of a millisecond to two hundred years; often whole milliseconds.
fn durations() -> impl Strategy<Value = Duration> {
    prop_oneof![
        1 => Just(Duration::ZERO),
        2 => (0..2_000_000_u64).prop_map(Duration::from_nanos),
        4 => (0..200_u64).prop_map(Duration::from_millis),
        4 => (0..20_000_u64).prop_map(Duration::from_millis),
        2 => (0..10_000_000_000_u64).prop_map(Duration::from_nanos),
        1 => (0..200 * 31_557_600_u64).prop_map(Duration::from_secs),
    ]
}

fn set_durations() -> impl Strategy<Value = Duration> {
    durations().prop_filter("zero is not a setting", |duration| !duration.is_zero())
}

fn multipliers() -> impl Strategy<Value = f64> {
    prop_oneof![
        3 => Just(1.0),
        3 => Just(2.0),
        3 => 1.0..4.0,
        1 => Just(1.0_f64.next_up()),
        1 => Just(f64::MAX),
    ]
}

/// A value and a cap that is not below it.
fn capped(value: impl Strategy<Value = Duration>) -> impl Strategy<Value = (Duration, Option<Duration>)> {
    (value, proptest::option::of(durations()))
        .prop_map(|(value, more)| (value, more.map(|more| value.saturating_add(more))))
}

prop_compose! {
    fn settings()(
        total in proptest::option::weighted(0.8, set_durations()),
        (delay, max_delay) in capped(durations()),
        has_delay in proptest::bool::weighted(0.8),
        delay_multiplier in proptest::option::weighted(0.8, multipliers()),
        max_attempts in proptest::option::weighted(0.4, 1_u32..8),
        jittered: bool,
        rpc in proptest::option::weighted(0.8, capped(set_durations())),
        only_cap in proptest::option::weighted(0.3, set_durations()),
        rpc_multiplier in multipliers(),
    ) -> RetrySettings {
        RetrySettings::builder()
            .total_timeout(total)
            .initial_retry_delay(Some(delay).filter(|_| has_delay))
            .retry_delay_multiplier(delay_multiplier)
            .max_retry_delay(max_delay)
            .max_attempts(max_attempts)
            .jittered(jittered)
            .initial_rpc_timeout(rpc.map(|(initial, _)| initial))
            .rpc_timeout_multiplier(rpc_multiplier)
            .max_rpc_timeout(rpc.map_or(only_cap, |(_, cap)| cap))
            .build()
            .expect("made to be valid")
    }
}

/// One attempt as the server and the timers have it.
#[derive(Debug, Clone)]
struct Turn {
    replies_after: Option<Duration>,
    code: Code,
    timer_late: Duration,
}

prop_compose! {
    fn turn()(
        replies_after in proptest::option::weighted(0.6, durations()),
        code in prop_oneof![
            12 => Just(Code::Unavailable),
            4 => Just(Code::DeadlineExceeded),
            1 => Just(Code::Internal),
            1 => Just(Code::Ok),
        ],
        timer_late in prop_oneof![3 => Just(Duration::ZERO), 1 => durations()],
    ) -> Turn {
        Turn { replies_after, code, timer_late }
    }
}

fn turns() -> impl Strategy<Value = Vec<Turn>> {
    proptest::collection::vec(turn(), 1..12)
}

/// An attempt that was made.
#[derive(Debug, Clone, PartialEq)]
struct Made {
    wait: Duration,
    ended_before: Duration,
    start: Duration,
    timeout: Option<Duration>,
    end: Duration,
}

#[derive(Debug, Clone, PartialEq, Default)]
struct Run {
    attempts: Vec<Made>,
    stop: Option<StopReason>,
    /// When it was too late for an attempt that had been planned.
    refused_start: Option<Duration>,
}

struct Clock<'a> {
    now: Duration,
    jitter: &'a mut dyn JitterSource,
}

impl World for Clock<'_> {
    fn now(&mut self) -> Duration {
        self.now
    }

    fn jitter(&mut self) -> &mut dyn JitterSource {
        self.jitter
    }
}

/// Runs an operation until it stops, hangs, or there are no turns left.
fn run(policy: &Policy, bound: Option<Duration>, turns: &[Turn], jitter: &mut dyn JitterSource) -> Run {
    let mut clock = Clock { now: Duration::ZERO, jitter };
    let (mut operation, mut action) = Operation::begin(policy, bound, Ready::Now);
    let mut run = Run::default();
    let mut turns = turns.iter();
    let (mut ended_before, mut late) = (Duration::ZERO, Duration::ZERO);
    let mut waited = None;
    loop {
        let attempt = match action {
            Action::Send(attempt) => attempt,
            Action::Wait(Some(until)) => {
                clock.now = until.saturating_add(late);
                waited = Some(clock.now);
                action = operation.next(policy, &mut clock);
                continue;
            }
            Action::Finish(End::Failure(stop)) => {
                run.stop = Some(stop.reason());
                run.refused_start = waited;
                return run;
            }
            other => unreachable!("{other:?}, although nothing is in flight"),
        };
        waited = None;
        let Some(turn) = turns.next() else { return run };
        late = turn.timer_late;
        let deadline = match operation.next(policy, &mut clock) {
            Action::Wait(deadline) => deadline,
            // Its deadline has passed.
            Action::Expire(_) => Some(clock.now),
            other => unreachable!("{other:?}, although an attempt is in flight"),
        };
        let ends = turn.replies_after.map(|after| attempt.start().saturating_add(after));
        let (end, code) = match (ends, deadline) {
            (Some(ends), deadline) if deadline.is_none_or(|deadline| ends < deadline) => (ends, turn.code),
            (_, Some(deadline)) => (deadline, Code::DeadlineExceeded),
            (_, None) => return run,
        };
        clock.now = end;
        let has_reply = operation.ended(policy, attempt.number(), AttemptResult::failed(code), &mut clock);
        run.attempts.push(Made {
            wait: attempt.delay(),
            ended_before: std::mem::replace(&mut ended_before, end),
            start: attempt.start(),
            timeout: attempt.rpc_timeout(),
            end,
        });
        if has_reply {
            return run;
        }
        action = operation.next(policy, &mut clock);
    }
}

/// The delays that back-off gives the attempts, before jitter: in nanoseconds, rounded.
fn delays(settings: &RetrySettings) -> impl Iterator<Item = Duration> {
    let nanos = |duration: Duration| u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX - 1);
    let own = settings.retry_delays(Compatibility::Documented);
    let (multiplier, max) = (own.multiplier(), own.max().map_or(u64::MAX - 1, nanos));
    let next = move |delay: &u64| {
        let grown = if multiplier == 1.0 { *delay } else { (*delay as f64 * multiplier + 0.5) as u64 };
        Some(grown.min(max))
    };
    let first = Some(nanos(own.initial()));
    std::iter::once(0).chain(std::iter::successors(first, next)).map(Duration::from_nanos)
}

/// By gax-java's rules: in milliseconds, cut.
fn delays_of_java(settings: &RetrySettings) -> impl Iterator<Item = Duration> {
    let millis = |duration: Duration| i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
    let own = settings.retry_delays(Compatibility::GaxJava);
    let (multiplier, max) = (own.multiplier(), own.max().map_or(i64::MAX / 1000, millis));
    let next = move |delay: &i64| Some(((multiplier * *delay as f64) as i64).min(max));
    let first = Some(millis(own.initial()));
    std::iter::once(0)
        .chain(std::iter::successors(first, next))
        .map(|delay| Duration::from_millis(delay.unsigned_abs()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn documented(settings in settings(), turns in turns(), seed: u64) {
        let run = run(&Policy::new(&settings, CODES), None, &turns, &mut SeededJitter::new(seed));
        let total = settings.total_timeout().unwrap_or(Duration::MAX);
        let most = settings.max_attempts().unwrap_or(u32::MAX);
        prop_assert!(run.attempts.len() <= most as usize);
        prop_assert!(run.refused_start.is_none_or(|start| start >= total));
        for (index, (made, delay)) in run.attempts.iter().zip(delays(&settings)).enumerate() {
            prop_assert!(made.start < total, "starts at or after the total: {made:?}");
            let remaining = total.saturating_sub(made.start);
            if settings.total_timeout().is_some() {
                let timeout = made.timeout.expect("a total gives every attempt a deadline");
                prop_assert!(timeout <= remaining, "runs beyond the total: {made:?}");
                prop_assert!(made.end <= total);
                let cap = settings.max_rpc_timeout().unwrap_or(Duration::MAX);
                prop_assert!(timeout <= cap || timeout == remaining, "beyond its cap: {made:?}");
                if let Some(initial) = settings.initial_rpc_timeout() {
                    prop_assert!(timeout >= initial.min(remaining), "less than there was: {made:?}");
                }
            }
            if index == 0 {
                prop_assert_eq!((made.wait, made.start), (Duration::ZERO, Duration::ZERO));
                continue;
            }
            prop_assert!(settings.retry_delays(Compatibility::Documented).max().is_none_or(|cap| made.wait <= cap));
            prop_assert!(made.wait <= delay, "the cap holds after jitter: {made:?}, {delay:?}");
            prop_assert!(settings.jittered() || made.wait == delay);
            prop_assert!(made.wait >= MS.min(delay) || delay < MS);
            prop_assert!(made.ended_before + made.wait < total, "nobody sleeps for nothing: {made:?}");
        }
        if settings.total_timeout().is_none() && settings.max_attempts().is_none() {
            prop_assert!(run.attempts.len() <= 1);
        }
    }

    #[test]
    fn gax_java(settings in settings(), turns in turns(), seed: u64) {
        let policy = Policy::with_compatibility(&settings, CODES, Compatibility::GaxJava);
        let run = run(&policy, None, &turns, &mut SeededJitter::new(seed));
        let most = settings.max_attempts().unwrap_or(u32::MAX);
        prop_assert!(run.attempts.len() <= most as usize);
        prop_assert_eq!(run.refused_start, None);
        for (made, delay) in run.attempts.iter().zip(delays_of_java(&settings)).skip(1) {
            prop_assert_eq!(made.wait.subsec_nanos() % 1_000_000, 0);
            prop_assert_eq!(made.timeout.unwrap_or_default().subsec_nanos() % 1_000_000, 0);
            let drawn = settings.jittered() && !delay.is_zero();
            let within = if drawn { made.wait < delay } else { made.wait == delay };
            prop_assert!(within, "{made:?}, {delay:?}");
            prop_assert!(settings.max_retry_delay().is_none_or(|cap| made.wait <= cap));
            prop_assert!(made.timeout <= Some(settings.max_rpc_timeout().unwrap_or(Duration::MAX)));
            if let Some(total) = settings.total_timeout() {
                // The settings were cut to microseconds.
                let planned = made.ended_before + made.wait;
                prop_assert!(planned + MS <= total, "less than 1 ms was left: {made:?}");
                prop_assert!(made.timeout.unwrap_or_default() <= total.saturating_sub(planned));
            }
        }
    }

    #[test]
    fn a_caller_deadline_holds_by_any_rules(
        settings in settings(),
        turns in turns(),
        bound in durations(),
        java: bool,
    ) {
        let rules = if java { Compatibility::GaxJava } else { Compatibility::Documented };
        let policy = Policy::with_compatibility(&settings, CODES, rules);
        for made in run(&policy, Some(bound), &turns, &mut NoJitter).attempts {
            prop_assert!(made.start < bound && made.end <= bound, "{:?}", made);
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_plan(settings in settings(), turns in turns(), seed: u64, java: bool) {
        let rules = if java { Compatibility::GaxJava } else { Compatibility::Documented };
        let policy = Policy::with_compatibility(&settings, CODES, rules);
        let response = |turn: &Turn| turn.replies_after.map(|after| Response::after(after, turn.code));
        let responses: Vec<_> = turns.iter().map(|turn| response(turn).unwrap_or(Response::none())).collect();
        let plan = || AttemptPlan::new(&policy, &responses, &mut SeededJitter::new(seed));
        prop_assert_eq!(plan(), plan());
    }

    #[test]
    fn a_wait_that_ends_on_the_total_is_refused(settings in settings(), delay in durations()) {
        let Some(total) = settings.total_timeout().filter(|total| *total > delay) else { return Ok(()) };
        let settings = settings
            .to_builder()
            .max_attempts(None)
            .initial_retry_delay(delay)
            .max_retry_delay(None)
            .jittered(false)
            .build()
            .expect("made to be valid");
        let ended = |rules, at| {
            let policy = Policy::with_compatibility(&settings, CODES, rules);
            let mut clock = Clock { now: Duration::ZERO, jitter: &mut NoJitter };
            let (mut operation, first) = Operation::begin(&policy, None, Ready::Now);
            assert!(matches!(first, Action::Send(_)), "the total is not zero: {first:?}");
            clock.now = at;
            operation.ended(&policy, 1, AttemptResult::failed(Code::Unavailable), &mut clock);
            operation.next(&policy, &mut clock)
        };
        let boundary = total.saturating_sub(delay);
        for rules in [Compatibility::Documented, Compatibility::GaxJava] {
            if rules == Compatibility::GaxJava && (delay < MS || delay.subsec_nanos() % 1_000_000 != 0) {
                continue;
            }
            let on_it = ended(rules, boundary);
            let Action::Finish(End::Failure(stop)) = on_it else { panic!("{rules} {on_it:?}") };
            prop_assert_eq!(stop.reason(), StopReason::TotalTimeout);
        }
        let before = ended(Compatibility::Documented, boundary.saturating_sub(Duration::from_nanos(1)));
        prop_assert!(matches!(before, Action::Wait(_) | Action::Send(_)), "{before:?}");
    }
}

fn any_duration() -> impl Strategy<Value = Duration> {
    prop_oneof![
        Just(Duration::MAX),
        Just(Duration::ZERO),
        (any::<u64>(), 0..1_000_000_000_u32).prop_map(|(secs, nanos)| Duration::new(secs, nanos)),
        durations(),
    ]
}

fn any_number() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>(),
        Just(f64::NAN),
        Just(f64::INFINITY),
        Just(f64::NEG_INFINITY),
        Just(-0.0),
        0.5..3.0
    ]
}

fn any_us() -> impl Strategy<Value = i64> {
    prop_oneof![any::<i64>(), Just(i64::MAX), Just(i64::MIN), -2000_i64..2000, 0..100_000_000_i64]
}

prop_compose! {
    fn raw_settings()(
        us in proptest::array::uniform5(any_us()),
        multipliers in proptest::array::uniform2(any_number()),
        max_attempts in prop_oneof![any::<i32>(), -2..6],
        jittered: bool,
    ) -> RawSettings {
        let mut settings = RawSettings::default();
        [
            settings.total_timeout_us,
            settings.initial_retry_delay_us,
            settings.max_retry_delay_us,
            settings.initial_rpc_timeout_us,
            settings.max_rpc_timeout_us,
        ] = us;
        [settings.retry_delay_multiplier, settings.rpc_timeout_multiplier] = multipliers;
        settings.max_attempts = max_attempts;
        settings.jittered = jittered;
        settings
    }
}

/// Calls everything in an order that makes no sense, at times that make none.
fn misuse(policy: &Policy, bound: Option<Duration>, times: &[Duration], jitter: &mut dyn JitterSource) {
    let mut clock = Clock { now: Duration::ZERO, jitter };
    let late = times.first().copied().unwrap_or_default();
    for ready in [Ready::Now, Ready::Late(late), Ready::Never(StopReason::Cancelled)] {
        let (mut operation, mut action) = Operation::begin(policy, bound, ready);
        for (index, now) in times.iter().enumerate() {
            clock.now = *now;
            let number = match action {
                Action::Send(attempt) => attempt.number(),
                _ => 1,
            };
            let _wake_at = operation.wake_at(policy);
            let asked = match index % 3 {
                0 => ServerDelay::None,
                1 => ServerDelay::AtLeast(*now),
                _ => ServerDelay::Exactly(*now),
            };
            let result = AttemptResult::failed(Code::Unavailable).with_server_delay(asked);
            let seen = if index % 3 == 0 { Seen::Messages { resumable: true } } else { Seen::Nothing };
            operation.progressed(policy, number);
            operation.ended(policy, number, result.with_seen(seen).with_progress(index % 4 == 0), &mut clock);
            action = operation.next(policy, &mut clock);
        }
        operation.cancelled(policy);
        let _last = operation.next(policy, &mut clock);
    }
}

proptest! {
    #[test]
    fn no_input_panics(
        durations in proptest::array::uniform5(proptest::option::of(any_duration())),
        multipliers in proptest::array::uniform2(any_number()),
        max_attempts in proptest::option::of(any::<u32>()),
        times in proptest::collection::vec(any_duration(), 1..6),
        seed: u64,
    ) {
        let [total, delay, max_delay, rpc, max_rpc] = durations;
        let [delay_multiplier, rpc_multiplier] = multipliers;
        let _valid = RetrySettings::builder().retry_delay_multiplier(delay_multiplier).total_timeout(total).build();
        // Unchecked, as generated code writes them.
        let settings = RetrySettings::builder()
                .total_timeout(total)
                .initial_retry_delay(delay)
                .retry_delay_multiplier(delay.map(|_| delay_multiplier))
                .max_retry_delay(max_delay)
                .max_attempts(max_attempts)
                .initial_rpc_timeout(rpc)
                .rpc_timeout_multiplier(rpc_multiplier)
                .max_rpc_timeout(max_rpc).build_unchecked();
        for rules in [Compatibility::Documented, Compatibility::GaxJava, Compatibility::Grpc] {
            let policy = Policy::with_compatibility(&settings, CODES, rules).with_server_delays(true);
            misuse(&policy, None, &times, &mut SeededJitter::new(seed));
            misuse(&policy.with_attempt_timeout(times[0]), Some(times[0]), &times, &mut NoJitter);
        }
    }

    #[test]
    fn no_raw_settings_panic(
        settings in raw_settings(),
        times in proptest::collection::vec(any_duration(), 1..6),
        seed: u64,
    ) {
        let _message = settings.validate().map_err(|error| error.to_string());
        let policy = Policy::gax_java(&settings, CODES).with_server_delays(true);
        misuse(&policy, None, &times, &mut SeededJitter::new(seed));
        misuse(&policy.with_raw_settings(&settings), None, &times, &mut SeededJitter::new(seed));
        let polling = Polling::new(&settings).with_call_timeout(times[0]);
        misuse(&Policy::polling(polling.clone()), None, &times, &mut SeededJitter::new(seed));
        let mut operation = polling.begin();
        let _first = polling.at_once();
        for now in times {
            let _poll = polling.not_done(&mut operation, now, &mut SeededJitter::new(seed));
        }
    }
}

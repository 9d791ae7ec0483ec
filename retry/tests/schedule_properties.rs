//! What holds for every schedule, whatever the settings, the server and the timers do.

use gax_retry::gax_java::{Polling, RawSettings};
use gax_retry::{
    AttemptPlan, Code, CodeSet, Compatibility, Decision, Ending, JitterSource, NoJitter, OperationState,
    Outcome, RetrySettings, Schedule, SeededJitter, StopReason,
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
    answers_after: Option<Duration>,
    code: Code,
    timer_late: Duration,
}

prop_compose! {
    fn turn()(
        answers_after in proptest::option::weighted(0.6, durations()),
        code in prop_oneof![
            12 => Just(Code::Unavailable),
            4 => Just(Code::DeadlineExceeded),
            1 => Just(Code::Internal),
            1 => Just(Code::Ok),
        ],
        timer_late in prop_oneof![3 => Just(Duration::ZERO), 1 => durations()],
    ) -> Turn {
        Turn { answers_after, code, timer_late }
    }
}

fn turns() -> impl Strategy<Value = Vec<Turn>> {
    proptest::collection::vec(turn(), 1..12)
}

/// An attempt that was made.
#[derive(Debug, Clone, PartialEq)]
struct Made {
    /// The delay before jitter, and the wait drawn from it.
    delay: Duration,
    wait: Duration,
    ended_before: Duration,
    start: Duration,
    timeout: Option<Duration>,
    end: Duration,
}

#[derive(Debug, Clone, PartialEq)]
struct Course {
    attempts: Vec<Made>,
    stop: Option<StopReason>,
    refused_start: Option<Duration>,
}

/// Runs an operation until it stops, hangs, or there are no turns left.
fn run(schedule: &Schedule, turns: &[Turn], jitter: &mut impl JitterSource) -> Course {
    let mut state = OperationState::default();
    let mut course = Course { attempts: Vec::new(), stop: None, refused_start: None };
    let (mut delay, mut wait, mut ended_before, mut now) = Default::default();
    for turn in turns {
        let started = match state.start(schedule, now) {
            Ok(started) => started,
            Err(stop) => {
                course.stop = Some(stop.reason());
                course.refused_start = Some(now);
                break;
            }
        };
        let (took, code) = match (turn.answers_after, started.deadline()) {
            (Some(after), Some(deadline)) if after < deadline => (after, turn.code),
            (_, Some(deadline)) => (deadline, Code::DeadlineExceeded),
            (Some(after), None) => (after, turn.code),
            (None, None) => break,
        };
        let end: Duration = now + took;
        course.attempts.push(Made {
            delay,
            wait,
            ended_before,
            start: now,
            timeout: started.rpc_timeout(),
            end,
        });
        match state.ended(schedule, end, Ending::new(code), jitter) {
            Decision::Done => break,
            Decision::Stop(stop) => {
                course.stop = Some(stop.reason());
                break;
            }
            Decision::Retry(retry) => {
                assert_eq!(retry.attempt() as usize, course.attempts.len() + 1);
                (delay, wait, ended_before) = (retry.delay(), retry.wait(), end);
                now = end + wait + turn.timer_late;
            }
        }
    }
    course
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn documented(settings in settings(), turns in turns(), seed: u64) {
        let course = run(&Schedule::new(&settings, CODES), &turns, &mut SeededJitter::new(seed));
        let total = settings.total_timeout().unwrap_or(Duration::MAX);
        let most = settings.max_attempts().unwrap_or(u32::MAX);
        prop_assert!(course.attempts.len() <= most as usize);
        prop_assert!(course.refused_start.is_none_or(|start| start >= total));
        for (index, made) in course.attempts.iter().enumerate() {
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
            let delays = settings.retry_delays(Compatibility::Documented);
            prop_assert!(made.delay >= delays.initial(), "{made:?}");
            prop_assert!(delays.max().is_none_or(|cap| made.delay <= cap));
            prop_assert!(made.wait <= made.delay, "the cap holds after jitter: {made:?}");
            prop_assert!(settings.jittered() || made.wait == made.delay);
            prop_assert!(made.wait >= MS.min(made.delay) || made.delay < MS);
            prop_assert!(made.ended_before + made.wait < total, "nobody sleeps for nothing: {made:?}");
        }
        if settings.total_timeout().is_none() && settings.max_attempts().is_none() {
            prop_assert!(course.attempts.len() <= 1);
        }
    }

    #[test]
    fn gax_java(settings in settings(), turns in turns(), seed: u64) {
        let schedule = Schedule::with_compatibility(&settings, CODES, Compatibility::GaxJava);
        let course = run(&schedule, &turns, &mut SeededJitter::new(seed));
        let most = settings.max_attempts().unwrap_or(u32::MAX);
        prop_assert!(course.attempts.len() <= most as usize);
        prop_assert_eq!(course.refused_start, None);
        for made in course.attempts.iter().skip(1) {
            prop_assert_eq!(made.wait.subsec_nanos() % 1_000_000, 0);
            prop_assert_eq!(made.delay.subsec_nanos() % 1_000_000, 0);
            prop_assert_eq!(made.timeout.unwrap_or_default().subsec_nanos() % 1_000_000, 0);
            let drawn = settings.jittered() && !made.delay.is_zero();
            let within = if drawn { made.wait < made.delay } else { made.wait == made.delay };
            prop_assert!(within, "{made:?}");
            prop_assert!(settings.max_retry_delay().is_none_or(|cap| made.delay <= cap));
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
        let schedule = Schedule::with_compatibility(&settings, CODES, rules).bounded_by(bound);
        for made in run(&schedule, &turns, &mut NoJitter).attempts {
            prop_assert!(made.start < bound && made.end <= bound, "{:?}", made);
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_plan(settings in settings(), turns in turns(), seed: u64, java: bool) {
        let rules = if java { Compatibility::GaxJava } else { Compatibility::Documented };
        let schedule = Schedule::with_compatibility(&settings, CODES, rules);
        let outcomes: Vec<_> = turns
            .iter()
            .map(|turn| turn.answers_after.map_or(Outcome::hangs(), |after| Outcome::answers(after, turn.code)))
            .collect();
        let plan = || AttemptPlan::new(&schedule, &outcomes, &mut SeededJitter::new(seed));
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
            let schedule = Schedule::with_compatibility(&settings, CODES, rules);
            let mut state = OperationState::default();
            state.start(&schedule, Duration::ZERO).expect("the total is not zero");
            state.ended(&schedule, at, Ending::new(Code::Unavailable), &mut NoJitter)
        };
        let boundary = total.saturating_sub(delay);
        for rules in [Compatibility::Documented, Compatibility::GaxJava] {
            if rules == Compatibility::GaxJava && (delay < MS || delay.subsec_nanos() % 1_000_000 != 0) {
                continue;
            }
            let on_it = ended(rules, boundary);
            let Decision::Stop(stop) = on_it else { panic!("{rules} {on_it:?}") };
            prop_assert_eq!(stop.reason(), StopReason::TotalTimeout);
        }
        let before = ended(Compatibility::Documented, boundary.saturating_sub(Duration::from_nanos(1)));
        prop_assert!(matches!(before, Decision::Retry(_)), "{before:?}");
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
fn misuse(schedule: &Schedule, times: &[Duration], jitter: &mut impl JitterSource) {
    let mut state = OperationState::default();
    for (index, now) in times.iter().enumerate() {
        let _result = state.start(schedule, *now).map(gax_retry::Started::deadline);
        let ending = Ending::new(Code::Unavailable);
        let ending = if index % 3 == 0 { ending.after_messages(true) } else { ending };
        let _decision = state.ended(schedule, *now, ending, jitter);
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
        let settings = gax_retry::__private::retry_settings(
            total, delay, delay.map(|_| delay_multiplier), max_delay, max_attempts, true, rpc, rpc_multiplier, max_rpc,
        );
        for rules in [Compatibility::Documented, Compatibility::GaxJava] {
            let schedule = Schedule::with_compatibility(&settings, CODES, rules);
            misuse(&schedule, &times, &mut SeededJitter::new(seed));
            misuse(&schedule.with_attempt_timeout(times[0]).bounded_by(times[0]), &times, &mut NoJitter);
        }
    }

    #[test]
    fn no_raw_settings_panic(
        settings in raw_settings(),
        times in proptest::collection::vec(any_duration(), 1..6),
        seed: u64,
    ) {
        let _message = settings.validate().map_err(|error| error.to_string());
        let schedule = Schedule::gax_java(&settings, CODES);
        misuse(&schedule, &times, &mut SeededJitter::new(seed));
        misuse(&schedule.with_raw_settings(&settings), &times, &mut SeededJitter::new(seed));
        let polling = Polling::new(&settings).with_call_timeout(times[0]);
        let mut operation = polling.begin();
        let _first = polling.at_once();
        for now in times {
            let _poll = polling.not_done(&mut operation, now, &mut SeededJitter::new(seed));
        }
    }
}

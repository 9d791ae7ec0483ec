//! Properties of every strategy, whatever its numbers.

use gax_retry::jitter::SeededJitter;
use gax_retry::strategy::{Backoff, BackoffStrategy, Cap, Jitter, Limits, TimeRule};
use gax_retry::{Attempt, AttemptPlan, Code, Policy, Response};
use proptest::prelude::*;
use std::time::Duration;

const ATTEMPTS: u32 = 30;

fn duration() -> impl Strategy<Value = Duration> {
    (0_u64..200_000_000_000).prop_map(Duration::from_nanos)
}

fn jitter() -> impl Strategy<Value = Jitter> {
    let unit = prop_oneof![Just(Duration::from_millis(1)), Just(Duration::from_micros(1))];
    prop_oneof![
        Just(Jitter::None),
        (unit, 0_u32..2000).prop_map(|(unit, most)| Jitter::Added { unit, most }),
        (0_u32..2000).prop_map(|most| Jitter::AddedRounded { unit: Duration::from_millis(1), most }),
        Just(Jitter::Full),
        Just(Jitter::FullNanos),
        (0.0..1.0_f64).prop_map(|fraction| Jitter::Spread { fraction }),
        Just(Jitter::Compounding),
        Just(Jitter::Window),
    ]
}

fn backoff() -> impl Strategy<Value = Backoff> {
    let multiplier = prop_oneof![1.0..4.0_f64, Just(f64::INFINITY), Just(f64::NAN)];
    let cap = prop_oneof![Just(Cap::BeforeJitter), Just(Cap::AfterJitter)];
    (duration(), multiplier, duration(), cap, jitter(), 0_u32..3).prop_map(
        |(initial, multiplier, max, cap, jitter, first)| {
            Backoff::exponential(initial, multiplier, max)
                .with_cap(cap)
                .with_jitter(jitter)
                .with_first_exponent(first)
        },
    )
}

fn rule() -> impl Strategy<Value = TimeRule> {
    prop_oneof![
        Just(TimeRule::Strict),
        Just(TimeRule::Refuse),
        Just(TimeRule::Clip),
        Just(TimeRule::Check),
        Just(TimeRule::Waits),
    ]
}

fn plan(strategy: &BackoffStrategy, after: Duration, seed: u64) -> AttemptPlan {
    let policy = Policy::from_strategy(strategy, Code::Unavailable);
    let responses = [Response::after(after, Code::Unavailable); ATTEMPTS as usize];
    AttemptPlan::new(&policy, &responses, &mut SeededJitter::new(seed))
}

proptest! {
    #[test]
    fn limits_hold(
        backoff in backoff(),
        limit in duration(),
        rule in rule(),
        most in 1..ATTEMPTS,
        after in duration(),
        seed: u64,
    ) {
        let limits = Limits::none().with_max_attempts(most).with_time(limit, rule);
        let made = plan(&BackoffStrategy::new(backoff, limits), after, seed);
        let attempts = made.attempts();
        prop_assert!(attempts.len() <= usize::try_from(most).unwrap());
        let waits: Duration = attempts.iter().map(Attempt::delay).sum();
        for attempt in attempts.iter().skip(1) {
            let start = attempt.start();
            match rule {
                TimeRule::Strict => prop_assert!(start < limit && attempt.end() <= limit),
                TimeRule::Refuse | TimeRule::Clip => prop_assert!(start <= limit),
                TimeRule::Check => prop_assert!(start < limit),
                _ => prop_assert!(waits <= limit),
            }
        }
    }

    #[test]
    fn a_wait_capped_last_is_never_longer(backoff in backoff(), seed: u64) {
        let backoff = backoff.with_cap(Cap::AfterJitter);
        let longest = backoff.waits(&mut SeededJitter::new(seed)).take(2000).max();
        prop_assert!(longest <= Some(backoff.max()));
    }

    #[test]
    fn the_same_seed_makes_the_same_plan(backoff in backoff(), seed: u64) {
        let strategy = BackoffStrategy::new(backoff, Limits::none().with_max_attempts(ATTEMPTS));
        prop_assert_eq!(plan(&strategy, Duration::ZERO, seed), plan(&strategy, Duration::ZERO, seed));
    }
}

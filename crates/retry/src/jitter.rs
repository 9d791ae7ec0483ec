//! Where random numbers come from. The one file that reads the system's randomness.

#[cfg(feature = "sys-rng")]
#[expect(clippy::disallowed_types, reason = "the system's randomness is read here, and nowhere else")]
use rand::rngs::SysRng;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng as _, SeedableRng as _};
#[cfg(feature = "sys-rng")]
use std::cell::RefCell;

/// A source of uniformly distributed 64-bit numbers, passed to whatever draws jitter.
///
/// Implement it to steer the jitter of a test. [`SeededJitter`] repeats itself for a seed; `ThreadJitter` (feature
/// `sys-rng`, on by default) is for everything else.
pub trait JitterSource {
    /// The next number of the sequence.
    fn next_u64(&mut self) -> u64;

    /// The next number as a fraction in [0, 1), of 53 random bits.
    #[expect(clippy::cast_precision_loss, reason = "53 bits are what an f64 holds")]
    fn next_fraction(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns whether waits are drawn at all: where this is false, every wait is its whole delay. True by
    /// default.
    fn is_random(&self) -> bool {
        true
    }
}

impl<J: JitterSource + ?Sized> JitterSource for &mut J {
    fn next_u64(&mut self) -> u64 {
        (**self).next_u64()
    }

    fn next_fraction(&mut self) -> f64 {
        (**self).next_fraction()
    }

    fn is_random(&self) -> bool {
        (**self).is_random()
    }
}

/// A sequence that is the same for the same seed, on every machine and in every release
/// (xoshiro256++, seeded as that algorithm's authors recommend).
///
/// # Examples
///
/// ```
/// use gax_retry::jitter::{JitterSource, SeededJitter};
///
/// assert_eq!(SeededJitter::new(7).next_u64(), SeededJitter::new(7).next_u64());
/// ```
#[derive(Debug, Clone)]
pub struct SeededJitter(Xoshiro256PlusPlus);

impl SeededJitter {
    /// The sequence that belongs to the seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }
}

impl JitterSource for SeededJitter {
    fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }
}

#[cfg(feature = "sys-rng")]
thread_local! {
    static THREAD: RefCell<Xoshiro256PlusPlus> = RefCell::new(from_system());
}

/// A generator seeded by the system, or, on a system that has no randomness to give, by the random
/// keys that the standard library makes for its hash maps.
#[cfg(feature = "sys-rng")]
fn from_system() -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::try_from_rng(&mut SysRng).unwrap_or_else(|_| {
        use std::hash::{BuildHasher as _, RandomState};
        Xoshiro256PlusPlus::seed_from_u64(RandomState::new().hash_one(0_u8))
    })
}

/// The calling thread's own generator, seeded by the system once a thread. No lock is taken.
///
/// Needs the feature `sys-rng`. A target without a source of randomness, such as wasm32-unknown-unknown, does not build
/// it: use a [`SeededJitter`] there, with a seed from the host. The same seed for all clients would make them retry at the
/// same moments.
#[cfg(feature = "sys-rng")]
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::exhaustive_structs, reason = "written as a value; it will never hold anything")]
pub struct ThreadJitter;

#[cfg(feature = "sys-rng")]
impl JitterSource for ThreadJitter {
    fn next_u64(&mut self) -> u64 {
        THREAD.with_borrow_mut(rand::Rng::next_u64)
    }
}

/// A source that draws nothing, so that a jittered wait is the whole delay.
///
/// For tests and plans that show the worst case.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::exhaustive_structs, reason = "written as a value; it will never hold anything")]
pub struct NoJitter;

impl JitterSource for NoJitter {
    fn next_u64(&mut self) -> u64 {
        u64::MAX
    }

    fn is_random(&self) -> bool {
        false
    }
}

/// A source that draws the fractions it is given, and then the same again from the first.
///
/// For tests that compare waits with those of another library, given the same random draws.
///
/// # Examples
///
/// ```
/// use gax_retry::jitter::{JitterSource, ScriptedJitter};
///
/// let mut source = ScriptedJitter::new([0.25, 0.1]);
/// assert_eq!([source.next_fraction(), source.next_fraction(), source.next_fraction()], [0.25, 0.1, 0.25]);
/// ```
#[derive(Debug, Clone)]
pub struct ScriptedJitter {
    draws: Vec<f64>,
    next: usize,
}

impl ScriptedJitter {
    /// A source of these draws, each from [0, 1): a greater one is treated as the greatest below 1, what is
    /// negative or no number as 0. Without any, every draw is 0.
    #[must_use]
    pub fn new(draws: impl Into<Vec<f64>>) -> Self {
        let mut draws = draws.into();
        for draw in &mut draws {
            *draw = if draw.is_nan() { 0.0 } else { draw.clamp(0.0, 1.0_f64.next_down()) };
        }
        Self { draws, next: 0 }
    }

    /// How many draws were made.
    #[must_use]
    pub fn drawn(&self) -> usize {
        self.next
    }
}

impl JitterSource for ScriptedJitter {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a fraction below 1 times 2^64 fits"
    )]
    fn next_u64(&mut self) -> u64 {
        (self.next_fraction() * (u64::MAX as f64)) as u64
    }

    fn next_fraction(&mut self) -> f64 {
        let place = self.next.checked_rem(self.draws.len()).unwrap_or_default();
        self.next = self.next.saturating_add(1);
        self.draws.get(place).copied().unwrap_or_default()
    }
}

/// A uniform draw from `low..=high`, in one multiplication (the bias is below one in 2^64 / (high - low)).
pub(crate) fn uniform(low: u64, high: u64, source: &mut impl JitterSource) -> u64 {
    let span = u128::from(high.saturating_sub(low)) + 1;
    let drawn = (u128::from(source.next_u64()) * span) >> 64;
    low + u64::try_from(drawn).unwrap_or(u64::MAX)
}

const MILLISECOND: u64 = 1_000_000;

/// A jittered wait for a delay: uniform in [1 ms, delay], or in [0, delay] for a delay below 1 ms.
pub(crate) fn jittered(delay: u64, source: &mut impl JitterSource) -> u64 {
    let low = if delay < MILLISECOND { 0 } else { MILLISECOND };
    uniform(low, delay, source)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A source of given numbers.
    struct Fixed(u64);

    impl JitterSource for Fixed {
        fn next_u64(&mut self) -> u64 {
            self.0
        }
    }

    #[test]
    fn draws_reach_both_ends_and_never_pass_them() {
        assert_eq!(uniform(3, 9, &mut Fixed(0)), 3);
        assert_eq!(uniform(3, 9, &mut Fixed(u64::MAX)), 9);
        assert_eq!(uniform(0, u64::MAX, &mut Fixed(u64::MAX)), u64::MAX);
        assert_eq!(uniform(5, 5, &mut Fixed(u64::MAX)), 5);
    }

    #[test]
    fn a_wait_is_at_least_a_millisecond_unless_the_delay_is_shorter() {
        assert_eq!(jittered(400 * MILLISECOND, &mut Fixed(0)), MILLISECOND);
        assert_eq!(jittered(400 * MILLISECOND, &mut NoJitter), 400 * MILLISECOND);
        assert_eq!(jittered(MILLISECOND - 1, &mut Fixed(0)), 0);
        assert_eq!(jittered(0, &mut NoJitter), 0);
    }

    #[test]
    fn the_draws_are_spread_evenly() {
        const DRAWS: usize = 100_000;
        let mut source = SeededJitter::new(1);
        let mut buckets = [0_usize; 10];
        for _ in 0..DRAWS {
            let drawn = uniform(0, 999, &mut source);
            buckets[usize::try_from(drawn / 100).unwrap()] += 1;
        }
        for count in buckets {
            assert!(count.abs_diff(DRAWS / 10) < DRAWS / 200, "{buckets:?}");
        }
    }

    #[test]
    fn a_seed_gives_the_same_sequence_in_every_release() {
        let mut source = SeededJitter::new(42);
        let first: Vec<u64> = (0..3).map(|_| source.next_u64()).collect();
        assert_eq!(
            first,
            [15_021_278_609_987_233_951, 5_881_210_131_331_364_753, 18_149_643_915_985_481_100]
        );
    }

    #[test]
    fn fractions_stay_below_one() {
        assert_eq!(Fixed(u64::MAX).next_fraction().to_bits(), 1.0_f64.next_down().to_bits());
        assert_eq!(Fixed(1 << 63).next_fraction().to_bits(), 0.5_f64.to_bits());
        assert_eq!(Fixed((1 << 11) - 1).next_fraction().to_bits(), 0);
    }

    #[test]
    fn a_script_is_drawn_to_the_last_bit_and_then_again() {
        fn draw(mut source: impl JitterSource) -> u64 {
            source.next_fraction().to_bits()
        }
        let mut source = ScriptedJitter::new([0.1, 1.0, -3.0, f64::NAN]);
        let drawn: Vec<u64> = (0..5).map(|_| draw(&mut source)).collect();
        assert_eq!(drawn, [0.1, 1.0_f64.next_down(), 0.0, 0.0, 0.1].map(f64::to_bits));
        assert_eq!(source.drawn(), 5);
        assert_eq!(ScriptedJitter::new([]).next_fraction().to_bits(), 0);
        assert_eq!(ScriptedJitter::new([0.5]).next_u64(), 1 << 63);
    }

    #[cfg(feature = "sys-rng")]
    #[test]
    fn two_threads_draw_different_sequences() {
        let here = ThreadJitter.next_u64();
        let there = std::thread::spawn(|| ThreadJitter.next_u64()).join().unwrap();
        assert_ne!(here, there);
    }
}

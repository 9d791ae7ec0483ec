//! Formulas for the wait before a retry.

use crate::jitter::JitterSource;
use crate::nanos::nanos;
use std::time::Duration;

const MILLISECOND: f64 = 1e6;

/// A formula for the wait before a retry: a delay that grows, a random part, a cap.
///
/// The delay before the first retry is `initial`, before each later one the previous one times the multiplier,
/// starting [`with_first_exponent`](Self::with_first_exponent) steps on.
///
/// # Examples
///
/// ```
/// use gax_retry::jitter::ScriptedJitter;
/// use gax_retry::strategy::{Backoff, Cap, Jitter};
/// use std::time::Duration;
///
/// let s = Duration::from_secs;
/// let python =
///     Backoff::exponential(s(1), 2.0, s(60)).with_cap(Cap::BeforeJitter).with_jitter(Jitter::Full);
/// let waits: Vec<_> = python.waits(&mut ScriptedJitter::new([0.5])).take(8).collect();
/// assert_eq!(waits, [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0].map(Duration::from_secs_f64));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use]
pub struct Backoff {
    initial: Duration,
    multiplier: f64,
    first_exponent: u32,
    min: Duration,
    max: Duration,
    cap: Cap,
    jitter: Jitter,
}

/// The value that the maximum bounds: the delay or the wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is one random step, so two sides of it")]
pub enum Cap {
    /// The delay, before the random part: the wait may be longer.
    BeforeJitter,
    /// The wait, after the random part.
    AfterJitter,
}

/// How a wait is drawn around a delay.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Jitter {
    /// Not at all: the wait is the delay.
    None,
    /// The delay and a whole number of units more, from 0 to `most`, each as likely as any other.
    Added {
        /// The unit: a millisecond, as a rule.
        unit: Duration,
        /// The greatest number of them.
        most: u32,
    },
    /// The delay and up to `most` units more, rounded to the nearest: the ends are half as likely.
    AddedRounded {
        /// The unit.
        unit: Duration,
        /// The greatest number of them.
        most: u32,
    },
    /// Anything from nothing to the delay.
    Full,
    /// A whole number of nanoseconds from 1 to the delay, which is kept in whole nanoseconds too.
    FullNanos,
    /// The delay, give or take this fraction of it.
    Spread {
        /// The fraction; 0.25 is a quarter more or less.
        fraction: f64,
    },
    /// From the delay to less than twice the delay. Growth continues from the wait that was drawn, so
    /// that the random part compounds.
    Compounding,
    /// From the delay to less than twice the delay, to the nearest millisecond.
    UpToDouble,
    /// From the delay to the one after it, in whole milliseconds, and in the end from the maximum
    /// divided by the multiplier to the maximum.
    Window,
}

impl Backoff {
    /// Delays from `initial` up to `max`, each the previous one times the multiplier. No random part yet; the cap
    /// comes after it.
    ///
    /// A multiplier that is not a number or is below 1 is treated as 1.
    pub const fn exponential(initial: Duration, multiplier: f64, max: Duration) -> Self {
        let multiplier = if multiplier >= 1.0 { multiplier } else { 1.0 };
        let (cap, jitter) = (Cap::AfterJitter, Jitter::None);
        Self { initial, multiplier, first_exponent: 0, min: Duration::ZERO, max, cap, jitter }
    }

    gax_text::setters! { const self:
        /// The formula with that random part.
        pub with_jitter(jitter: Jitter) => self.jitter = jitter;

        /// The formula with the cap on that side of the random part.
        pub with_cap(cap: Cap) => self.cap = cap;

        /// The formula that has grown so many times before the first retry.
        pub with_first_exponent(exponent: u32) => self.first_exponent = exponent;

        /// The formula with a least wait, whatever is drawn.
        pub with_min(min: Duration) => self.min = min;

        /// The formula with another first delay.
        pub with_initial(initial: Duration) => self.initial = initial;

        /// The formula with another multiplier; a value that is not a number or is below 1 is treated as 1.
        pub with_multiplier(multiplier: f64) => self.multiplier = if multiplier >= 1.0 { multiplier } else { 1.0 };

        /// The formula with another maximum.
        pub with_max(max: Duration) => self.max = max;
    }

    /// The formula with another first delay, whose random part and least wait have changed by the same factor: tenths
    /// of a second instead of seconds have milliseconds by the tenth on top. From a first delay of zero nothing else
    /// changes.
    pub fn scaled_to(self, initial: Duration) -> Self {
        let factor = if self.initial.is_zero() { 1.0 } else { in_nanos(initial) / in_nanos(self.initial) };
        let scaled = |duration| Duration::from_nanos(whole(in_nanos(duration) * factor));
        let jitter = match self.jitter {
            Jitter::Added { unit, most } => Jitter::Added { unit: scaled(unit), most },
            Jitter::AddedRounded { unit, most } => Jitter::AddedRounded { unit: scaled(unit), most },
            jitter => jitter,
        };
        Self { initial, jitter, min: scaled(self.min), ..self }
    }

    gax_text::getters! { const self:
        /// The delay before the first retry, before growth by the first exponent.
        pub initial: Duration = self.initial;

        /// The factor from one delay to the next.
        pub multiplier: f64 = self.multiplier;

        /// The longest delay or wait, as [`cap`](Self::cap) says.
        pub max: Duration = self.max;

        /// How often the delay has grown before the first retry.
        pub first_exponent: u32 = self.first_exponent;

        /// The least wait, whatever is drawn.
        pub min: Duration = self.min;

        /// The side of the random part that the maximum bounds.
        pub cap: Cap = self.cap;

        /// The random part.
        pub jitter: Jitter = self.jitter;
    }

    /// The waits before the first retry, the second and so on, if no limit cuts one.
    pub fn waits<'a>(&'a self, source: &'a mut impl JitterSource) -> impl Iterator<Item = Duration> + 'a {
        let mut growth = Growth::default();
        std::iter::from_fn(move || {
            let wait = growth.next(self, source);
            growth.waited(self, wait);
            Some(Duration::from_nanos(wait))
        })
    }
}

/// How far the delay has grown: nothing yet, or the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Growth(u64);

impl Growth {
    fn previous(self) -> f64 {
        f64::from_bits(self.0)
    }

    /// The wait before the next retry, in nanoseconds.
    pub(crate) fn next(&mut self, backoff: &Backoff, source: &mut impl JitterSource) -> u64 {
        let max = in_nanos(backoff.max);
        let delay = self.grown(backoff, max);
        self.0 = delay.to_bits();
        let jitter = if source.is_random() { backoff.jitter } else { Jitter::None };
        let wait = match jitter {
            Jitter::None => delay,
            Jitter::Added { unit, most } => {
                let count = (source.next_fraction() * (f64::from(most) + 1.0)).floor();
                delay + count * in_nanos(unit)
            }
            Jitter::AddedRounded { unit, most } => {
                let count = (source.next_fraction() * f64::from(most) + 0.5).floor();
                delay + count * in_nanos(unit)
            }
            Jitter::Full => source.next_fraction() * delay,
            Jitter::FullNanos => 1.0 + (source.next_fraction() * delay).floor(),
            Jitter::Spread { fraction } => {
                let most = delay * fraction;
                delay + (2.0 * most * source.next_fraction() - most)
            }
            Jitter::UpToDouble => {
                (delay * (1.0 + source.next_fraction()) / MILLISECOND).round() * MILLISECOND
            }
            Jitter::Compounding => delay + (source.next_fraction() * delay).floor(),
            Jitter::Window => {
                let end = delay * backoff.multiplier;
                let (start, end) = if end >= max {
                    ((max / backoff.multiplier).max(in_nanos(backoff.initial)), max)
                } else {
                    (delay, end)
                };
                ((start + source.next_fraction() * (end - start)) / MILLISECOND).floor() * MILLISECOND
            }
        };
        bounded(wait, backoff)
    }

    /// The wait that was drawn last, as it would be without a random part.
    pub(crate) fn undrawn(self, backoff: &Backoff) -> u64 {
        bounded(self.previous(), backoff)
    }

    fn grown(self, backoff: &Backoff, max: f64) -> f64 {
        let delay = if self.previous() > 0.0 {
            self.previous() * backoff.multiplier
        } else {
            let steps = i32::try_from(backoff.first_exponent).unwrap_or(i32::MAX);
            in_nanos(backoff.initial) * backoff.multiplier.powi(steps)
        };
        let delay = match backoff.jitter {
            Jitter::Compounding => delay.round(),
            Jitter::FullNanos => delay.floor(),
            _ => delay,
        };
        if backoff.cap == Cap::BeforeJitter { delay.min(max) } else { delay.min(f64::MAX) }
    }

    /// Takes note of the wait that is really made, which a limit may have cut.
    pub(crate) fn waited(&mut self, backoff: &Backoff, wait: u64) {
        if backoff.jitter == Jitter::Compounding {
            self.0 = in_nanos(Duration::from_nanos(wait)).to_bits();
        }
    }
}

/// A wait within the least and the longest of a formula, in nanoseconds.
fn bounded(wait: f64, backoff: &Backoff) -> u64 {
    let capped = if backoff.cap == Cap::AfterJitter { wait.min(in_nanos(backoff.max)) } else { wait };
    whole(capped.max(in_nanos(backoff.min)))
}

#[expect(clippy::cast_precision_loss, reason = "below 104 days nothing is lost; beyond, nanoseconds are")]
fn in_nanos(duration: Duration) -> f64 {
    nanos(duration) as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a cast of f64 to u64 saturates and makes 0 of NaN, which is what is wanted here"
)]
fn whole(nanos: f64) -> u64 {
    nanos.round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jitter::ScriptedJitter;

    const S: Duration = Duration::from_secs(1);

    fn nanos_of(backoff: Backoff, draws: &[f64], count: usize) -> Vec<u128> {
        let mut source = ScriptedJitter::new(draws);
        backoff.waits(&mut source).take(count).map(|wait| wait.as_nanos()).collect()
    }

    #[test]
    fn a_delay_without_bounds_ends_at_the_maximum() {
        let full = Backoff::exponential(S, f64::MAX, 3 * S).with_jitter(Jitter::Full);
        assert_eq!(nanos_of(full, &[0.5, 0.5, 0.5, 0.0], 4), [500_000_000, 3_000_000_000, 3_000_000_000, 0]);
        let odd = Backoff::exponential(S, f64::NAN, 3 * S);
        assert_eq!(nanos_of(odd, &[], 2), [1_000_000_000; 2]);
        let longest = Backoff::exponential(Duration::MAX, f64::INFINITY, Duration::MAX);
        assert_eq!(nanos_of(longest, &[], 2), [u128::from(u64::MAX); 2]);
    }

    #[test]
    fn numbers_of_units_are_drawn_evenly_or_rounded() {
        let ms = Duration::from_millis(1);
        let even =
            Backoff::exponential(Duration::ZERO, 2.0, S).with_jitter(Jitter::Added { unit: ms, most: 1000 });
        assert_eq!(
            nanos_of(even, &[0.0, 0.000_99, 0.001, 0.1, 0.999_001], 5),
            [0, 0, 1_000_000, 100_000_000, 1_000_000_000]
        );
        let rounded = Backoff::exponential(Duration::ZERO, 2.0, S)
            .with_jitter(Jitter::AddedRounded { unit: ms, most: 1000 });
        assert_eq!(
            nanos_of(rounded, &[0.000_49, 0.000_5, 0.999_5, 0.999_4], 4),
            [0, 1_000_000, 1_000_000_000, 999_000_000]
        );
    }

    #[test]
    fn a_window_ends_below_the_maximum() {
        let window = Backoff::exponential(S, 2.0, 6 * S).with_jitter(Jitter::Window);
        assert_eq!(
            nanos_of(window, &[0.25, 0.500_000_7, 0.25, 0.25], 4),
            [1_250_000_000, 3_000_000_000, 3_750_000_000, 3_750_000_000]
        );
    }
}

//! A share of the successes of the last seconds.

use super::tokens::thousandths;
use super::word::Word;
use std::array;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

/// A retry, in thousandths.
const RETRY: i64 = 1000;
/// How many seconds count.
const SECONDS: usize = 10;

/// The balance of successes and retries, a slot for each of the last seconds.
///
/// A slot holds its second and its balance in thousandths of a retry. It is one word, so that a retry is either taken or
/// not, whatever other threads do in that second. At the turn of a second each thread may take one too many.
#[derive(Debug)]
pub(super) struct Window<W = AtomicU64, const N: usize = SECONDS> {
    ratio: i32,
    per_second: u32,
    slots: [W; N],
}

/// A second, and what it has brought less what it took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Slot {
    second: u32,
    balance: i32,
}

impl Slot {
    fn read(word: u64) -> Self {
        let [a, b, c, d, balance @ ..] = word.to_be_bytes();
        Self { second: u32::from_be_bytes([a, b, c, d]), balance: i32::from_be_bytes(balance) }
    }

    fn word(self) -> u64 {
        (u64::from(self.second) << 32) | u64::from(self.balance.cast_unsigned())
    }

    /// The slot of that second, whichever it was of.
    fn at(self, second: u32) -> Self {
        if self.second == second { self } else { Self { second, balance: 0 } }
    }

    fn add(self, change: i32) -> Self {
        Self { balance: self.balance.saturating_add(change), ..self }
    }
}

impl<W: Word, const N: usize> Window<W, N> {
    pub(super) fn new(ratio: f64, per_second: u32) -> Self {
        let ratio = i32::try_from(thousandths(ratio)).unwrap_or(i32::MAX);
        Self { ratio, per_second, slots: array::from_fn(|_| W::new(0)) }
    }

    /// The window as it was before anything happened.
    pub(super) fn empty(&self) -> Self {
        self.with_min_per_second(self.per_second)
    }

    pub(super) fn with_min_per_second(&self, per_second: u32) -> Self {
        Self { ratio: self.ratio, per_second, slots: array::from_fn(|_| W::new(0)) }
    }

    /// The ratio, and the retries that are allowed in each second.
    #[cfg(feature = "serde")]
    pub(super) fn limits(&self) -> (f64, u32) {
        (f64::from(self.ratio) / 1000.0, self.per_second)
    }

    pub(super) fn allows(&self, now: Duration) -> bool {
        let second = second(now);
        self.balance(second, |_| true) >= RETRY
    }

    /// In whole retries.
    #[expect(clippy::cast_precision_loss, reason = "a number for people")]
    pub(super) fn available(&self, now: Duration) -> f64 {
        self.balance(second(now), |_| true).max(0) as f64 / 1000.0
    }

    /// Takes a retry, if there is one.
    pub(super) fn take(&self, now: Duration) -> bool {
        let second = second(now);
        let Some((place, own)) = self.slot(second) else { return false };
        let taken = own.update(|word| {
            let slot = Slot::read(word).at(second);
            let balance =
                self.balance(second, |other| other != place).saturating_add(i64::from(slot.balance));
            (balance >= RETRY).then(|| slot.add(-1000).word())
        });
        taken.is_some()
    }

    pub(super) fn succeeded(&self, now: Duration) {
        let second = second(now);
        if let Some((_, own)) = self.slot(second) {
            own.update(|word| Some(Slot::read(word).at(second).add(self.ratio).word()));
        }
    }

    /// The slots of those places that are no older than the window, and what is there at all times.
    fn balance(&self, second: u32, counts: impl Fn(usize) -> bool) -> i64 {
        let seconds = u32::try_from(N).unwrap_or(u32::MAX);
        let slots = self.slots.iter().enumerate().filter(|(place, _)| counts(*place));
        let recent = slots
            .map(|(_, word)| Slot::read(word.load()))
            .filter(|slot| slot.second.saturating_add(seconds) > second && slot.second <= second);
        let reserve = i64::from(self.per_second).saturating_mul(i64::from(seconds)).saturating_mul(RETRY);
        recent.map(|slot| i64::from(slot.balance)).fold(reserve, i64::saturating_add)
    }

    fn slot(&self, second: u32) -> Option<(usize, &W)> {
        let place = usize::try_from(second).unwrap_or_default() % N;
        Some((place, self.slots.get(place)?))
    }
}

fn second(now: Duration) -> u32 {
    u32::try_from(now.as_secs()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(ratio: f64, per_second: u32) -> Window {
        Window::new(ratio, per_second)
    }

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn taken(window: &Window, seconds: u64) -> u32 {
        let mut taken = 0;
        while window.allows(at(seconds)) {
            assert!(window.take(at(seconds)));
            taken += 1;
        }
        assert!(!window.take(at(seconds)));
        taken
    }

    #[test]
    fn a_fifth_of_the_successes_of_ten_seconds() {
        let window = window(0.2, 0);
        assert_eq!(taken(&window, 0), 0);
        for _ in 0..14 {
            window.succeeded(at(0));
        }
        assert_eq!(taken(&window, 0), 2);
        // 0.8 was left over.
        window.succeeded(at(9));
        assert_eq!(taken(&window, 9), 1);
        window.succeeded(at(10));
        assert_eq!(taken(&window, 10), 0, "what the first second brought is out of the window");
        for _ in 0..4 {
            window.succeeded(at(19));
        }
        assert_eq!(taken(&window, 20), 0, "0.8, and 0.2 of the second 10 that has gone");
        window.succeeded(at(20));
        assert_eq!(taken(&window, 20), 1);
    }

    #[test]
    fn a_number_of_retries_is_there_at_all_times() {
        let window = window(0.0, 3);
        assert_eq!(taken(&window, 100), 30);
        assert_eq!(taken(&window, 109), 0);
        assert_eq!(taken(&window, 110), 30);
        assert_eq!(taken(&window.empty(), 110), 30);
    }

    #[test]
    fn odd_numbers_and_clocks_do_no_harm() {
        let endless = window(f64::INFINITY, u32::MAX);
        endless.succeeded(Duration::MAX);
        assert!(endless.take(Duration::MAX) && endless.take(at(0)));
        assert_eq!(taken(&window(f64::NAN, 0), 5), 0);
        // A thread that is late by a second or two.
        let window = window(1.0, 0);
        window.succeeded(at(8));
        window.succeeded(at(7));
        assert!(window.take(at(8)) && window.take(at(8)) && !window.take(at(8)));
    }
}

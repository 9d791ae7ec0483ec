//! The attempts of an operation that are running.

use crate::StartedAttempt;
use crate::nanos::FOREVER;

/// The attempts in flight, and the one that left last while it was still of interest. The first lives inline: there
/// rarely is another.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct InFlight {
    first: Option<Known>,
    others: Vec<Known>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Known {
    attempt: StartedAttempt,
    stage: Stage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Running,
    /// Its time is up, and the protocol is asked what that amounts to.
    Expiring,
    /// It was cancelled, or has the reply: it is known, and not in flight any more.
    Gone,
}

impl Known {
    fn is_in_flight(&self) -> bool {
        self.stage != Stage::Gone
    }

    /// When its time is up; [`FOREVER`]: that is not awaited.
    fn deadline(&self) -> u64 {
        if self.stage == Stage::Running { self.attempt.expires() } else { FOREVER }
    }
}

impl InFlight {
    pub(super) fn of(attempt: StartedAttempt) -> Self {
        Self { first: Some(Known { attempt, stage: Stage::Running }), others: Vec::new() }
    }

    pub(super) fn push(&mut self, attempt: StartedAttempt) {
        self.put(Known { attempt, stage: Stage::Running });
    }

    /// An attempt that was cancelled, or has the reply: it stays known until another one goes, or starts in its place.
    pub(super) fn keep(&mut self, gone: StartedAttempt) {
        self.others.retain(Known::is_in_flight);
        self.put(Known { attempt: gone, stage: Stage::Gone });
    }

    /// Behind those in flight: they stay in the order in which they were sent.
    fn put(&mut self, known: Known) {
        if self.is_empty() {
            self.first = Some(known);
        } else {
            self.others.push(known);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        !self.known().any(Known::is_in_flight)
    }

    fn known(&self) -> impl Iterator<Item = &Known> {
        self.first.iter().chain(&self.others)
    }

    fn iter(&self) -> impl Iterator<Item = StartedAttempt> {
        self.known().filter(|known| known.is_in_flight()).map(|known| known.attempt)
    }

    /// Whether an attempt that was sent before that one is in flight.
    pub(super) fn has_before(&self, number: u32) -> bool {
        self.iter().any(|attempt| attempt.number() < number)
    }

    pub(super) fn get(&self, number: u32) -> Option<StartedAttempt> {
        self.iter().find(|attempt| attempt.number() == number)
    }

    /// The same, or the one that is [kept](Self::keep).
    pub(super) fn get_known(&self, number: u32) -> Option<StartedAttempt> {
        self.known().map(|known| known.attempt).find(|attempt| attempt.number() == number)
    }

    pub(super) fn remove(&mut self, number: u32) -> Option<StartedAttempt> {
        let is_it = |known: &mut Known| known.is_in_flight() && known.attempt.number() == number;
        if let Some(known) = self.first.take_if(is_it) {
            return Some(known.attempt);
        }
        let place = self.others.iter_mut().position(is_it)?;
        Some(self.others.remove(place).attempt)
    }

    /// Takes out any attempt but that one; `None` spares none.
    pub(super) fn remove_other_than(&mut self, spared: Option<u32>) -> Option<StartedAttempt> {
        let number = self.iter().map(StartedAttempt::number).find(|number| Some(*number) != spared)?;
        self.remove(number)
    }

    /// An attempt whose time is up. It is told once.
    pub(super) fn expired(&mut self, now: u64) -> Option<u32> {
        let mut known = self.first.iter_mut().chain(&mut self.others);
        let expired = known.find(|known| known.deadline() <= now)?;
        expired.stage = Stage::Expiring;
        Some(expired.attempt.number())
    }

    /// The earliest moment at which the time of one is up, in nanoseconds; [`FOREVER`] is never.
    pub(super) fn deadline(&self) -> u64 {
        self.known().map(Known::deadline).fold(FOREVER, u64::min)
    }
}

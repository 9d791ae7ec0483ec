//! The attempts of an operation that are running.

use crate::StartedAttempt;
use crate::nanos::FOREVER;
use std::time::Duration;

/// The attempts in flight, and the one that left last while it was still of interest. The first lives inline: there
/// rarely is another.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct InFlight {
    first: Option<Entry>,
    others: Vec<Entry>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    attempt: StartedAttempt,
    stage: Stage,
    /// `true` if it has delivered a message.
    has_progressed: bool,
}

/// An attempt that has left, and whether it had delivered a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ended {
    pub(super) attempt: StartedAttempt,
    pub(super) has_progressed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Running,
    /// Its time is up, and the protocol is asked what that amounts to.
    Expiring,
    /// It was cancelled, or has the reply: it is known, and not in flight any longer.
    Gone,
}

impl Entry {
    fn new(attempt: StartedAttempt, stage: Stage) -> Self {
        Self { attempt, stage, has_progressed: false }
    }

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
        Self { first: Some(Entry::new(attempt, Stage::Running)), others: Vec::new() }
    }

    pub(super) fn push(&mut self, attempt: StartedAttempt) {
        self.put(Entry::new(attempt, Stage::Running));
    }

    /// An attempt that was cancelled, or has the reply: it stays known until another one goes, or starts in its place.
    pub(super) fn keep(&mut self, gone: StartedAttempt) {
        self.others.retain(Entry::is_in_flight);
        self.put(Entry::new(gone, Stage::Gone));
    }

    /// Behind those in flight: they stay in the order in which they were sent.
    fn put(&mut self, entry: Entry) {
        if self.is_empty() {
            self.first = Some(entry);
        } else {
            self.others.push(entry);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        !self.entries().any(Entry::is_in_flight)
    }

    fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.first.iter().chain(&self.others)
    }

    fn iter(&self) -> impl Iterator<Item = StartedAttempt> {
        self.entries().filter(|entry| entry.is_in_flight()).map(|entry| entry.attempt)
    }

    /// Returns whether an attempt that was sent before that one is in flight.
    pub(super) fn has_before(&self, number: u32) -> bool {
        self.iter().any(|attempt| attempt.number() < number)
    }

    pub(super) fn get(&self, number: u32) -> Option<StartedAttempt> {
        self.find(|entry| entry.is_in_flight() && entry.attempt.number() == number)
    }

    /// An attempt in flight, or the one that is [kept](Self::keep).
    pub(super) fn get_or_kept(&self, number: u32) -> Option<StartedAttempt> {
        self.find(|entry| entry.attempt.number() == number)
    }

    #[inline]
    fn find(&self, is_it: impl Fn(&Entry) -> bool) -> Option<StartedAttempt> {
        let first = self.first.as_ref().filter(|entry| is_it(entry));
        let found = first.or_else(|| self.others.iter().find(|entry| is_it(entry)));
        found.map(|entry| entry.attempt)
    }

    /// That attempt has delivered a message. Returns whether it is its first.
    pub(super) fn progressed(&mut self, number: u32) -> bool {
        let mut entries = self.first.iter_mut().chain(&mut self.others);
        let entry = entries.find(|entry| entry.attempt.number() == number);
        entry.is_some_and(|entry| !std::mem::replace(&mut entry.has_progressed, true))
    }

    pub(super) fn remove(&mut self, number: u32) -> Option<Ended> {
        let is_it = |entry: &mut Entry| entry.is_in_flight() && entry.attempt.number() == number;
        let entry = if let Some(entry) = self.first.take_if(is_it) {
            entry
        } else {
            let place = self.others.iter_mut().position(is_it)?;
            self.others.remove(place)
        };
        Some(Ended { attempt: entry.attempt, has_progressed: entry.has_progressed })
    }

    /// Takes out any attempt but that one; `None` spares none.
    pub(super) fn remove_other_than(&mut self, spared: Option<u32>) -> Option<StartedAttempt> {
        let number = self.iter().map(StartedAttempt::number).find(|number| Some(*number) != spared)?;
        Some(self.remove(number)?.attempt)
    }

    /// An attempt whose time is up. It is reported once.
    pub(super) fn expired(&mut self, now: u64) -> Option<u32> {
        let mut entries = self.first.iter_mut().chain(&mut self.others);
        let expired = entries.find(|entry| entry.deadline() <= now)?;
        expired.stage = Stage::Expiring;
        Some(expired.attempt.number())
    }

    /// The time of an attempt begins only at that moment, if it began before. Returns whether that is news, and time is left by it.
    pub(super) fn postpone(&mut self, number: u32, start: Duration, limit: Option<Duration>) -> bool {
        let mut entries = self.first.iter_mut().chain(&mut self.others);
        let Some(entry) = entries.find(|entry| entry.is_in_flight() && entry.attempt.number() == number)
        else {
            return false;
        };
        let postponed = entry.attempt.postponed(start, limit);
        if start <= entry.attempt.start() || postponed.has_no_time() {
            return false;
        }
        *entry = Entry { attempt: postponed, stage: Stage::Running, ..*entry };
        true
    }

    /// The earliest moment at which the time of one is up, in nanoseconds; [`FOREVER`] is never.
    pub(super) fn deadline(&self) -> u64 {
        self.entries().map(Entry::deadline).fold(FOREVER, u64::min)
    }
}

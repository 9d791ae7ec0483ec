//! The attempts of an operation that are running.

use crate::StartedAttempt;
use std::time::Duration;

/// The attempts in flight. The first lives inline: there rarely is another.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct InFlight {
    first: Option<Running>,
    others: Vec<Running>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Running {
    attempt: StartedAttempt,
    /// Its time is up, and the protocol is asked what that amounts to.
    is_expiring: bool,
}

impl InFlight {
    pub(super) fn of(attempt: StartedAttempt) -> Self {
        Self { first: Some(Running { attempt, is_expiring: false }), others: Vec::new() }
    }

    pub(super) fn push(&mut self, attempt: StartedAttempt) {
        let running = Running { attempt, is_expiring: false };
        match &mut self.first {
            first @ None if self.others.is_empty() => *first = Some(running),
            _ => self.others.push(running),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    fn iter(&self) -> impl Iterator<Item = &Running> {
        self.first.iter().chain(&self.others)
    }

    pub(super) fn get(&self, number: u32) -> Option<StartedAttempt> {
        self.iter().map(|running| running.attempt).find(|attempt| attempt.number == number)
    }

    pub(super) fn remove(&mut self, number: u32) -> Option<StartedAttempt> {
        if let Some(running) = self.first.take_if(|running| running.attempt.number == number) {
            return Some(running.attempt);
        }
        let place = self.others.iter().position(|running| running.attempt.number == number)?;
        Some(self.others.remove(place).attempt)
    }

    /// Takes out any attempt but that one; `None` spares none.
    pub(super) fn remove_other_than(&mut self, spared: Option<u32>) -> Option<StartedAttempt> {
        let number =
            self.iter().map(|running| running.attempt.number).find(|number| Some(*number) != spared)?;
        self.remove(number)
    }

    /// An attempt whose time is up. It is told once.
    pub(super) fn expired(&mut self, now: Duration) -> Option<u32> {
        let mut running = self.first.iter_mut().chain(&mut self.others);
        let expired = running.find(|running| {
            !running.is_expiring && running.attempt.expires_at().is_some_and(|deadline| now >= deadline)
        })?;
        expired.is_expiring = true;
        Some(expired.attempt.number)
    }

    /// The earliest moment at which the time of one is up.
    pub(super) fn deadline(&self) -> Option<Duration> {
        let running = self.iter().filter(|running| !running.is_expiring);
        running.filter_map(|running| running.attempt.expires_at()).min()
    }
}

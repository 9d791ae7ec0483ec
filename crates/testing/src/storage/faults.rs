//! Which fault happens to which request.

use super::StorageCall;
use super::fault::{Action, StorageFault};

/// The faults that are yet to happen.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    queue: Vec<(u64, StorageFault)>,
    added: u64,
}

/// The faults that can happen to one request.
#[derive(Debug, Default)]
pub(crate) struct ArmedFaults {
    /// Without a place.
    pub(crate) at_once: Option<StorageFault>,
    /// With a place, by their numbers.
    placed: Vec<u64>,
}

impl Faults {
    pub(crate) fn add(&mut self, fault: StorageFault) {
        self.queue.push((self.added, fault));
        self.added += 1;
    }

    pub(crate) fn len(&self) -> usize {
        self.queue.len()
    }

    /// The faults for a request that has come: the first without a place, and all that have one.
    pub(crate) fn arm(&mut self, call: StorageCall, object: &str) -> ArmedFaults {
        let mut armed = ArmedFaults::default();
        let mut at_once = None;
        for (number, fault) in &mut self.queue {
            if !fault.is_for(call, object) || (fault.at.is_none() && at_once.is_some()) {
                continue;
            }
            if fault.skip > 0 {
                fault.skip -= 1;
            } else if fault.at.is_some() {
                armed.placed.push(*number);
            } else {
                at_once = Some(*number);
            }
        }
        armed.at_once = at_once.and_then(|number| self.take(number));
        armed
    }

    /// The first fault of a request between two places, and where. It happens to the request no more.
    pub(crate) fn reach(
        &mut self,
        armed: &mut ArmedFaults,
        begin: u64,
        end: u64,
    ) -> Option<(u64, StorageFault)> {
        let (at, number) = self.placed(armed, begin, end).map(|(at, number, _)| (at, number)).min()?;
        armed.placed.retain(|&other| other != number);
        Some((at, self.take(number)?))
    }

    /// Returns whether a reply with these bytes will be truncated.
    pub(crate) fn will_truncate(&self, armed: &ArmedFaults, begin: u64, end: u64) -> bool {
        self.placed(armed, begin, end).any(|(_, _, fault)| matches!(fault.action, Action::Truncate))
    }

    fn placed<'a>(
        &'a self,
        armed: &'a ArmedFaults,
        begin: u64,
        end: u64,
    ) -> impl Iterator<Item = (u64, u64, &'a StorageFault)> {
        let armed = self.queue.iter().filter(|(number, _)| armed.placed.contains(number));
        armed.filter_map(move |(number, fault)| Some((fault.is_within(begin, end)?, *number, fault)))
    }

    fn take(&mut self, number: u64) -> Option<StorageFault> {
        let index = self.queue.iter().position(|(other, _)| *other == number)?;
        let (_, fault) = self.queue.get_mut(index)?;
        let taken = fault.clone();
        if let Some(times) = &mut fault.times {
            *times = times.saturating_sub(1);
            if *times == 0 {
                drop(self.queue.remove(index));
            }
        }
        Some(taken)
    }
}

//! The hedges of one operation.

use crate::nanos::FOREVER;
use crate::rules::Refusal;

/// The hedges of one operation. Nothing is allocated until there is something to keep: most operations are not hedged.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Hedges(Option<Box<Schedule>>);

/// Times are nanoseconds from the operation's start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Schedule {
    /// When the next one is due; `None`: there is none, as far as is known now.
    due: Option<u64>,
    /// The wait that it follows, for the report.
    delay: u64,
    /// No server wants another attempt before that.
    held_until: u64,
    /// Why there are no more of them.
    closed: Option<Refusal>,
    /// The budget did not allow one when it was due.
    is_withheld: bool,
}

impl Hedges {
    fn schedule_mut(&mut self) -> &mut Schedule {
        self.0.get_or_insert_default()
    }

    /// When the next one is due; `None`: there is none, as far as is known now.
    #[inline]
    pub(super) fn due(&self) -> Option<u64> {
        self.0.as_ref()?.due
    }

    /// When to look whether the next one is sent; [`FOREVER`] is never. A reply that is there when a hedge is due wins, so
    /// that the clock has to be past that moment. One that follows immediately is sent immediately.
    pub(super) fn wakes(&self) -> u64 {
        self.0.as_ref().map_or(FOREVER, |schedule| match schedule.due {
            Some(due) => due.saturating_add(u64::from(schedule.delay > 0)),
            None => FOREVER,
        })
    }

    gax_text::getters! { self:
        /// The wait that it follows, for the report.
        pub(super) delay: u64 = self.0.as_ref().map_or(0, |schedule| schedule.delay);

        /// Returns whether the budget did not allow one when it was due.
        pub(super) is_withheld: bool = self.0.as_ref().is_some_and(|schedule| schedule.is_withheld);
    }

    /// Why there are no more of them.
    pub(super) fn closed(&self) -> Option<Refusal> {
        self.0.as_ref()?.closed
    }

    /// None is due.
    #[inline]
    pub(super) fn clear(&mut self) {
        if let Some(schedule) = &mut self.0 {
            schedule.due = None;
        }
    }

    /// The budget does not allow the one that is due.
    pub(super) fn withhold(&mut self) {
        self.schedule_mut().is_withheld = true;
    }

    /// The next one comes so long after `now`, and not before a server allows it.
    pub(super) fn schedule(&mut self, now: u64, delay: u64) {
        let schedule = self.schedule_mut();
        let due =
            now.checked_add(delay).map(|due| due.max(schedule.held_until)).filter(|due| *due != FOREVER);
        schedule.due = due.filter(|_| schedule.closed.is_none());
        schedule.delay = due.unwrap_or(now).saturating_sub(now);
    }

    /// A server asks for so long a wait.
    pub(super) fn hold(&mut self, now: u64, delay: u64) {
        let schedule = self.schedule_mut();
        schedule.held_until = schedule.held_until.max(now.saturating_add(delay));
    }

    /// There are no more of them; the first reason counts.
    pub(super) fn close(&mut self, refusal: Refusal) {
        let schedule = self.schedule_mut();
        schedule.closed.get_or_insert(refusal);
        schedule.due = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StopReason;

    #[test]
    fn a_hedge_is_due_after_its_delay_and_not_before_a_server_allows_it() {
        let mut hedges = Hedges::default();
        hedges.schedule(1_000_000, 5_000_000);
        assert_eq!((hedges.due(), hedges.delay(), hedges.wakes()), (Some(6_000_000), 5_000_000, 6_000_001));
        hedges.hold(2_000_000, 9_000_000);
        hedges.hold(2_000_000, 3_000_000);
        hedges.schedule(2_000_000, 5_000_000);
        assert_eq!((hedges.due(), hedges.delay()), (Some(11_000_000), 9_000_000));
        // A time that no clock reaches never comes.
        hedges.schedule(u64::MAX, 1_000_000);
        assert_eq!((hedges.due(), hedges.delay()), (None, 0));
    }

    #[test]
    fn what_closes_the_hedges_first_is_the_reason() {
        let mut hedges = Hedges::default();
        hedges.schedule(0, 1_000_000);
        let first = Refusal::new(StopReason::Pushback);
        hedges.close(first);
        hedges.close(Refusal::new(StopReason::MaxAttempts));
        assert_eq!((hedges.due(), hedges.closed()), (None, Some(first)));
        hedges.schedule(0, 1_000_000);
        assert_eq!(hedges.due(), None);
    }
}

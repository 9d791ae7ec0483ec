//! The checks at the end of a soak.

use super::callers::Outcomes;
use super::tally::{Tally, of};
use std::fmt;
use std::sync::PoisonError;

/// Everything that was lost, leaked or miscounted: one sentence each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokenPromises(pub(super) Vec<String>);

impl fmt::Display for BrokenPromises {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("; "))
    }
}

impl std::error::Error for BrokenPromises {}

/// Collects what is not as it should be.
#[derive(Debug, Default)]
pub(super) struct Checks {
    pub(super) broken: Vec<String>,
}

impl Checks {
    pub(super) fn holds(&mut self, holds: bool, otherwise: impl FnOnce() -> String) {
        if !holds {
            self.broken.push(otherwise());
        }
    }

    /// The operations over one server: nothing is lost, and what was sent arrived.
    pub(super) fn tally(&mut self, name: &str, tally: &Tally, arrived: Option<u64>, is_calm: bool) {
        let (operations, in_flight) = (of(&tally.operations), tally.in_flight());
        self.holds(operations > 0, || format!("{name}: no operation was made"));
        self.holds(in_flight == 0, || format!("{name}: {in_flight} of {operations} operations never ended"));
        let (attempts, ended) = (of(&tally.attempts), of(&tally.ended));
        self.holds(attempts == ended, || format!("{name}: {attempts} attempts began and {ended} ended"));
        self.holds(attempts >= of(&tally.succeeded), || format!("{name}: successes without attempts"));
        let Some(arrived) = arrived else { return };
        let (sent, dropped) = (of(&tally.sent), of(&tally.dropped));
        self.holds(arrived <= sent, || format!("{name}: {sent} requests were sent and {arrived} arrived"));
        // An attempt that was dropped at once may never have gone out.
        self.holds(!is_calm || arrived + dropped >= sent, || {
            format!("{name}: of {sent} requests {arrived} arrived, though only {dropped} were dropped")
        });
    }

    /// The memory after a quarter of the time, and now. What the allocator keeps is no leak.
    pub(super) fn memory(&mut self, settled: Option<u64>, now: Option<u64>) {
        const SPARE: u64 = 32 << 20;
        let (Some(settled), Some(now)) = (settled, now) else { return };
        self.holds(now <= settled + settled / 4 + SPARE, || {
            format!("{} MiB at a quarter, {} MiB now", settled >> 20, now >> 20)
        });
    }

    /// Checks the outcomes that callers saw.
    pub(super) fn outcomes(&mut self, outcomes: &Outcomes) {
        let Outcomes { made, good, failed, dropped, wrong, unexplained, riddle } = outcomes;
        let ended: u64 = [good, failed, dropped, wrong, unexplained].into_iter().map(of).sum();
        self.holds(of(made) == ended, || format!("{} calls were made and {ended} ended", of(made)));
        self.holds(of(good) > 0, || "no call was good".to_owned());
        self.holds(of(wrong) == 0, || format!("{} replies were not what was asked for", of(wrong)));
        self.holds(of(unexplained) == 0, || {
            let last = riddle.lock().unwrap_or_else(PoisonError::into_inner);
            format!("{} failures carry no report, such as {last}", of(unexplained))
        });
    }
}

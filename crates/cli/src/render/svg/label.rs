//! The texts of a lane: on no bar but their own, on no name, and not across the total timeout.

use super::layout::{LEFT, RIGHT};
use super::paper::{Paper, width_of};

/// The space between a text and what is next to it.
const GAP: f64 = 8.0;
/// How far a text may stand out at the right.
const BEYOND: f64 = 30.0;

/// Where the parts of a lane begin and end, from left to right.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parts {
    /// The wait's left side; the attempt's if there is no wait.
    pub(super) wait: f64,
    pub(super) from: f64,
    pub(super) to: f64,
    /// The line of the total timeout.
    pub(super) total: Option<f64>,
}

/// Where the wait's text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wait {
    /// There is none.
    None,
    BeforeIt,
    InIt,
    /// With the attempt's.
    Joined,
}

impl Parts {
    /// Writes the wait and the outcome. `short` is the outcome where the whole of it has no room, and `on` the class of a text
    /// on the bar.
    pub(super) fn write(
        &self,
        paper: &mut Paper,
        y: f64,
        wait: Option<&str>,
        outcome: &str,
        short: &str,
        on: &str,
    ) {
        let wait_width = wait.map_or(0.0, |text| width_of(text) * 0.88 + GAP);
        let place = self.wait_place(wait, wait_width);
        match (wait, place) {
            (Some(text), Wait::BeforeIt) => paper.text(self.wait - GAP, y, "end", "small", text),
            (Some(text), Wait::InIt) => paper.text(self.wait + GAP, y, "start", "small over", text),
            _ => {}
        }
        let joined;
        let outcome = match wait {
            Some(wait) if place == Wait::Joined => {
                joined = format!("{outcome}, after {}", wait.replacen("wait ", "a wait of ", 1));
                &joined
            }
            _ => outcome,
        };
        let in_wait = if place == Wait::InIt { wait_width } else { 0.0 };
        let before = self.wait - GAP - if place == Wait::BeforeIt { wait_width } else { 0.0 };
        let width = width_of(outcome);
        if self.holds(width) {
            paper.text(self.from + GAP, y, "start", on, outcome);
        } else if self.has_room_after(width) {
            paper.text(self.to + GAP, y, "start", "ink", outcome);
        } else if place != Wait::Joined && self.holds(width_of(short)) {
            paper.text(self.from + GAP, y, "start", on, short);
        } else if before - width >= LEFT && self.from - self.wait < width + in_wait + 2.0 * GAP {
            paper.text(before, y, "end", "ink", outcome);
        } else {
            paper.text(self.from - GAP, y, "end", "ink over", outcome);
        }
    }

    fn wait_place(&self, wait: Option<&str>, width: f64) -> Wait {
        if wait.is_none() {
            Wait::None
        } else if self.wait - width >= LEFT {
            Wait::BeforeIt
        } else if self.from - self.wait >= width + GAP {
            Wait::InIt
        } else {
            Wait::Joined
        }
    }

    /// Returns whether the attempt's bar has room for such a text.
    fn holds(&self, width: f64) -> bool {
        width + 2.0 * GAP <= self.to - self.from
    }

    /// Returns whether the lane has, right of the attempt.
    fn has_room_after(&self, width: f64) -> bool {
        let end = self.to + GAP + width;
        end <= RIGHT + BEYOND && self.total.is_none_or(|total| total < self.to || end < total)
    }
}

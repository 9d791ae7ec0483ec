//! An operation to be drawn.

use super::axis::Axis;
use super::layout::MOST;
use crate::render::{Ms, Row, Timeline};
use gax_retry::CodeSet;
use std::time::Duration;

/// An operation to be drawn.
pub(crate) struct Picture<'a> {
    pub(crate) timeline: &'a Timeline,
    pub(crate) title: &'a str,
    /// The sentence under the title.
    pub(crate) caption: &'a str,
    pub(crate) total: Option<Duration>,
    pub(crate) codes: CodeSet,
    /// `true` if attempts are cancelled because another one has won.
    pub(crate) is_hedged: bool,
}

impl Picture<'_> {
    /// The total timeout, if the axis gets that far.
    pub(super) fn total_on(&self, axis: &Axis) -> Option<Ms> {
        self.total.map(Ms).filter(|total| axis.shows(total.as_f64()))
    }

    /// The time that the picture covers, in milliseconds: everything that happens, and what did not.
    /// Limits far beyond the last event are left out, or they would press it against the left edge.
    pub(super) fn span(&self) -> f64 {
        let rows = self.timeline.attempts.iter().take(MOST);
        let ends = rows.map(|row| row.end_ms.unwrap_or(row.start_ms).as_f64());
        let end = ends.fold(0.0, f64::max);
        let refused = self.timeline.not_attempted.map_or(0.0, |refused| end + Ms(refused.delay()).as_f64());
        let granted = |row: &Row| row.start_ms.as_f64() + row.rpc_timeout_ms.map_or(0.0, Ms::as_f64);
        let rows = self.timeline.attempts.iter().take(MOST);
        let timeouts = rows.map(granted).filter(|granted| *granted <= end * 1.3).fold(0.0, f64::max);
        let happens = end.max(refused).max(timeouts);
        let total = self.total.map(|total| Ms(total).as_f64()).filter(|total| *total <= happens * 4.0);
        let span = happens.max(total.unwrap_or(0.0));
        let endless = self.timeline.end_ms.is_none();
        if span <= 0.0 {
            1.0
        } else if endless {
            span * 1.5
        } else {
            span
        }
    }
}

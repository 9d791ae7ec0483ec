//! An operation drawn as a timeline: one lane an attempt, time from left to right.
//!
//! Written by hand, so that the same operation gives the same bytes everywhere.

mod axis;
mod label;
mod lane;
mod legend;
mod paper;
#[cfg(test)]
mod tests;

use super::{Ms, Row, Timeline};
use axis::Axis;
use gax_retry::CodeSet;
use paper::Paper;
use std::time::Duration;

/// The width of the picture; text does not shrink with it, so it is fixed.
const WIDTH: f64 = 960.0;
/// Where time begins and ends, from left to right.
const LEFT: f64 = 176.0;
const RIGHT: f64 = WIDTH - 36.0;
/// Where the first lane begins.
const TOP: f64 = 116.0;
/// The height of a lane, and of the bar in it.
const LANE: f64 = 44.0;
const BAR: f64 = 26.0;
/// The most lanes drawn: a picture of more is not read.
const MOST: usize = 40;

/// What is drawn.
pub(crate) struct Picture<'a> {
    pub(crate) timeline: &'a Timeline,
    pub(crate) title: &'a str,
    /// The sentence under the title.
    pub(crate) caption: &'a str,
    pub(crate) total: Option<Duration>,
    pub(crate) codes: CodeSet,
    /// Whether attempts are cancelled because another one has won.
    pub(crate) is_hedged: bool,
}

impl Picture<'_> {
    /// The picture, as the text of an SVG file.
    pub(crate) fn draw(&self) -> String {
        let shown = self.timeline.attempts.len().min(MOST);
        let left_out = self.timeline.attempts.len() - shown;
        let refused = self.timeline.not_attempted.filter(|_| left_out == 0);
        let lanes = shown + usize::from(refused.is_some());
        let bottom = TOP + LANE * to_f64(lanes.max(1));
        let note = if left_out > 0 { 22.0 } else { 0.0 };
        let height = bottom + note + 76.0;

        let axis = Axis::new(self.span());
        let mut paper = Paper::new(WIDTH, height, self.title, self.caption);
        axis.draw(&mut paper, bottom);
        let total = self.total_on(&axis);
        if let Some(total) = total {
            axis.draw_total(&mut paper, total, bottom);
        }
        let mut previous_end = Duration::ZERO;
        for (index, row) in self.timeline.attempts.iter().take(MOST).enumerate() {
            // One that overlaps the one before waits for its start, not for its end.
            let overlaps = previous_end > row.start_ms.0;
            let before = row.start_ms.0.saturating_sub(row.retry_delay_ms.0);
            let waited_from = if overlaps { before } else { previous_end };
            lane::attempt(&mut paper, &axis, lane_top(index), row, waited_from, self);
            previous_end = row.end_ms.map_or(previous_end, |end| end.0.max(previous_end));
        }
        if let Some(refused) = refused {
            lane::refused(&mut paper, &axis, lane_top(shown), &refused, previous_end);
        }
        if left_out > 0 {
            let text = format!("and {left_out} more attempts");
            paper.text(LEFT, bottom + 18.0 + note, "start", "small", &text);
        }
        legend::draw(&mut paper, bottom + note + 50.0, self, total.is_some());
        paper.finish()
    }

    /// The total timeout, if the axis gets that far.
    fn total_on(&self, axis: &Axis) -> Option<Ms> {
        self.total.map(Ms).filter(|total| axis.shows(total.as_f64()))
    }

    /// The time that the picture covers, in milliseconds: everything that happens, and what did not.
    /// Limits far beyond the last event are left out, or they would press it against the left edge.
    fn span(&self) -> f64 {
        let rows = self.timeline.attempts.iter().take(MOST);
        let ends = rows.map(|row| row.end_ms.unwrap_or(row.start_ms).as_f64());
        let end = ends.fold(0.0, f64::max);
        let refused =
            self.timeline.not_attempted.map_or(0.0, |refused| end + refused.retry_delay_ms.as_f64());
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

fn lane_top(index: usize) -> f64 {
    TOP + LANE * to_f64(index)
}

fn to_f64(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::MAX, f64::from)
}

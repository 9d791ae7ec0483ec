//! The picture, from its title to its legend.

use super::axis::Axis;
use super::layout::{LANE, LEFT, MOST, TOP, WIDTH};
use super::paper::Paper;
use super::picture::Picture;
use super::{lane, legend};
use std::time::Duration;

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
            // One that overlaps the previous one waits for its start, not for its end.
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
}

fn lane_top(index: usize) -> f64 {
    TOP + LANE * to_f64(index)
}

fn to_f64(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::MAX, f64::from)
}

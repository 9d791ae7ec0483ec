//! The axis of time.

use super::layout::{LEFT, RIGHT, TOP};
use super::paper::{Paper, width_of};
use crate::render::Ms;

/// Maps milliseconds to places.
pub(super) struct Axis {
    span: f64,
}

impl Axis {
    /// An axis from 0 to `span` milliseconds.
    pub(super) fn new(span: f64) -> Self {
        Self { span }
    }

    /// The place of a moment.
    pub(super) fn x(&self, ms: f64) -> f64 {
        LEFT + (RIGHT - LEFT) * (ms / self.span).min(1.0)
    }

    /// Returns whether the axis gets that far.
    pub(super) fn shows(&self, ms: f64) -> bool {
        ms <= self.span
    }

    /// The distance between ticks, in milliseconds: 1, 2 or 5 times a power of ten of the axis's unit, for five to eleven
    /// ticks.
    fn step(&self) -> f64 {
        let (_, size) = unit(self.span);
        let rough = self.span / size / 10.0;
        let power = 10_f64.powf(rough.log10().floor());
        let mut steps = [1.0, 2.0, 5.0, 10.0].into_iter().map(|digit| digit * power);
        size * steps.find(|step| *step >= rough).unwrap_or(rough)
    }

    pub(super) fn draw(&self, paper: &mut Paper, bottom: f64) {
        let step = self.step();
        for tick in 0..=20_u32 {
            let ms = f64::from(tick) * step;
            if ms > self.span * 1.000_001 {
                break;
            }
            let x = self.x(ms);
            paper.stroke((x, TOP - 6.0), (x, bottom), "grid");
            paper.text(x, bottom + 18.0, "middle", "small", &label(ms, self.span));
        }
        paper.stroke((LEFT, bottom), (RIGHT, bottom), "line");
    }

    /// The total timeout: nothing happens to the right of it.
    pub(super) fn draw_total(&self, paper: &mut Paper, total: Ms, bottom: f64) {
        let x = self.x(total.as_f64());
        paper.stroke((x, TOP - 10.0), (x, bottom), "total");
        let text = format!("total timeout {total}");
        let half = width_of(&text) / 2.0;
        let (at, anchor) = if x + half > RIGHT + 24.0 { (RIGHT + 24.0, "end") } else { (x, "middle") };
        paper.text(at, TOP - 16.0, anchor, "total-text", &text);
    }
}

/// The unit that suits an axis of so many milliseconds, and how many of them it is.
fn unit(span: f64) -> (&'static str, f64) {
    match span {
        span if span < 1.0 => ("us", 0.001),
        span if span < 10_000.0 => ("ms", 1.0),
        span if span < 600_000.0 => ("s", 1000.0),
        span if span < 36_000_000.0 => ("min", 60_000.0),
        span if span < 864_000_000.0 => ("h", 3_600_000.0),
        _ => ("d", 86_400_000.0),
    }
}

/// A tick's text.
fn label(ms: f64, span: f64) -> String {
    let (unit, scale) = unit(span);
    let value = (ms / scale * 1000.0).round() / 1000.0;
    format!("{value} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        for (span, step) in [
            (10_000.0, 1000.0),
            (5100.0, 1000.0),
            (4000.0, 500.0),
            (0.5, 0.05),
            (1.0, 0.1),
            (600_000.0, 60_000.0),
            (1_000_000.0, 120_000.0),
            (36_000_000.0, 3_600_000.0),
        ] {
            let found = Axis::new(span).step();
            assert!((found - step).abs() < step * 1e-9, "{span}: {found}");
        }
    }

    #[test]
    fn labels_have_a_unit_that_suits() {
        assert_eq!(label(500.0, 4000.0), "500 ms");
        assert_eq!(label(1500.0, 10_000.0), "1.5 s");
        assert_eq!(label(90_000.0, 900_000.0), "1.5 min");
        assert_eq!(label(0.05, 0.5), "50 us");
    }
}

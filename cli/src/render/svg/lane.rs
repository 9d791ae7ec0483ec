//! One lane: an attempt, the wait before it, and its name.

use super::axis::Axis;
use super::paper::{Paper, width_of};
use super::{BAR, LANE, LEFT, Ms, Picture, RIGHT};
use crate::render::{Named, Refused, Row};
use gax_retry::Code;
use std::time::Duration;

/// The room that the text of a wait takes, left of it.
const WAIT_TEXT: f64 = 100.0;

/// The class that paints a bar, and the one of the text on it.
pub(super) fn classes(code: Code, picture: &Picture<'_>) -> (&'static str, &'static str) {
    let codes = picture.codes;
    match code {
        Code::Cancelled if picture.is_hedged => ("lost", "on"),
        Code::Ok => ("ok", "on"),
        Code::DeadlineExceeded if codes.contains(code) => ("late", "late-on"),
        code if codes.contains(code) => ("retried", "on"),
        _ => ("final", "on"),
    }
}

/// An attempt that was made.
pub(super) fn attempt(
    paper: &mut Paper,
    axis: &Axis,
    top: f64,
    row: &Row,
    waited_from: Duration,
    picture: &Picture<'_>,
) {
    let timeout = row.rpc_timeout_ms.map_or_else(|| "no deadline".to_owned(), |ms| format!("timeout {ms}"));
    name(paper, top, &format!("attempt {}", row.attempt), &timeout, "ink");
    let start = row.start_ms.as_f64();
    if row.retry_delay_ms.as_f64() > 0.0 {
        wait(paper, axis, top, Ms(waited_from).as_f64(), start, row.retry_delay_ms);
    }
    let y = bar_top(top);
    let from = axis.x(start);
    let (Some(end), Some(Named(code))) = (row.end_ms, row.code) else {
        paper.rect(from, y, RIGHT - from, BAR, "open");
        paper.text(from + 10.0, baseline(y), "start", "ink", "no reply, no deadline: it never ends");
        return;
    };
    let granted = row.rpc_timeout_ms.map_or(0.0, |timeout| start + timeout.as_f64());
    if granted > end.as_f64() {
        paper.rect(from, y, axis.x(granted) - from, BAR, "granted");
    }
    let (bar, on) = classes(code, picture);
    let width = (axis.x(end.as_f64()) - from).max(2.0);
    paper.rect(from, y, width, BAR, bar);
    let took = Ms(end.0.saturating_sub(row.start_ms.0));
    let full = format!("{code}, {took}");
    let fits = |text: &str| width_of(text) + 16.0 <= width;
    let after = from + width + 8.0;
    if fits(&full) {
        paper.text(from + 8.0, baseline(y), "start", on, &full);
    } else if after + width_of(&full) <= RIGHT + 30.0 {
        paper.text(after, baseline(y), "start", "ink", &full);
    } else if fits(code.name()) {
        paper.text(from + 8.0, baseline(y), "start", on, code.name());
    } else {
        let before = axis.x(Ms(waited_from).as_f64()) - 8.0 - WAIT_TEXT;
        paper.text(before, baseline(y), "end", "ink", &full);
    }
}

/// The attempt that was not made.
pub(super) fn refused(paper: &mut Paper, axis: &Axis, top: f64, refused: &Refused, waited_from: Duration) {
    name(paper, top, &format!("attempt {}", refused.attempt), "not attempted", "faint");
    let start = waited_from.saturating_add(refused.retry_delay_ms.0);
    let (y, from) = (bar_top(top), axis.x(Ms(waited_from).as_f64()));
    let width = (axis.x(Ms(start).as_f64()) - from).max(2.0);
    paper.rect(from, y, width, BAR, "refused");
    let text = format!("not attempted: could only start at {}", Ms(start));
    if from - 8.0 - width_of(&text) * 0.9 >= LEFT {
        paper.text(from - 8.0, baseline(y), "end", "faint", &text);
    } else {
        paper.text(from + width + 8.0, baseline(y), "start", "faint", &text);
    }
}

fn wait(paper: &mut Paper, axis: &Axis, top: f64, from: f64, to: f64, delay: Ms) {
    let (left, right) = (axis.x(from), axis.x(to));
    let y = bar_top(top);
    paper.rect(left, y, (right - left).max(1.0), BAR, "wait");
    let text = format!("wait {delay}");
    if left - 6.0 - width_of(&text) * 0.85 >= LEFT {
        paper.text(left - 6.0, baseline(y), "end", "small", &text);
    }
}

fn name(paper: &mut Paper, top: f64, first: &str, second: &str, class: &str) {
    paper.text(24.0, top + LANE / 2.0 - 3.0, "start", class, first);
    paper.text(24.0, top + LANE / 2.0 + 13.0, "start", "small", second);
}

fn bar_top(top: f64) -> f64 {
    top + (LANE - BAR) / 2.0
}

fn baseline(bar_top: f64) -> f64 {
    bar_top + BAR / 2.0 + 4.5
}

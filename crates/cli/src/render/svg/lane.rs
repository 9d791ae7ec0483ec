//! One lane: an attempt, the wait before it, and its name.

use super::axis::Axis;
use super::label::Parts;
use super::layout::{BAR, LANE, LEFT, RIGHT};
use super::paper::{Paper, width_of};
use super::picture::Picture;
use crate::render::{Ms, Row};
use gax_retry::{Code, NotAttempted};
use std::time::Duration;

/// How far an RPC timeout that ends beyond the axis is drawn.
const OVER: f64 = 12.0;

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
    let (y, from) = (bar_top(top), axis.x(start));
    let waited = row.retry_delay_ms.as_f64() > 0.0;
    let wait = if waited { axis.x(Ms(waited_from).as_f64()) } else { from };
    let text = waited.then(|| format!("wait {}", row.retry_delay_ms));
    if waited {
        paper.rect(wait, y, (from - wait).max(1.0), BAR, "wait");
    }
    let (Some(end), Some(code)) = (row.end_ms, row.code) else {
        paper.rect(from, y, RIGHT - from, BAR, "open");
        let parts = Parts { wait, from, to: RIGHT, total: None };
        let outcome = "no reply: it never ends";
        parts.write(paper, baseline(y), text.as_deref(), outcome, "no reply", "ink");
        return;
    };
    let granted = row.rpc_timeout_ms.map_or(0.0, |timeout| start + timeout.as_f64());
    if granted > end.as_f64() && axis.shows(granted) {
        paper.rect(from, y, axis.x(granted) - from, BAR, "granted");
    } else if granted > end.as_f64() {
        paper.open_rect(from, y, RIGHT + OVER, BAR, "granted");
    }
    let (bar, on) = classes(code, picture);
    let to = from + (axis.x(end.as_f64()) - from).max(2.0);
    paper.rect(from, y, to - from, BAR, bar);
    let parts = Parts { wait, from, to, total: picture.total_on(axis).map(|total| axis.x(total.as_f64())) };
    let outcome = format!("{code}, {}", Ms(end.0.saturating_sub(row.start_ms.0)));
    parts.write(paper, baseline(y), text.as_deref(), &outcome, code.name(), on);
}

/// The attempt that was not made.
pub(super) fn refused(
    paper: &mut Paper,
    axis: &Axis,
    top: f64,
    refused: &NotAttempted,
    waited_from: Duration,
) {
    name(paper, top, &format!("attempt {}", refused.attempt()), "not attempted", "faint");
    let start = waited_from.saturating_add(refused.delay());
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

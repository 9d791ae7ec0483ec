//! The meaning of colours and patterns: only those that are in the picture.

use super::lane;
use super::layout::MOST;
use super::paper::{Paper, width_of};
use super::picture::Picture;

const NAMES: [(&str, &str); 8] = [
    ("ok", "success"),
    ("late", "ran into its RPC timeout"),
    ("retried", "error, retryable"),
    ("final", "error, final"),
    ("lost", "cancelled: another attempt has ended the call"),
    ("wait", "wait"),
    ("granted", "RPC timeout not used up"),
    ("refused", "not attempted"),
];

pub(super) fn draw(paper: &mut Paper, y: f64, picture: &Picture<'_>, with_total: bool) {
    let rows = || picture.timeline.attempts.iter().take(MOST);
    let used = |class: &str| match class {
        "wait" => rows().any(|row| row.retry_delay_ms.as_f64() > 0.0),
        "granted" => rows().any(|row| match (row.rpc_timeout_ms, row.end_ms) {
            (Some(timeout), Some(end)) => row.start_ms.0.saturating_add(timeout.0) > end.0,
            _ => false,
        }),
        "refused" => picture.timeline.not_attempted.is_some(),
        _ => rows().filter_map(|row| row.code).any(|code| lane::classes(code, picture).0 == class),
    };
    let mut x = 24.0;
    for (class, name) in NAMES.into_iter().filter(|(class, _)| used(class)) {
        paper.rect(x, y - 11.0, 22.0, 14.0, class);
        paper.text(x + 29.0, y, "start", "small", name);
        x += 29.0 + width_of(name) * 0.88 + 20.0;
    }
    if with_total {
        paper.stroke((x, y - 4.0), (x + 22.0, y - 4.0), "total");
        paper.text(x + 29.0, y, "start", "small", "total timeout");
    }
}

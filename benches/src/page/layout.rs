//! The rows of the page's table.

use super::figures::Figures;
use crate::canned::Canned;
use crate::contender::{Backon, Bare, Contender, Generated, Layered, TowerRetry};
use std::fmt::Write as _;

/// A row: its text, where its figures are, and what is aimed at.
struct Line {
    text: &'static str,
    case: (&'static str, &'static str),
    column: &'static str,
    /// Whether more is better.
    more: bool,
    aim: &'static str,
}

const fn line(
    text: &'static str,
    case: (&'static str, &'static str),
    column: &'static str,
    aim: &'static str,
) -> Line {
    Line { text, case, column, more: false, aim }
}

const AT_ONCE: (&str, &str) = ("canned, ready at once", "");
const PENDING: (&str, &str) = ("canned, pending once", "");
const COUNTED: (&str, &str) = ("instructions, ready at once", "");
const COUNTED_RETRY: (&str, &str) = ("instructions, ready at once", "one retry");
const RETRY: (&str, &str) = ("one retry, beside two raw calls", "");
const PARKED: (&str, &str) = ("parked in back-off", "");

const LINES: [Line; 18] = [
    line(
        "canned, replies at once: CPU, times the raw client's",
        AT_ONCE,
        "processor time x raw",
        "1.12, 0.60",
    ),
    line("canned, pending once: the same", PENDING, "processor time x raw", "1.18, 0.65"),
    line("instructions beside the raw client's", COUNTED, "over raw", "1,200 more, fewer"),
    line("allocations beside the raw client's", AT_ONCE, "allocations over raw", "1 more, 8 fewer"),
    line("bytes allocated beside the raw client's", AT_ONCE, "bytes over raw", "160 more, 16,000 fewer"),
    line(
        "one retry: CPU, times that of two raw calls",
        RETRY,
        "processor time x two raw calls",
        "0.87, 0.60",
    ),
    line(
        "the same: instructions beside those of two raw calls",
        COUNTED_RETRY,
        "over two raw calls",
        "fewer",
    ),
    line(
        "the same: allocations beside those of two raw calls",
        RETRY,
        "allocations over two raw calls",
        "4 fewer, 14 fewer",
    ),
    line(
        "1 MiB sent three times: CPU, times that of one raw call",
        ("1 MiB, 3 attempts, beside one raw attempt", ""),
        "processor time x one raw attempt",
        "1.10, 1.03",
    ),
    line(
        "the same: bytes allocated beside those of one raw call",
        ("1 MiB, 3 attempts: bytes beside one raw attempt", ""),
        "over one raw attempt",
        "4,096, 3,072",
    ),
    Line {
        text: "loopback, 64 in flight: calls a second, times the raw client's",
        case: ("loopback", "64 in flight"),
        column: "calls/s x raw",
        more: true,
        aim: "0.96, 1.02",
    },
    line(
        "loopback, one at a time: client's CPU, times the raw client's",
        ("loopback", "one at a time"),
        "client's processor time x raw",
        "1.05, 0.97",
    ),
    line("waiting for an attempt: live bytes a call", PARKED, "live bytes each", "2,200, 1,250"),
    line("the same: CPU a call, in microseconds", PARKED, "processor us each", "3.6, 2.0"),
    line(
        "a retry without delay: wall clock beside two raw calls, in microseconds",
        ("zero-delay retry, time on the wall", ""),
        "us over two raw calls",
        "5 more",
    ),
    line(
        "a message of a response stream: CPU, times the raw client's",
        ("canned, server streams", ""),
        "processor time x raw",
        "1.03, 1.00",
    ),
    line(
        "a message of a request stream: the same",
        ("canned, client streams", ""),
        "processor time x raw",
        "1.03, 1.00",
    ),
    line("a message each way: the same", ("canned, both stream", ""), "processor time x raw", "1.03, 1.00"),
];

const LAYER: &str = Layered::<Canned>::NAME;
const GENERATED: &str = Generated::<Canned>::NAME;
const FLOOR: &str = Bare::<Canned>::NAME;
const PEERS: [&str; 2] = [TowerRetry::<Canned>::NAME, Backon::<Canned>::NAME];

/// The page's table, in Markdown. A figure that is missing leaves its place empty.
#[must_use]
pub fn table(figures: &Figures) -> String {
    let mut text = String::from(
        "| case | best peer that retries | floor | layer | generated client | aim |\n\
         | --- | --- | --- | --- | --- | --- |\n",
    );
    for Line { text: name, case, column, more, aim } in LINES {
        let of = |name| figures.get(case, name, column).unwrap_or_default();
        let peers = figures.column(case, column).filter(|(name, _)| PEERS.contains(name));
        let number = |text: &str| text.parse::<f64>().unwrap_or(f64::NAN);
        let best = peers.map(|(_, value)| value).min_by(|one, other| {
            let (one, other) = if more { (other, one) } else { (one, other) };
            number(one).total_cmp(&number(other))
        });
        let cells = [best.unwrap_or_default(), of(FLOOR), of(LAYER), of(GENERATED), aim];
        let _infallible = writeln!(text, "| {name} | {} |", cells.join(" | "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_of_the_peers_has_its_place() {
        let [tower, backon] = PEERS;
        let figures = Figures::of(&format!(
            "loopback\n 64 in flight\n  contender  calls/s  calls/s x raw\n  raw tonic client  9  1.00\n  \
             {tower}  8  0.90\n  {backon}  8  0.95\n  {GENERATED}  9  1.02\n",
        ));
        let table = table(&figures);
        let row = table.lines().find(|line| line.contains("64 in flight")).unwrap_or_default();
        assert!(row.ends_with("| 0.95 |  |  | 1.02 | 0.96, 1.02 |"), "{row}");
    }
}

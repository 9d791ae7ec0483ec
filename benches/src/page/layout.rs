//! The rows of the page's table.

use super::figures::Figures;
use std::fmt::Write as _;

/// The rows: their text, the case that has their figures, the heading below it, the column, and what is aimed at.
const ROWS: &str = "\
canned, replies at once: CPU, times the raw client's | canned, ready at once |  | processor time x raw | 1.22, 0.54
canned, pending once: the same | canned, pending once |  | processor time x raw | 1.27, 0.60
instructions compared with the raw client's | instructions, ready at once |  | over raw | 1,900 more, 6,700 fewer
lines of code that the first cache lacks, compared with the raw client's | instructions, ready at once |  | more lines |
allocations compared with the raw client's | canned, ready at once |  | allocations over raw | 1 more, 9 fewer
bytes allocated compared with the raw client's | canned, ready at once |  | bytes over raw | 160 more, 17,000 fewer
one retry: CPU, times that of two raw calls | one retry, beside two raw calls |  | processor time x two raw calls | 1.00, 0.62
the same: instructions compared with those of two raw calls | instructions, ready at once | one retry | over two raw calls | 1,800 fewer, 9,800 fewer
the same: allocations compared with those of two raw calls | one retry, beside two raw calls |  | allocations over two raw calls | 1 fewer, 12 fewer
1 MiB sent three times: CPU, times that of one raw call | 1 MiB, 3 attempts, beside one raw attempt |  | processor time x one raw attempt | 1.15, 1.01
the same: bytes allocated compared with those of one raw call | 1 MiB, 3 attempts: bytes beside one raw attempt |  | over one raw attempt | 4,096, 3,072
loopback, 64 in flight: calls a second, times the raw client's | loopback | 64 in flight | calls/s x raw | 0.95, 1.02
loopback, one at a time: client's CPU, times the raw client's | loopback | one at a time | client's processor time x raw | 1.05, 0.98
waiting for an attempt: live bytes a call | parked in back-off |  | live bytes each | 2,450, 1,280
the same: CPU a call, in microseconds | parked in back-off |  | processor us each | 5.0, 3.6
a retry without delay: wall clock compared with two raw calls, in microseconds | zero-delay retry, time on the wall |  | us over two raw calls | 5 more
a message of a response stream: CPU, times the raw client's | canned, server streams |  | processor time x raw | 1.08, 1.08
a message of a request stream: the same | canned, client streams |  | processor time x raw | 1.03, 1.00
a message each way: the same | canned, both stream |  | processor time x raw | 1.03, 1.00";

/// A line of [`ROWS`], taken apart.
fn rows() -> impl Iterator<Item = [&'static str; 5]> {
    ROWS.lines().filter_map(|line| line.split('|').map(str::trim).collect::<Vec<_>>().try_into().ok())
}

/// The cases of the rows that take times. What is counted is the same in each process.
pub fn timed() -> impl Iterator<Item = &'static str> {
    rows().map(|[_, case, ..]| case).filter(|case| !case.starts_with("instructions"))
}

/// Who has a column: the name in the benches, and its heading.
const COLUMNS: [(&str, &str); 10] = [
    ("raw, set_timeout", "timeout only"),
    ("tower::retry, a hand-tuned policy", "tower::retry"),
    ("backon around the client", "backon"),
    ("google-cloud-gax around the client", "google-cloud-gax"),
    ("gcloud-gax around the client", "gcloud-gax"),
    ("tokio-retry2 around the client", "tokio-retry2"),
    ("backoff around the client", "backoff"),
    ("layer under tonic's client", "layer"),
    ("generated client", "generated client"),
    ("bare layer: one attempt", "floor of a layer"),
];

/// The page's table, in Markdown. A figure that is missing leaves its place empty.
#[must_use]
pub fn table(figures: &Figures) -> String {
    let mut text = format!(
        "| case | {} | aim |\n|{}\n",
        COLUMNS.map(|(_, heading)| heading).join(" | "),
        " --- |".repeat(COLUMNS.len() + 2),
    );
    for [name, case, part, column, aim] in rows() {
        let figure = |contender| figures.get((case, part), contender, column).unwrap_or_default();
        let cells = COLUMNS.map(|(contender, _)| figure(contender));
        let _infallible = writeln!(text, "| {name} | {} | {aim} |", cells.join(" | "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canned::Canned;
    use crate::contender::{Contender, Visitor, each_retrying};
    use crate::pace::Pace;

    #[test]
    fn each_row_has_its_parts() {
        assert_eq!(rows().count(), ROWS.lines().count());
    }

    #[test]
    fn each_contender_has_its_column() {
        struct Names(Vec<&'static str>);
        impl Visitor for Names {
            fn visit<C: Contender>(&mut self, _: C) {
                self.0.push(C::NAME);
            }
        }
        let mut names = Names(Vec::new());
        each_retrying(Canned::new, Pace::AT_ONCE, &mut names);
        for name in names.0 {
            assert!(COLUMNS.iter().any(|(column, _)| *column == name), "{name}");
        }
    }

    #[test]
    fn a_figure_stands_in_the_column_of_its_contender() {
        let figures = Figures::of(
            "loopback\n 64 in flight\n  contender  calls/s  calls/s x raw\n  raw tonic client  9  1.00\n  \
             backon around the client  8  0.95\n  generated client  9  1.02\n",
        );
        let table = table(&figures);
        let row = table.lines().find(|line| line.contains("64 in flight")).unwrap_or_default();
        assert!(row.ends_with("client's |  |  | 0.95 |  |  |  |  |  | 1.02 |  | 0.95, 1.02 |"), "{row}");
    }
}

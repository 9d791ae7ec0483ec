//! Tables of numbers.

use crate::measure::Summary;
use std::fmt::Write as _;

/// A table of text in columns.
#[derive(Debug, Default)]
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these headings.
    #[must_use]
    pub fn new(headings: &[&str]) -> Self {
        Self { rows: vec![headings.iter().map(|&text| text.to_owned()).collect()] }
    }

    /// Adds a row.
    pub fn row<I>(&mut self, cells: I)
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// The text: the first column to the left, the others to the right.
    #[must_use]
    pub fn text(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or_default();
        let widths: Vec<usize> = (0..columns)
            .map(|column| self.rows.iter().filter_map(|row| row.get(column)).map(String::len).max())
            .map(Option::unwrap_or_default)
            .collect();
        let mut text = String::new();
        for row in &self.rows {
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                let _infallible = if column == 0 {
                    write!(text, "  {cell:width$}")
                } else {
                    write!(text, "  {cell:>width$}")
                };
            }
            text.truncate(text.trim_end().len());
            text.push('\n');
        }
        text
    }
}

/// The target of each of our own entries, by the contender's name.
#[must_use]
pub fn target(name: &str, layer: &str, generated: &str) -> String {
    match name {
        "layer under tonic's client" => layer.to_owned(),
        "generated client" => generated.to_owned(),
        _ => String::new(),
    }
}

/// A table of what calls cost, beside the first: the headings of the names, of the nanoseconds and of the ratios. Our own have targets, if
/// there are some.
#[must_use]
pub fn ratios(headings: [&str; 3], summaries: &[Summary], targets: Option<(&str, &str)>) -> String {
    summed(headings, summaries, targets, |summary| {
        let (low, high) = summary.quartiles;
        (format!("{:.0}", summary.nanos), summary.ratio, low, high)
    })
}

/// Returns the same, with what is done in a second.
#[must_use]
pub fn rates(headings: [&str; 3], summaries: &[Summary], targets: Option<(&str, &str)>) -> String {
    summed(headings, summaries, targets, |summary| {
        let (low, high) = summary.quartiles;
        (format!("{:.0}", 1e9 / summary.nanos), 1.0 / summary.ratio, 1.0 / high, 1.0 / low)
    })
}

fn summed(
    [name, cost, ratio]: [&str; 3],
    summaries: &[Summary],
    targets: Option<(&str, &str)>,
    numbers: impl Fn(&Summary) -> (String, f64, f64, f64),
) -> String {
    let last = targets.map(|_| "target");
    let headings: Vec<&str> = [name, cost, ratio, "quartiles"].into_iter().chain(last).collect();
    let mut table = Table::new(&headings);
    for summary in summaries {
        let (cost, ratio, low, high) = numbers(summary);
        let cells = [summary.name.to_owned(), cost, format!("{ratio:.2}"), format!("{low:.2} to {high:.2}")];
        table.row(
            cells.into_iter().chain(targets.map(|(layer, generated)| target(summary.name, layer, generated))),
        );
    }
    table.text()
}

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
pub fn target(name: &str, (layer, generated): (&str, &str)) -> String {
    let target = match name {
        "layer under tonic's client" => layer,
        "generated client" => generated,
        _ => "",
    };
    target.to_owned()
}

/// A table of what was measured: the cells of each row, by its own numbers and those of the first. Our own rows have targets, if there are
/// some.
#[must_use]
pub fn beside_first<T: Copy, const N: usize>(
    headings: &[&str],
    rows: &[(&str, T)],
    targets: Option<(&str, &str)>,
    cells: impl Fn(T, T) -> [String; N],
) -> String {
    let headings: Vec<&str> = headings.iter().copied().chain(targets.map(|_| "target")).collect();
    let mut table = Table::new(&headings);
    for ((name, row), (_, first)) in rows.iter().zip(rows.first().into_iter().cycle()) {
        let target = targets.map(|targets| target(name, targets));
        table.row([(*name).to_owned()].into_iter().chain(cells(*row, *first)).chain(target));
    }
    table.text()
}

/// A table of what calls cost, beside the first: the headings of the names, of the nanoseconds and of the ratios.
#[must_use]
pub fn ratios(headings: [&str; 3], rows: &[(&str, Summary)], targets: Option<(&str, &str)>) -> String {
    summed(headings, rows, targets, |Summary { nanos, ratio, quartiles: (low, high) }| {
        (nanos, [ratio, low, high])
    })
}

/// Returns the same, with what is done in a second.
#[must_use]
pub fn rates(headings: [&str; 3], rows: &[(&str, Summary)], targets: Option<(&str, &str)>) -> String {
    summed(headings, rows, targets, |Summary { nanos, ratio, quartiles: (low, high) }| {
        (1e9 / nanos, [ratio, high, low].map(|ratio| 1.0 / ratio))
    })
}

fn summed(
    [name, cost, ratio]: [&str; 3],
    rows: &[(&str, Summary)],
    targets: Option<(&str, &str)>,
    numbers: impl Fn(Summary) -> (f64, [f64; 3]),
) -> String {
    beside_first(&[name, cost, ratio, "quartiles"], rows, targets, |row, _| {
        let (cost, [ratio, low, high]) = numbers(row);
        [format!("{cost:.0}"), format!("{ratio:.2}"), format!("{low:.2} to {high:.2}")]
    })
}

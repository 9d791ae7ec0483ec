//! The figures in the output of benches.

/// The figures that benches have printed: tables under headings, as [`Table`](crate::table::Table) writes them.
#[derive(Debug, Default)]
pub struct Figures {
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    /// The heading at the left margin, and the one below it, if there is one.
    case: (String, String),
    name: String,
    /// The name of a column, and the text in it.
    cells: Vec<(String, String)>,
}

impl Figures {
    /// The tables of a text. What is no table is passed over.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let mut figures = Self::default();
        let (mut case, mut columns) = ((String::new(), String::new()), Vec::new());
        for line in text.lines() {
            let indent = line.len() - line.trim_start().len();
            match indent {
                _ if line.trim().is_empty() => {}
                0 => {
                    case = (line.to_owned(), String::new());
                    columns.clear();
                }
                1 => {
                    line.trim().clone_into(&mut case.1);
                    columns.clear();
                }
                _ if columns.is_empty() => columns = cells(line),
                _ => figures.add(&case, &columns, &cells(line)),
            }
        }
        figures
    }

    fn add(&mut self, case: &(String, String), columns: &[String], cells: &[String]) {
        let Some((name, values)) = cells.split_first() else { return };
        let columns = columns.iter().skip(1);
        let cells = columns.zip(values).map(|(column, value)| (column.clone(), value.clone())).collect();
        self.rows.push(Row { case: case.clone(), name: name.clone(), cells });
    }

    /// A figure: the case and the heading below it, if there is one, the row and the column. The median, if it was printed more than once. The
    /// quartiles of a ratio follow it in brackets.
    #[must_use]
    pub fn get(&self, case: (&str, &str), name: &str, column: &str) -> Option<String> {
        let rows = self.rows.iter().filter(|row| row.is_of(case) && row.name == name);
        let mut values: Vec<_> = rows.filter_map(|row| Some((row.cell(column)?, row))).collect();
        values.sort_by(|(a, _), (b, _)| number(a).total_cmp(&number(b)));
        let (value, row) = *values.get(values.len() / 2)?;
        let quartiles = row.cell("quartiles").filter(|_| column.contains(" x "));
        Some(quartiles.map_or_else(|| value.to_owned(), |range| format!("{value} ({range})")))
    }
}

impl Row {
    fn cell(&self, column: &str) -> Option<&str> {
        self.cells.iter().find(|(name, _)| name == column).map(|(_, value)| &**value)
    }

    fn is_of(&self, (case, part): (&str, &str)) -> bool {
        self.case.0 == case && self.case.1 == part
    }
}

/// The number in a cell. One without a number comes last.
fn number(cell: &str) -> f64 {
    cell.parse().unwrap_or(f64::INFINITY)
}

/// The cells of a line: two spaces or more are between them.
fn cells(line: &str) -> Vec<String> {
    line.trim().split("  ").map(str::trim).filter(|cell| !cell.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Table;

    #[test]
    fn a_figure_that_was_printed_more_than_once_is_the_median() {
        let run = |value| format!("speed\n  contender  over raw\n  layer  {value}\n");
        let figures = Figures::of(&["+10", "-2", "+9"].map(run).concat());
        assert_eq!(figures.get(("speed", ""), "layer", "over raw"), Some("+9".to_owned()));
    }

    #[test]
    fn a_figure_is_found_by_its_case_its_row_and_its_column() {
        let mut table = Table::new(&["contender", "ns a call", "time x raw", "quartiles", "target"]);
        table.row(["raw tonic client", "1000", "1.00", "1.00 to 1.00", ""]);
        table.row(["layer under tonic's client", "1250", "1.25", "1.24 to 1.27", "<= 1.30"]);
        let text = format!("warning: none\n\nloopback\n 64 in flight\n{}\nother\n", table.text());
        let figures = Figures::of(&text);
        let get = |case, name, column| figures.get(case, name, column).unwrap_or_default();
        let case = ("loopback", "64 in flight");
        assert_eq!(get(case, "layer under tonic's client", "time x raw"), "1.25 (1.24 to 1.27)");
        assert_eq!(get(("loopback", ""), "raw tonic client", "ns a call"), "");
        assert_eq!(get(case, "raw tonic client", "target"), "");
        assert_eq!(get(case, "raw tonic client", "ns a call"), "1000");
        assert_eq!(get(case, "layer under tonic's client", "ns a call"), "1250");
    }
}

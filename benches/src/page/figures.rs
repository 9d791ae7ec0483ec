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

    /// A figure: the case and the heading below it, if there is one, the row and the column. The median, if it was printed more than once.
    #[must_use]
    pub fn get(&self, case: (&str, &str), name: &str, column: &str) -> Option<&str> {
        let rows = self.rows.iter().filter(|row| row.is_of(case) && row.name == name);
        let cells = rows.flat_map(|row| &row.cells).filter(|(other, _)| other == column);
        let mut values: Vec<&str> = cells.map(|(_, value)| &**value).collect();
        values.sort_by(|a, b| number(a).total_cmp(&number(b)));
        values.get(values.len() / 2).copied()
    }
}

impl Row {
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
        assert_eq!(figures.get(("speed", ""), "layer", "over raw"), Some("+9"));
    }

    #[test]
    fn a_figure_is_found_by_its_case_its_row_and_its_column() {
        let mut table = Table::new(&["contender", "ns a call", "time x raw", "target"]);
        table.row(["raw tonic client", "1000", "1.00", ""]);
        table.row(["layer under tonic's client", "1250", "1.25", "<= 1.30"]);
        let text = format!("warning: none\n\nloopback\n 64 in flight\n{}\nother\n", table.text());
        let figures = Figures::of(&text);
        let case = ("loopback", "64 in flight");
        assert_eq!(figures.get(case, "layer under tonic's client", "time x raw"), Some("1.25"));
        assert_eq!(figures.get(("loopback", ""), "raw tonic client", "ns a call"), None);
        assert_eq!(figures.get(case, "raw tonic client", "target"), None);
        assert_eq!(figures.get(case, "raw tonic client", "ns a call"), Some("1000"));
        assert_eq!(figures.get(case, "layer under tonic's client", "ns a call"), Some("1250"));
    }
}

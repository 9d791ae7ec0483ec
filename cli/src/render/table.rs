//! Tables of text: ASCII, the same bytes everywhere, colours aside.

use super::color::HEAD;
use anstyle::Style;
use gax_retry::__private::Escaped;
use std::fmt;

/// The side of its column that a cell stands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// One cell, whose text is printed with control characters escaped.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    pub(crate) fn styled(text: &impl fmt::Display, style: Style) -> Self {
        Self { text: Escaped(text).to_string(), style }
    }

    fn width(&self) -> usize {
        self.text.chars().count()
    }
}

impl<T: fmt::Display> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::styled(&text, Style::new())
    }
}

/// Rows under a head; a row may be shorter than the head.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    aligns: Vec<Align>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    pub(crate) fn new<const N: usize>(columns: [(&str, Align); N]) -> Self {
        let head = columns.iter().map(|(name, _)| Cell::styled(name, HEAD)).collect();
        Self { aligns: columns.iter().map(|(_, align)| *align).collect(), rows: vec![head] }
    }

    pub(crate) fn push(&mut self, row: impl IntoIterator<Item = Cell>) {
        self.rows.push(row.into_iter().collect());
    }

    fn widths(&self) -> Vec<usize> {
        let width = |column| self.rows.iter().filter_map(|row| row.get(column)).map(Cell::width).max();
        (0..self.aligns.len()).map(|column| width(column).unwrap_or(0)).collect()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.widths();
        for (index, row) in self.rows.iter().enumerate() {
            let mut gap = 0;
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                if column > 0 {
                    write!(f, "{:gap$} | ", "")?;
                }
                let pad = width.saturating_sub(cell.width());
                let right = self.aligns.get(column) == Some(&Align::Right);
                let before = if right { pad } else { 0 };
                gap = pad - before;
                write!(f, "{:before$}{}{}{:#}", "", cell.style, cell.text, cell.style)?;
            }
            writeln!(f)?;
            if index == 0 {
                let lines: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
                writeln!(f, "{}", lines.join("-+-"))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell_and_lines_end_without_spaces() {
        let mut table = Table::new([("n", Align::Right), ("name", Align::Left), ("last", Align::Left)]);
        table.push([Cell::from(7), Cell::from("a longer one"), Cell::from("x")]);
        table.push([Cell::from(1234), Cell::from("b")]);
        let expected = "   n | name         | last\n\
                        -----+--------------+-----\n   7 | a longer one | x\n1234 | b\n";
        assert_eq!(anstream::adapter::strip_str(&table.to_string()).to_string(), expected);
    }
}

//! Tables of text: ASCII, the same bytes everywhere.

use crate::Escaped;
use std::fmt;

/// The side of its column on which a cell is aligned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a column has two sides")]
pub enum Align {
    /// Text, which is broken at spaces if there is no room for it.
    Left,
    /// Numbers, which never are.
    Right,
}

/// The meaning of a cell, for programs that have colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "whoever has colours has one for each")]
pub enum Role {
    /// Nothing special.
    Plain,
    /// The head of a column.
    Head,
    /// It did not happen, or matters less.
    Faint,
    /// A success.
    Success,
    /// It took too long.
    Timeout,
    /// A failure.
    Failure,
}

/// One cell, whose text is printed with control characters escaped.
#[derive(Debug, Clone)]
pub struct Cell {
    text: String,
    role: Role,
}

impl Cell {
    /// A text with its meaning.
    #[must_use]
    pub fn new(text: &impl fmt::Display, role: Role) -> Self {
        Self { text: Escaped(text).to_string(), role }
    }

    fn width(&self) -> usize {
        self.text.chars().count()
    }
}

impl<T: fmt::Display> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::new(&text, Role::Plain)
    }
}

/// Rows under a head; a row may be shorter than the head.
#[derive(Debug, Clone)]
pub struct Grid {
    aligns: Vec<Align>,
    rows: Vec<Vec<Cell>>,
}

/// Between two columns.
const BETWEEN: &str = " | ";
/// A column of text is never made narrower than that.
const NARROWEST: usize = 12;

impl Grid {
    /// A table of that head, without rows.
    #[must_use]
    pub fn new<const N: usize>(columns: [(&str, Align); N]) -> Self {
        let head = columns.iter().map(|(name, _)| Cell::new(name, Role::Head)).collect();
        Self { aligns: columns.iter().map(|(_, align)| *align).collect(), rows: vec![head] }
    }

    /// Adds a column at the right.
    pub fn column(&mut self, name: &str, align: Align) {
        self.aligns.push(align);
        self.rows.iter_mut().take(1).for_each(|head| head.push(Cell::new(&name, Role::Head)));
    }

    /// Adds a row.
    pub fn push(&mut self, row: impl IntoIterator<Item = Cell>) {
        self.rows.push(row.into_iter().collect());
    }

    /// Writes the table in that width, if its text columns can be made narrow enough. `paint` returns the text before
    /// and after a cell of each role.
    ///
    /// # Errors
    ///
    /// Writing to `out` failed.
    pub fn write<P: fmt::Display>(
        &self,
        out: &mut dyn fmt::Write,
        width: Option<usize>,
        paint: impl Fn(Role) -> [P; 2],
    ) -> fmt::Result {
        let widths = self.widths(width.unwrap_or(usize::MAX));
        for (index, row) in self.rows.iter().enumerate() {
            let cells: Vec<Vec<String>> =
                row.iter().zip(&widths).map(|(cell, width)| broken(&cell.text, *width)).collect();
            let height = cells.iter().map(Vec::len).max().unwrap_or(1);
            for line in 0..height {
                self.line(out, row, &cells, &widths, line, &paint)?;
            }
            if index == 0 {
                let lines: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
                writeln!(out, "{}", lines.join("-+-"))?;
            }
        }
        Ok(())
    }

    /// One line of a row whose cells may have several.
    fn line<P: fmt::Display>(
        &self,
        out: &mut dyn fmt::Write,
        row: &[Cell],
        cells: &[Vec<String>],
        widths: &[usize],
        line: usize,
        paint: &impl Fn(Role) -> [P; 2],
    ) -> fmt::Result {
        // A line ends with its last text.
        let has_text = |cell: &Vec<String>| cell.get(line).is_some_and(|text| !text.is_empty());
        let last = cells.iter().rposition(has_text).map_or(0, |at| at + 1);
        let mut gap = 0;
        for (column, ((cell, lines), width)) in row.iter().zip(cells).zip(widths).take(last).enumerate() {
            if column > 0 {
                write!(out, "{:gap$}{BETWEEN}", "")?;
            }
            let text = lines.get(line).map_or("", String::as_str);
            let pad = width.saturating_sub(text.chars().count());
            let before = if self.aligns.get(column) == Some(&Align::Right) { pad } else { 0 };
            gap = pad - before;
            let [start, end] = paint(cell.role);
            write!(out, "{:before$}{start}{text}{end}", "")?;
        }
        writeln!(out)
    }

    /// The widths of the columns: those of their widest cells, unless that is too wide for the whole.
    fn widths(&self, most: usize) -> Vec<usize> {
        let widest = |column| self.rows.iter().filter_map(|row| row.get(column)).map(Cell::width).max();
        let mut widths: Vec<usize> =
            (0..self.aligns.len()).map(|column| widest(column).unwrap_or(0)).collect();
        let between = BETWEEN.len() * widths.len().saturating_sub(1);
        loop {
            let total = widths.iter().sum::<usize>() + between;
            let columns = widths.iter_mut().zip(&self.aligns).rev();
            let texts = columns.filter(|(_, align)| **align == Align::Left).map(|(width, _)| width);
            let Some(widest) = texts.filter(|width| **width > NARROWEST).max_by_key(|width| **width) else {
                return widths;
            };
            if total <= most {
                return widths;
            }
            *widest -= 1;
        }
    }
}

impl fmt::Display for Grid {
    /// The table as wide as it comes, without colours.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, None, |_| ["", ""])
    }
}

/// The text in lines of that width, broken at spaces, or within a word that is longer.
fn broken(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        let is_first = used == 0 && lines.len() == 1 && lines.first().is_some_and(String::is_empty);
        if is_first || used + 1 + length > width {
            if !is_first {
                lines.push(String::new());
            }
            used = 0;
        } else if let Some(line) = lines.last_mut() {
            line.push(' ');
            used += 1;
        }
        for c in word.chars() {
            if used >= width.max(1) {
                lines.push(String::new());
                used = 0;
            }
            if let Some(line) = lines.last_mut() {
                line.push(c);
                used += 1;
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(grid: &Grid, width: usize) -> String {
        let mut text = String::new();
        grid.write(&mut text, Some(width), |_| ["", ""]).unwrap();
        text
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell_and_lines_end_without_spaces() {
        let mut grid = Grid::new([("n", Align::Right), ("name", Align::Left), ("last", Align::Left)]);
        grid.push([Cell::from(7), Cell::from("a longer one"), Cell::from("x")]);
        grid.push([Cell::from(1234), Cell::from("b"), Cell::from("")]);
        let expected = "   n | name         | last\n\
                        -----+--------------+-----\n   7 | a longer one | x\n1234 | b\n";
        assert_eq!(grid.to_string(), expected);
        assert_eq!(written(&grid, 26), expected);
        assert_eq!(written(&grid, 5), expected, "no column of text is made narrower than it can be read");
    }

    #[test]
    fn what_is_too_wide_is_broken_at_spaces() {
        let mut grid = Grid::new([("codes", Align::Left), ("n", Align::Right), ("from", Align::Left)]);
        grid.push([
            Cell::from("DEADLINE_EXCEEDED, UNAVAILABLE"),
            Cell::from(60),
            Cell::from("table.json:17"),
        ]);
        grid.push([Cell::from("-"), Cell::from(1), Cell::from("-")]);
        assert_eq!(
            written(&grid, 39),
            "codes              |  n | from\n\
             -------------------+----+--------------\n\
             DEADLINE_EXCEEDED, | 60 | table.json:17\n\
             UNAVAILABLE\n\
             -                  |  1 | -\n"
        );
    }

    #[test]
    fn a_word_that_is_too_long_is_broken_anywhere() {
        assert_eq!(broken("a bcdefgh i", 3), ["a", "bcd", "efg", "h i"]);
        assert_eq!(broken("", 3), [""]);
        assert_eq!(broken("äöü ß", 4), ["äöü", "ß"]);
        assert_eq!(broken("abc", 0), ["a", "b", "c"]);
    }

    #[test]
    fn colours_take_no_room() {
        let mut grid = Grid::new([("code", Align::Right)]);
        grid.push([Cell::new(&"OK", Role::Success)]);
        let mut text = String::new();
        grid.write(&mut text, None, |role| if role == Role::Head { ["", ""] } else { ["<", ">"] }).unwrap();
        assert_eq!(text, "code\n----\n  <OK>\n");
    }
}

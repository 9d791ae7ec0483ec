//! Sentences, as wide as the terminal.

use super::table::width;

/// The text with its lines broken at spaces if they are wider than the terminal. What follows a break moves that many
/// spaces to the right.
pub(crate) fn prose(text: &str, indent: usize) -> String {
    match width() {
        Some(width) => filled(text, indent, width),
        None => text.to_owned(),
    }
}

fn filled(text: &str, indent: usize, width: usize) -> String {
    let mut filled = String::new();
    for line in text.split_inclusive('\n') {
        let mut column = 0;
        for word in line.split_inclusive(' ') {
            let wide = columns(word.trim_end());
            if column > indent && column + wide > width {
                filled.truncate(filled.trim_end_matches(' ').len());
                filled.push('\n');
                filled.push_str(&" ".repeat(indent));
                column = indent;
            }
            filled.push_str(word);
            column += columns(word.trim_end_matches('\n'));
        }
    }
    filled
}

/// How many columns a word takes: what styles it takes none.
fn columns(word: &str) -> usize {
    let mut parts = word.split("\u{1b}[");
    let first = parts.next().map_or(0, |part| part.chars().count());
    parts.fold(first, |sum, part| sum + part.split_once('m').map_or(0, |(_, rest)| rest.chars().count()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_spaces() {
        assert_eq!(filled("one two three\nfour\n\n", 2, 9), "one two\n  three\nfour\n\n");
        assert_eq!(filled("  1 ms  it comes: OK\n", 8, 16), "  1 ms  it\n        comes:\n        OK\n");
        assert_eq!(filled("a_word_without_end b", 0, 5), "a_word_without_end\nb");
    }

    #[test]
    fn styles_take_no_columns() {
        assert_eq!(filled("\u{1b}[1mone\u{1b}[0m two", 0, 7), "\u{1b}[1mone\u{1b}[0m two");
    }
}

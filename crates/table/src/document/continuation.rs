//! Quoted scalars of YAML that continue at the left margin.
//!
//! YAML wants the lines of a quoted scalar to be indented, and the parser refuses a text where one is not. `PyYAML`
//! and `SnakeYAML` read such texts, and Google publishes some. They are given to the parser with spaces in
//! front of these lines, which mean nothing there.

use crate::input::MAX_FILE;
use saphyr_parser::Parser;

/// The parser's words for a quoted scalar with such a line; it says where the scalar begins.
const NOT_INDENTED: &str = "invalid indentation in quoted scalar";

/// A text with spaces in front of some lines; by default, of none.
#[derive(Debug, Default)]
pub(super) struct Indented {
    pub(super) text: String,
    /// Where spaces were put in, in characters of the new text, and how many there are up to there.
    spaces: Vec<Spaces>,
}

#[derive(Debug, Clone, Copy)]
struct Spaces {
    start: usize,
    end: usize,
    sum: usize,
}

impl Indented {
    /// A text with spaces in front of the lines for which the parser refuses quoted scalars, up to their quote.
    pub(super) fn quoted(text: &str) -> Self {
        let mut indented = Self { text: text.to_owned(), spaces: Vec::new() };
        // The parser begins anew each time: of a long text it takes fewer.
        let mut parsed = 0;
        while parsed < MAX_FILE {
            parsed += indented.text.len().max(1);
            let refused = Parser::new_from_str(&indented.text).find_map(Result::err);
            let quote = refused.filter(|error| error.info() == NOT_INDENTED).map(|error| *error.marker());
            if quote.and_then(|quote| indented.indent(quote.index(), quote.col())).is_none() {
                break;
            }
        }
        indented
    }

    /// Indents the lines of the scalar with that quote; `None`: it doesn't end, they are, or the text would be too long.
    fn indent(&mut self, quote: usize, depth: usize) -> Option<()> {
        let (start, mark) = self.text.char_indices().nth(quote)?;
        let (before, rest) = self.text.split_at(start);
        let (scalar, after) = rest.split_at(end_of_quoted(rest, mark)?);
        let spaces = scalar.matches('\n').count().saturating_mul(depth);
        if self.text.len().saturating_add(spaces) > MAX_FILE {
            return None;
        }
        let (mut indented, mut place, known) = (before.to_owned(), quote, self.spaces.len());
        for (number, line) in scalar.split_inclusive('\n').enumerate() {
            let wide = line.len() - line.trim_start_matches(' ').len();
            let is_marker = ["---", "..."].iter().any(|marker| {
                line.strip_prefix(marker).is_some_and(|rest| rest.trim_start().len() < rest.len())
            });
            if number > 0 && wide < depth && !line.trim().is_empty() && !is_marker {
                let sum = self.spaces.last().map_or(0, |last| last.sum) + depth - wide;
                self.spaces.push(Spaces { start: place, end: place + depth - wide, sum });
                indented.push_str(&" ".repeat(depth - wide));
                place += depth - wide;
            }
            indented.push_str(line);
            place += line.chars().count();
        }
        self.text = indented + after;
        (self.spaces.len() > known).then_some(())
    }

    /// The place in the original text of a place in the new one, both in characters.
    pub(super) fn original(&self, character: usize) -> usize {
        let before = self.spaces.partition_point(|spaces| spaces.end <= character);
        let sum = before.checked_sub(1).and_then(|last| self.spaces.get(last)).map_or(0, |spaces| spaces.sum);
        let within = self.spaces.get(before).map_or(0, |spaces| character.saturating_sub(spaces.start));
        character - sum - within
    }
}

/// Where the quoted scalar at the start of a text ends, if it does.
fn end_of_quoted(text: &str, quote: char) -> Option<usize> {
    let mut letters = text.char_indices().skip(1).peekable();
    while let Some((at, letter)) = letters.next() {
        let is_twice = quote == '\'' && letters.peek().is_some_and(|(_, next)| *next == quote);
        if letter == '\\' && quote == '"' || letter == quote && is_twice {
            letters.next();
        } else if letter == quote {
            return Some(at + letter.len_utf8());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_left_of_their_quote_are_indented() {
        for (text, expected) in [
            ("a:\n  b: 'c\nd'\n  e: f\n", "a:\n  b: 'c\n     d'\n  e: f\n"),
            ("a:\n  b: \"c\\\nd\\\"\n\n e\"\n", "a:\n  b: \"c\\\n     d\\\"\n\n     e\"\n"),
            ("- a: 'it''s\nb' # 'c\n", "- a: 'it''s\n     b' # 'c\n"),
            ("a:\n- b: ['c\nd', \"e\nf\"]\n", "a:\n- b: ['c\n      d', \"e\n          f\"]\n"),
        ] {
            assert_eq!(Indented::quoted(text).text, expected);
        }
    }

    #[test]
    fn other_texts_stay_as_they_are() {
        for text in [
            "'a\n...\nb'\n",
            "a:\n  - 'b\n---\n  c'\n",
            "a: it's\nb: c\n",
            "a: |\n  'b\n\n  c\nd: e\n",
            "- a: >-\n    'b\n  c: d\n",
            "# 'a\nb: c # \"d\ne: f\n",
            "a: ['b', c'd]\n",
            "a: b\n  'c\nd: - e\n- f\n  'g\n",
            "a:\n  b: 'c\nd\n",
            "",
        ] {
            assert_eq!(Indented::quoted(text).text, text);
        }
    }

    #[test]
    fn a_text_that_would_be_too_long_stays_as_it_is() {
        let text = format!("a:{}'b\n{}'\n", " ".repeat(8000), "c\n".repeat(8000));
        assert!(Indented::quoted(&text).text == text);
    }

    #[test]
    fn places_lead_back() {
        let text = "a:\n  b: 'é\nd\n  e'\n";
        let indented = Indented::quoted(text);
        assert_eq!(indented.text, "a:\n  b: 'é\n     d\n     e'\n");
        let original: Vec<usize> =
            (0..indented.text.chars().count()).map(|place| indented.original(place)).collect();
        assert_eq!(
            original,
            [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 11, 11, 11, 11, 11, 12, 13, 13, 13, 13, 14, 15, 16, 17]
        );
    }
}

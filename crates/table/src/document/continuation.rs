//! Quoted scalars of YAML that continue at the left margin.
//!
//! YAML wants the lines of a quoted scalar to be indented, and the parser refuses a text where one is not. `PyYAML`
//! and `SnakeYAML` read such texts, and Google publishes some. They are given to the parser with spaces in
//! front of these lines, which mean nothing there.

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
    /// A text with spaces in front of the lines of quoted scalars that begin left of their quote; `None`: it has
    /// no such lines. What is treated as quoted is a guess, so that every place has to be
    /// [checked](Self::count_in) against what the parser says.
    pub(super) fn quoted(text: &str) -> Option<Self> {
        let mut indenter = Indenter::default();
        text.split_inclusive('\n').for_each(|line| indenter.line(line));
        Some(indenter.indented).filter(|indented| !indented.spaces.is_empty())
    }

    /// The place in the original text of a place in the new one, both in characters.
    pub(super) fn original(&self, character: usize) -> usize {
        let before = self.spaces.partition_point(|spaces| spaces.end <= character);
        let sum = before.checked_sub(1).and_then(|last| self.spaces.get(last)).map_or(0, |spaces| spaces.sum);
        let within = self.spaces.get(before).map_or(0, |spaces| character.saturating_sub(spaces.start));
        character - sum - within
    }

    /// In how many places between these two spaces were put in.
    pub(super) fn count_in(&self, start: usize, end: usize) -> usize {
        let before = |place| self.spaces.partition_point(|spaces| spaces.start < place);
        before(end).saturating_sub(before(start))
    }

    pub(super) fn count(&self) -> usize {
        self.spaces.len()
    }
}

/// Goes through a text line by line.
#[derive(Default)]
struct Indenter {
    indented: Indented,
    /// The length of the new text so far, in characters.
    length: usize,
    /// The scalar that has not ended yet: its quote, and how deep its lines have to begin.
    open: Option<(char, usize)>,
    /// The column that the lines of a block scalar, or of one without quotes, are right of.
    block: Option<usize>,
    /// How many brackets and braces are open.
    flow: usize,
}

impl Indenter {
    fn line(&mut self, line: &str) {
        let spaces = line.chars().take_while(|c| *c == ' ').count();
        let is_blank = line.trim().is_empty();
        let characters: Vec<char> = line.chars().collect();
        if let Some((quote, depth)) = self.open {
            let is_marker = ["---", "..."].iter().any(|marker| {
                line.strip_prefix(marker)
                    .is_some_and(|rest| rest.trim_start().len() < rest.len() || rest.is_empty())
            });
            if spaces < depth && !is_blank && !is_marker {
                self.indent(depth - spaces);
            }
            match closing(&characters, 0, quote) {
                None => {}
                Some(end) => {
                    self.open = None;
                    self.tokens(&characters, end + 1, depth);
                }
            }
        } else if is_blank || self.block.is_some_and(|parent| spaces > parent) {
            // Nothing in it has a special meaning.
        } else {
            self.block = None;
            self.tokens(&characters, 0, 0);
        }
        self.indented.text.push_str(line);
        self.length += characters.len();
    }

    fn indent(&mut self, spaces: usize) {
        let sum = self.indented.spaces.last().map_or(0, |last| last.sum) + spaces;
        self.indented.spaces.push(Spaces { start: self.length, end: self.length + spaces, sum });
        self.indented.text.push_str(&" ".repeat(spaces));
        self.length += spaces;
    }

    /// Goes through a line from a column on. A scalar that begins there continues no further left than `depth`.
    fn tokens(&mut self, line: &[char], mut column: usize, depth: usize) {
        let mut parent = 0;
        while let Some(first) = line.get(column) {
            let ends = line.get(column + 1).is_none_or(|next| next.is_whitespace());
            match first {
                '#' => return,
                '\'' | '"' => {
                    let Some(end) = closing(line, column + 1, *first) else {
                        self.open = Some((*first, column.max(depth)));
                        return;
                    };
                    column = end;
                }
                '|' | '>' if self.flow == 0 => {
                    self.block = Some(parent);
                    return;
                }
                '[' | '{' => self.flow += 1,
                ']' | '}' => self.flow = self.flow.saturating_sub(1),
                '-' | '?' if ends => parent = column,
                ':' if ends => {}
                first if first.is_whitespace() || *first == ',' => {}
                _ => {
                    let start = column;
                    column = self.end_of_plain(line, column);
                    match line.get(column) {
                        Some(':') => parent = start,
                        // It may continue in the lines that follow.
                        None if self.flow == 0 => self.block = Some(parent),
                        _ => {}
                    }
                    continue;
                }
            }
            column += 1;
        }
    }

    /// Where a scalar without quotes ends: before a colon or a comment and, in brackets, before what divides.
    fn end_of_plain(&self, line: &[char], start: usize) -> usize {
        let is_end = |(index, c): (usize, &char)| {
            let next_is_space = line.get(index + 1).is_none_or(|next| next.is_whitespace());
            let is_divider = self.flow > 0 && matches!(c, ',' | '[' | ']' | '{' | '}');
            let is_comment = *c == ' ' && line.get(index + 1) == Some(&'#');
            *c == ':' && next_is_space || is_divider || is_comment
        };
        let rest = line.iter().enumerate().skip(start + 1);
        rest.into_iter().find(|item| is_end(*item)).map_or(line.len(), |(index, _)| index)
    }
}

/// Where in the line a quoted scalar ends, if it does.
fn closing(line: &[char], start: usize, quote: char) -> Option<usize> {
    let mut column = start;
    loop {
        let c = *line.get(column)?;
        if c == '\\' && quote == '"' || c == quote && quote == '\'' && line.get(column + 1) == Some(&quote) {
            column += 2;
        } else if c == quote {
            return Some(column);
        } else {
            column += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn indented(text: &str) -> String {
        Indented::quoted(text).map_or_else(|| "as it is".to_owned(), |indented| indented.text)
    }

    #[test]
    fn lines_left_of_their_quote_are_indented() {
        for (text, expected) in [
            ("a:\n  b: 'c\nd'\n  e: f\n", "a:\n  b: 'c\n     d'\n  e: f\n"),
            ("a:\n  b: \"c\\\nd\\\"\n\n e\"\n", "a:\n  b: \"c\\\n     d\\\"\n\n     e\"\n"),
            ("- a: 'it''s\nb', # 'c\n", "- a: 'it''s\n     b', # 'c\n"),
            ("a: ['b\nc', \"d\ne\"]\n", "a: ['b\n    c', \"d\n    e\"]\n"),
            ("'a\n...\nb'\n", "as it is"),
            ("  'a\n... \nb'\n", "  'a\n... \n  b'\n"),
        ] {
            assert_eq!(indented(text), expected);
        }
    }

    #[test]
    fn quotes_in_other_places_open_nothing() {
        for text in [
            "a: it's\nb: c\n",
            "a: |\n  'b\n\n  c\nd: e\n",
            "- |\n 'b\n- c\n",
            "- a: >-\n    'b\n  c: d\n",
            "# 'a\nb: c # \"d\ne: f\n",
            "a: ['b', c'd]\n",
            "a: 'b'\nc: \"d\"\n",
            "a: b\n  'c\nd: - e\n- f\n  'g\n",
            "",
        ] {
            assert_eq!(indented(text), "as it is", "{text}");
        }
    }

    #[test]
    fn places_lead_back() {
        let text = "a:\n  b: 'é\nd\n  e'\n";
        let indented = Indented::quoted(text).unwrap();
        assert_eq!(indented.text, "a:\n  b: 'é\n     d\n     e'\n");
        let original: Vec<usize> =
            (0..indented.text.chars().count()).map(|place| indented.original(place)).collect();
        assert_eq!(
            original,
            [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 11, 11, 11, 11, 11, 12, 13, 13, 13, 13, 14, 15, 16, 17]
        );
        assert_eq!((indented.count(), indented.count_in(8, 25), indented.count_in(12, 25)), (2, 2, 1));
    }
}

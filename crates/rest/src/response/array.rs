//! The elements of a JSON array, or objects one after the other, that come in pieces.

use std::ops::Range;

/// Finds the elements of a JSON array, or objects without one, in bytes that come in pieces, wherever these are cut. What an element
/// is like inside is left to those who read it.
#[derive(Debug, Default)]
pub(super) struct ArrayReader {
    /// The bytes that came, from the last place on at which more was needed.
    pub(super) buffer: Vec<u8>,
    /// The byte that is looked at next.
    at: usize,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    /// Before the array.
    #[default]
    Start,
    /// After its bracket.
    First,
    /// After a comma.
    Next,
    /// In an element that began there: how deep, in brackets and braces, whether in a text and behind a backslash, and whether it
    /// stands outside of the array: before or behind it.
    Element { start: usize, depth: usize, in_text: bool, is_escaped: bool, outside: Option<Outside> },
    /// After an element.
    Between,
    /// After an object that stands where the array should begin.
    Objects,
    /// After the array.
    End,
}

/// Where an object outside of an array stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outside {
    /// In place of the array.
    InPlace,
    Behind,
}

/// The next thing in the bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NextPart {
    /// An element, whose bytes can be taken.
    Element(Vec<u8>),
    /// An object that stands outside of an array.
    Outside(Outside, Vec<u8>),
    /// More bytes are needed.
    More,
}

/// The bytes are no array: the offset in what came since the element before.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NoArray(pub(super) String);

impl ArrayReader {
    /// Returns whether nothing has come.
    pub(super) fn is_blank(&self) -> bool {
        self.state == State::Start && self.buffer.trim_ascii().is_empty()
    }

    /// Returns whether nothing need follow: the array has ended, or there is none and an object has ended.
    pub(super) fn is_over(&self) -> bool {
        matches!(self.state, State::End | State::Objects)
    }

    /// Looks for the next element.
    pub(super) fn next(&mut self) -> Result<NextPart, NoArray> {
        while let Some(&byte) = self.buffer.get(self.at) {
            self.at += 1;
            if let State::Element { start, depth, in_text, is_escaped, outside } = &mut self.state {
                let is_bare = *depth == 0 && !*in_text;
                match byte {
                    _ if *is_escaped => *is_escaped = false,
                    b'\\' if *in_text => *is_escaped = true,
                    b'"' => *in_text = !*in_text,
                    _ if *in_text => continue,
                    b'{' | b'[' => *depth += 1,
                    b'}' | b']' if !is_bare => *depth = depth.saturating_sub(1),
                    // A number or a word ends before this.
                    b',' | b']' | b' ' | b'\t' | b'\r' | b'\n' if is_bare => {
                        self.at -= 1;
                        let range = *start..self.at;
                        return Ok(self.element(range, None));
                    }
                    _ => continue,
                }
                let is_closed = *depth == 0 && !*in_text && matches!(byte, b'}' | b']' | b'"');
                if is_closed {
                    let (range, outside) = (*start..self.at, *outside);
                    return Ok(self.element(range, outside));
                }
                continue;
            }
            if byte.is_ascii_whitespace() {
                continue;
            }
            self.state = match (self.state, byte) {
                (State::Start, b'[') => State::First,
                (State::First | State::Between, b']') => State::End,
                (State::Between, b',') => State::Next,
                (State::Start | State::Objects, b'{') => self.begin(Some(Outside::InPlace)),
                (State::End, b'{') => self.begin(Some(Outside::Behind)),
                (State::First | State::Next, byte) if !matches!(byte, b',' | b']' | b'}' | b':') => {
                    self.begin(None)
                }
                (_, byte) => {
                    let place = match self.state {
                        State::Start => "where its array should begin",
                        State::End => "behind its array",
                        State::Objects => "between its objects",
                        _ => "between the elements of its array",
                    };
                    return Err(NoArray(format!("it has {:?} {place}", char::from(byte))));
                }
            };
        }
        self.forget();
        Ok(NextPart::More)
    }

    /// An element begins with the byte that was looked at last.
    fn begin(&mut self, outside: Option<Outside>) -> State {
        self.at -= 1;
        State::Element { start: self.at, depth: 0, in_text: false, is_escaped: false, outside }
    }

    /// An element that has ended.
    fn element(&mut self, range: Range<usize>, outside: Option<Outside>) -> NextPart {
        let bytes = self.buffer.get(range).unwrap_or_default().to_vec();
        let (state, part) = match outside {
            None => (State::Between, NextPart::Element(bytes)),
            Some(Outside::InPlace) => (State::Objects, NextPart::Outside(Outside::InPlace, bytes)),
            Some(Outside::Behind) => (State::End, NextPart::Outside(Outside::Behind, bytes)),
        };
        self.state = state;
        part
    }

    /// Drops all but the element that has begun: once for all that came together, and not for each of its elements.
    fn forget(&mut self) {
        let first = match &mut self.state {
            State::Element { start, .. } => std::mem::take(start),
            _ => self.buffer.len(),
        };
        self.buffer.drain(..first);
        self.at -= first;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The elements of a text that comes in pieces of that length, and how it ends.
    fn read(text: &str, length: usize) -> (Vec<String>, String) {
        let (mut reader, mut elements) = (ArrayReader::default(), Vec::new());
        let text_of = |bytes| String::from_utf8(bytes).unwrap();
        for piece in text.as_bytes().chunks(length) {
            reader.buffer.extend_from_slice(piece);
            loop {
                match reader.next() {
                    Ok(NextPart::Element(element)) => elements.push(text_of(element)),
                    Ok(NextPart::Outside(place, object)) => {
                        elements.push(format!("{place:?} {}", text_of(object)));
                    }
                    Ok(NextPart::More) => break,
                    Err(NoArray(problem)) => return (elements, problem),
                }
            }
        }
        let end = if reader.is_over() { "over" } else { "cut" };
        (elements, end.to_owned())
    }

    #[test]
    fn elements_are_found_wherever_their_bytes_are_cut() {
        let elements =
            [r#"{"a":"]}\"\\","b":[1,{"c":2}]}"#, "[]", r#""x,y""#, "-1.5e3", "null", r#"{"é":"€"}"#];
        let text = format!(" [ {} ]\n", elements.join(" ,\n"));
        for length in 1..=text.len() {
            let (found, end) = read(&text, length);
            assert_eq!((found, &*end), (elements.map(str::to_owned).to_vec(), "over"), "{length}");
        }
    }

    #[test]
    fn elements_that_come_together_are_not_moved_one_by_one() {
        let mut reader = ArrayReader::default();
        let text = format!("[{}1", "{},".repeat(1000));
        reader.buffer.extend_from_slice(text.as_bytes());
        for _ in 0..1000 {
            assert_eq!(reader.next(), Ok(NextPart::Element(b"{}".to_vec())));
            assert_eq!(reader.buffer.len(), text.len());
        }
        // The element that has begun is kept.
        assert_eq!((reader.next(), reader.buffer.as_slice()), (Ok(NextPart::More), b"1".as_slice()));
        reader.buffer.extend_from_slice(b"2]");
        assert_eq!(reader.next(), Ok(NextPart::Element(b"12".to_vec())));
        assert_eq!((reader.next(), reader.buffer.len()), (Ok(NextPart::More), 0));
    }

    #[test]
    fn any_bytes_are_the_same_wherever_they_are_cut() {
        // All texts of four of these, behind an array's beginning and behind a whole array.
        const PARTS: [&str; 11] = ["[", "]", "{", "}", ",", "\"", "\\", "1", " ", "é", "\"a\":"];
        for begin in ["", "[", "[1]"] {
            for number in 0..PARTS.len().pow(4) {
                let digits = (0..4).map(|place| number / PARTS.len().pow(place) % PARTS.len());
                let text = begin.to_owned() + &digits.map(|digit| PARTS[digit]).collect::<String>();
                assert_eq!(read(&text, 1), read(&text, text.len().max(1)), "{text}");
            }
        }
    }

    #[test]
    fn what_is_no_array_says_where() {
        for (text, count, end) in [
            ("[]", 0, "over"),
            ("[", 0, "cut"),
            ("", 0, "cut"),
            ("[1,2", 1, "cut"),
            ("[1,2]", 2, "over"),
            (r#"[{"a":1}"#, 1, "cut"),
            ("[1] [2]", 1, "it has '[' behind its array"),
            ("[,1]", 0, "it has ',' between the elements of its array"),
            ("[1,]", 1, "it has ']' between the elements of its array"),
            (r#"["a" "b"]"#, 1, "it has '\"' between the elements of its array"),
            ("<html>", 0, "it has '<' where its array should begin"),
            (r#"{"error":{}}"#, 1, "over"),
            (r#"[1] {"error":{}}"#, 2, "over"),
            ("{}\n{\"a\":{}}\n", 2, "over"),
            ("{}{", 1, "cut"),
            ("{},{}", 1, "it has ',' between its objects"),
        ] {
            let (found, found_end) = read(text, text.len().max(1));
            assert_eq!((found.len(), &*found_end), (count, end), "{text}");
        }
    }
}

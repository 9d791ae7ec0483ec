//! Text that is written piece by piece, on the stack while it is short.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use std::fmt;

/// Text that takes no allocation while it is short.
pub(super) struct ShortText {
    short: [u8; Self::SHORT],
    len: usize,
    /// All of it, once it is longer than that.
    long: Vec<u8>,
}

impl ShortText {
    const SHORT: usize = 256;

    pub(super) fn new() -> Self {
        Self { short: [0; Self::SHORT], len: 0, long: Vec::new() }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        let end = self.len + bytes.len();
        if self.long.is_empty() {
            if let Some(place) = self.short.get_mut(self.len..end) {
                place.copy_from_slice(bytes);
                self.len = end;
                return;
            }
            self.long.reserve(end.max(2 * Self::SHORT));
            self.long.extend_from_slice(self.short.get(..self.len).unwrap_or_default());
        }
        self.long.extend_from_slice(bytes);
        self.len = end;
    }

    /// Writes bytes as they may be in a URL: all but `[A-Za-z0-9._~-]` are escaped.
    pub(super) fn push_escaped(&mut self, bytes: &[u8]) {
        const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'.').remove(b'_').remove(b'~').remove(b'-');
        for piece in percent_encode(bytes, ESCAPED) {
            self.push(piece.as_bytes());
        }
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        if self.long.is_empty() { self.short.get(..self.len).unwrap_or_default() } else { &self.long }
    }
}

impl fmt::Write for ShortText {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push(text.as_bytes());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_but_unreserved_characters_are_escaped() {
        let mut text = ShortText::new();
        text.push_escaped("a-b._~Z9/é %=&".as_bytes());
        assert_eq!(text.as_bytes(), b"a-b._~Z9%2F%C3%A9%20%25%3D%26");
    }

    #[test]
    fn text_of_any_length_is_written() {
        for length in [0, 1, 255, 256, 257, 1000] {
            let mut text = ShortText::new();
            for index in 0..length {
                text.push(&[b'a' + u8::try_from(index % 26).unwrap()]);
            }
            let expected: Vec<u8> =
                (0..length).map(|index| b'a' + u8::try_from(index % 26).unwrap()).collect();
            assert_eq!(text.as_bytes(), expected, "{length}");
        }
    }
}

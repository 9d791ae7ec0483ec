//! From a byte of a text to its line and column.

/// How many bytes lie between two places whose number of characters is kept.
const STRIDE: usize = 256;

/// Where the lines of a text begin. Finding a column costs the same in a text of one long line.
#[derive(Debug, Clone)]
pub(crate) struct Lines {
    starts: Vec<usize>,
    /// Of a text of 16 MiB at most.
    characters: Vec<u32>,
}

impl Lines {
    pub(crate) fn new(text: &str) -> Self {
        let newlines = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = std::iter::once(0).chain(newlines.map(|(index, _)| index + 1)).collect();
        let mut characters = Vec::with_capacity(text.len() / STRIDE + 2);
        characters.push(0);
        let mut count = 0_u32;
        for chunk in text.as_bytes().chunks(STRIDE) {
            count = count.saturating_add(u32::try_from(first_bytes(chunk)).unwrap_or(u32::MAX));
            characters.push(count);
        }
        Self { starts, characters }
    }

    /// Line and column of a byte, both from 1, the column in characters.
    pub(crate) fn position(&self, text: &str, byte: usize) -> (usize, usize) {
        let line = self.starts.partition_point(|start| *start <= byte);
        let start = line.checked_sub(1).and_then(|index| self.starts.get(index)).copied().unwrap_or(0);
        let byte = byte.min(text.len());
        // Most lines are shorter than the way from a mark.
        let before = match text.as_bytes().get(start..byte) {
            Some(bytes) if bytes.len() <= STRIDE => first_bytes(bytes),
            _ => self.count_before(text, byte).saturating_sub(self.count_before(text, start)),
        };
        (line.max(1), before + 1)
    }

    fn count_before(&self, text: &str, byte: usize) -> usize {
        let mark = byte / STRIDE;
        let counted = self.characters.get(mark).copied().unwrap_or(0);
        usize::try_from(counted).unwrap_or(usize::MAX)
            + text.as_bytes().get(mark * STRIDE..byte).map_or(0, first_bytes)
    }
}

/// How many characters begin in these bytes.
fn first_bytes(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte & 0b1100_0000 != 0b1000_0000).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        let text = "ab\nçé→x\r\n\ny";
        let lines = Lines::new(text);
        let of = |what: &str| lines.position(text, text.find(what).unwrap());
        assert_eq!(of("a"), (1, 1));
        assert_eq!(of("b"), (1, 2));
        assert_eq!(of("x"), (2, 4));
        assert_eq!(of("y"), (4, 1));
        assert_eq!(lines.position(text, text.len()), (4, 2));
        assert_eq!(lines.position(text, usize::MAX), (4, 2));
        assert_eq!(Lines::new("").position("", 0), (1, 1));
    }

    #[test]
    fn a_long_line_is_counted_across_marks() {
        let text = format!("x\n{}y", "é".repeat(10_000));
        let lines = Lines::new(&text);
        assert_eq!(lines.position(&text, text.len() - 1), (2, 10_001));
        for (column, (index, _)) in text.char_indices().skip(2).enumerate() {
            assert_eq!(lines.position(&text, index), (2, column + 1));
        }
    }
}

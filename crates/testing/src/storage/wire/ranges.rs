//! The headers `Content-Range` of uploads and `Range` of downloads.

use std::num::ParseIntError;

/// The place of a request's bytes in the object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ContentRange {
    /// `bytes */N` or `bytes */*`: none, only the question how many there are.
    Query(Option<u64>),
    /// `bytes A-B/N`, `bytes A-B/*`, `bytes A-*/N` or `bytes A-*/*`.
    Bytes { first: u64, last: Option<u64>, total: Option<u64> },
}

impl ContentRange {
    /// `None`: it is no such header.
    pub(crate) fn read(header: &str) -> Option<Self> {
        let (range, total) = header.trim().strip_prefix("bytes")?.trim_start().split_once('/')?;
        let total = number_or(total, "*").ok()?;
        if range.trim() == "*" {
            return Some(Self::Query(total));
        }
        let (first, last) = range.split_once('-')?;
        let (first, last) = (first.trim().parse().ok()?, number_or(last, "*").ok()?);
        let is_ordered = last.is_none_or(|last| first <= last && total.is_none_or(|total| last < total));
        is_ordered.then_some(Self::Bytes { first, last, total })
    }
}

/// A range of bytes that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ByteRange {
    /// `None`: the last bytes are meant, so many.
    first: Option<u64>,
    last: Option<u64>,
}

impl ByteRange {
    /// One range; several, or a header that is none, are ignored.
    pub(crate) fn read(header: &str) -> Option<Self> {
        let (first, last) = header.trim().strip_prefix("bytes=")?.split_once('-')?;
        let (first, last) = (number_or(first, "").ok()?, number_or(last, "").ok()?);
        let is_range =
            if first.is_none() { last.is_some() } else { last.is_none_or(|last| first <= Some(last)) };
        is_range.then_some(Self { first, last })
    }

    /// Its begin and end in so many bytes; `None`: it lies beyond them.
    pub(crate) fn within(self, length: u64) -> Option<(u64, u64)> {
        let (begin, end) = match (self.first, self.last) {
            (Some(first), Some(last)) => (first, last.saturating_add(1).min(length)),
            (Some(first), None) => (first, length),
            (None, last) => (length.saturating_sub(last.unwrap_or_default()), length),
        };
        (begin < end).then_some((begin, end))
    }
}

/// The number in a header, or `None` where it has that text in its place.
fn number_or(text: &str, none: &str) -> Result<Option<u64>, ParseIntError> {
    let text = text.trim();
    if text == none { Ok(None) } else { text.parse().map(Some) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_ranges_are_read() {
        let bytes = |first, last, total| Some(ContentRange::Bytes { first, last, total });
        for (header, read) in [
            ("bytes */*", Some(ContentRange::Query(None))),
            ("bytes */7", Some(ContentRange::Query(Some(7)))),
            ("bytes 0-6/7", bytes(0, Some(6), Some(7))),
            ("bytes 0-6/*", bytes(0, Some(6), None)),
            ("bytes 5-*/7", bytes(5, None, Some(7))),
            ("bytes 0-*/*", bytes(0, None, None)),
            ("bytes 6-5/7", None),
            ("bytes 0-7/7", None),
            ("bytes=0-6", None),
            ("0-6/7", None),
            ("bytes -6/7", None),
        ] {
            assert_eq!(ContentRange::read(header), read, "{header}");
        }
    }

    #[test]
    fn ranges_are_read_and_applied() {
        for (header, within) in [
            ("bytes=0-0", Some((0, 1))),
            ("bytes=3-", Some((3, 10))),
            ("bytes=3-99", Some((3, 10))),
            ("bytes=-4", Some((6, 10))),
            ("bytes=-40", Some((0, 10))),
            ("bytes=10-", None),
            ("bytes=-0", None),
        ] {
            assert_eq!(ByteRange::read(header).unwrap().within(10), within, "{header}");
        }
        for header in
            ["", "bytes", "bytes=", "bytes=-", "bytes=5-4", "bytes=a-b", "items=0-1", "bytes=0-1,3-4"]
        {
            assert_eq!(ByteRange::read(header), None, "{header}");
        }
    }
}

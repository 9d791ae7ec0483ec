//! The header `Content-Range` of uploads.

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
        let number_or_any =
            |text: &str| if text == "*" { Some(None) } else { text.parse::<u64>().ok().map(Some) };
        let total = number_or_any(total.trim())?;
        if range.trim() == "*" {
            return Some(Self::Query(total));
        }
        let (first, last) = range.split_once('-')?;
        let (first, last) = (first.trim().parse().ok()?, number_or_any(last.trim())?);
        let is_ordered = last.is_none_or(|last| first <= last && total.is_none_or(|total| last < total));
        is_ordered.then_some(Self::Bytes { first, last, total })
    }
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
}

//! The header `Range`.

/// A range of bytes that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ByteRange {
    /// From the first to the last, which is included.
    FirstLast(u64, Option<u64>),
    /// The last ones.
    Suffix(u64),
}

impl ByteRange {
    /// One range; several, or a header that is none, are ignored.
    pub(crate) fn read(header: &str) -> Option<Self> {
        let (first, last) = header.trim().strip_prefix("bytes=")?.split_once('-')?;
        let (first, last) = (first.trim(), last.trim());
        if first.is_empty() {
            return last.parse().ok().map(Self::Suffix);
        }
        let first = first.parse().ok()?;
        let last = if last.is_empty() { None } else { Some(last.parse().ok()?) };
        last.is_none_or(|last| first <= last).then_some(Self::FirstLast(first, last))
    }

    /// Its begin and end in so many bytes; `None`: it lies beyond them.
    pub(crate) fn within(self, length: u64) -> Option<(u64, u64)> {
        let (begin, end) = match self {
            Self::FirstLast(first, last) => {
                (first, last.map_or(length, |last| last.saturating_add(1).min(length)))
            }
            Self::Suffix(last) => (length.saturating_sub(last), length),
        };
        (begin < end).then_some((begin, end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

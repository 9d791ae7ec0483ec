//! Ranges of bytes, as headers have them.

use http::header::{CONTENT_RANGE, RANGE};
use http::{HeaderMap, HeaderName};

/// The headers in which Cloud Storage describes an object.
pub(super) const GENERATION: HeaderName = HeaderName::from_static("x-goog-generation");
pub(super) const STORED_LENGTH: HeaderName = HeaderName::from_static("x-goog-stored-content-length");

/// The bytes that a response has, by its `Content-Range`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ContentRange {
    /// From the first of them up to the end, which is the place behind the last.
    Bytes { begin: u64, end: u64, total: Option<u64> },
    /// None: the range that was asked for lies outside of so many bytes.
    Outside { total: u64 },
}

impl ContentRange {
    /// That of a response; `None`: it has none, or one that can't be read.
    pub(super) fn of(headers: &HeaderMap) -> Option<Self> {
        let (range, total) = only(headers, &CONTENT_RANGE)?.strip_prefix("bytes ")?.trim().split_once('/')?;
        if range == "*" {
            return Some(Self::Outside { total: number(total)? });
        }
        let (first, last) = range.split_once('-')?;
        let (begin, end) = (number(first)?, number(last)?.checked_add(1)?);
        let total = if total == "*" { None } else { Some(number(total)?) };
        let fits = begin < end && total.is_none_or(|total| end <= total);
        fits.then_some(Self::Bytes { begin, end, total })
    }
}

/// How many bytes an upload's server has, by the `Range` of its 308: none, or those from the first to the last that it names.
/// `bytes=0-0` is one byte.
///
/// # Errors
///
/// The header can't be read, or its range does not begin at the first byte.
pub(super) fn persisted(headers: &HeaderMap) -> Result<u64, ()> {
    if !headers.contains_key(RANGE) {
        return Ok(0);
    }
    let range = only(headers, &RANGE).ok_or(())?;
    let range = range.strip_prefix("bytes=").unwrap_or(range);
    let (first, last) = range.split_once('-').ok_or(())?;
    match (number(first), number(last)) {
        (Some(0), Some(last)) => last.checked_add(1).ok_or(()),
        _ => Err(()),
    }
}

/// The value of a header that is there once.
pub(super) fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?.trim();
    values.next().is_none().then_some(value)
}

/// A number of digits alone.
pub(super) fn number(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}

/// The generation of an object that such headers describe.
pub(super) fn generation(headers: &HeaderMap) -> Option<i64> {
    only(headers, &GENERATION)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &HeaderName, values: &[&str]) -> HeaderMap {
        values.iter().map(|value| (name.clone(), value.parse().unwrap())).collect()
    }

    #[test]
    fn content_ranges() {
        let bytes = |begin, end, total| Some(ContentRange::Bytes { begin, end, total });
        for (value, expected) in [
            ("bytes 0-0/1", bytes(0, 1, Some(1))),
            ("bytes 5-9/10", bytes(5, 10, Some(10))),
            ("bytes 5-9/*", bytes(5, 10, None)),
            ("bytes */10", Some(ContentRange::Outside { total: 10 })),
            ("bytes */*", None),
            ("bytes 5-9/9", None),
            ("bytes 9-5/10", None),
            ("bytes 5-4/10", None),
            ("bytes 5-/10", None),
            ("bytes -5/10", None),
            ("bytes 0-18446744073709551615/*", None),
            ("bytes +5-9/10", None),
            ("lines 5-9/10", None),
            ("", None),
        ] {
            assert_eq!(ContentRange::of(&headers(&CONTENT_RANGE, &[value])), expected, "{value}");
        }
        assert_eq!(ContentRange::of(&headers(&CONTENT_RANGE, &["bytes 0-0/1", "bytes 0-0/1"])), None);
        assert_eq!(ContentRange::of(&HeaderMap::new()), None);
    }

    #[test]
    fn persisted_prefixes() {
        for (value, expected) in [
            ("bytes=0-0", Ok(1)),
            ("bytes=0-262143", Ok(262_144)),
            ("0-41", Ok(42)),
            ("bytes=1-41", Err(())),
            ("bytes=0-", Err(())),
            ("bytes=0-18446744073709551615", Err(())),
            ("bytes=", Err(())),
            ("", Err(())),
        ] {
            assert_eq!(persisted(&headers(&RANGE, &[value])), expected, "{value}");
        }
        assert_eq!(persisted(&HeaderMap::new()), Ok(0));
        assert_eq!(persisted(&headers(&RANGE, &["bytes=0-1", "bytes=0-2"])), Err(()));
    }
}

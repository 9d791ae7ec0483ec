//! The head of a download's response, and what follows from it: data in, decision out. Servers are not believed.

use crate::http::transfer::range::{ContentRange, number, only};
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, ETAG, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

const GENERATION: HeaderName = HeaderName::from_static("x-goog-generation");
const STORED_LENGTH: HeaderName = HeaderName::from_static("x-goog-stored-content-length");
const STORED_ENCODING: HeaderName = HeaderName::from_static("x-goog-stored-content-encoding");

/// The version of an object, as its server names it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Version {
    pub(super) generation: Option<i64>,
    /// A strong one, whose equality means equal bytes.
    pub(super) etag: Option<HeaderValue>,
    pub(super) encoding: Option<HeaderValue>,
    /// The bytes are not those that are stored: the server decompresses on the way, and ranges are of other bytes.
    pub(super) is_transcoded: bool,
}

impl Version {
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let generation = only(headers, &GENERATION).and_then(|text| text.parse().ok());
        let is_strong = |etag: &&HeaderValue| etag.as_bytes().starts_with(b"\"") && etag.as_bytes().len() > 2;
        let etag = headers.get(ETAG).filter(is_strong).cloned();
        let encoding = headers.get(CONTENT_ENCODING).filter(|value| *value != "identity").cloned();
        let is_gzip = |value: &HeaderValue| value.as_bytes().trim_ascii().eq_ignore_ascii_case(b"gzip");
        let is_transcoded =
            headers.get(STORED_ENCODING).is_some_and(is_gzip) && !encoding.as_ref().is_some_and(is_gzip);
        Self { generation, etag, encoding, is_transcoded }
    }

    /// A version that was written down.
    pub(super) fn stored(generation: Option<i64>, etag: Option<&str>, encoding: Option<&str>) -> Self {
        let value = |text: Option<&str>| text.and_then(|text| HeaderValue::try_from(text).ok());
        Self { generation, etag: value(etag), encoding: value(encoding), is_transcoded: false }
    }

    /// Whether a range of it can be asked for, and it is known whether it is of the same bytes.
    pub(super) fn is_resumable(&self) -> bool {
        !self.is_transcoded && (self.generation.is_some() || self.etag.is_some())
    }

    /// Whether the two have different names.
    fn is_another(&self, other: &Self) -> bool {
        match self.generation.zip(other.generation) {
            Some((one, other)) => one != other,
            None => self.etag.as_ref().zip(other.etag.as_ref()).is_some_and(|(one, other)| one != other),
        }
    }

    /// Whether the bytes of the two are different ones, by what both say.
    fn differs(&self, other: &Self) -> bool {
        self.is_another(other) || self.encoding != other.encoding || self.is_transcoded != other.is_transcoded
    }

    /// Whether both name the same version by something that both have.
    fn is_same(&self, other: &Self) -> bool {
        let has_common = self.generation.is_some() && other.generation.is_some()
            || self.etag.is_some() && other.etag.is_some();
        has_common && !self.differs(other)
    }
}

/// How far a download has come, as far as heads are concerned.
#[derive(Debug, Clone, Default)]
pub(super) struct Position {
    /// The place of the next byte that is wanted.
    pub(super) offset: u64,
    /// Up to where bytes are wanted, if that is not the end.
    pub(super) limit: Option<u64>,
    /// The version of which there are bytes, or of which there are to be.
    pub(super) version: Option<Version>,
    /// The length of the whole.
    pub(super) total: Option<u64>,
    /// Whether checksums show if a prefix that comes again is the same.
    pub(super) is_hashed: bool,
}

/// The consequence of a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    /// The body has bytes that are wanted, behind so many that are not. It reaches up to that place, and the whole has that length,
    /// as far as they are known.
    Body { skip: u64, end: Option<u64>, total: Option<u64> },
    /// Nothing is missing.
    Whole,
    /// It is another object, or nobody knows: only its begin is of use.
    Anew,
    /// It is in another place.
    Redirect,
    /// It failed.
    Failed,
    /// The response breaks the rules.
    Malformed(&'static str),
}

impl Position {
    /// The range that is asked for; `None`: all of it.
    pub(super) fn range(&self) -> Option<String> {
        if self.offset == 0 && self.limit.is_none() {
            return None;
        }
        if self.offset > 0 && !self.version.as_ref().is_some_and(Version::is_resumable) {
            return None;
        }
        let last = self.limit.and_then(|limit| limit.checked_sub(1));
        Some(last.map_or_else(
            || format!("bytes={}-", self.offset),
            |last| format!("bytes={}-{last}", self.offset),
        ))
    }

    /// Whether the version has a generation.
    pub(super) fn has_generation(&self) -> bool {
        self.version.as_ref().is_some_and(|version| version.generation.is_some())
    }

    /// The place at which nothing more is wanted, if it is known.
    pub(super) fn end(&self) -> Option<u64> {
        crate::operation::earlier(self.limit, self.total)
    }

    pub(super) fn decide(&self, status: StatusCode, headers: &HeaderMap) -> Decision {
        let version = Version::of(headers);
        let is_other = self.version.as_ref().is_some_and(|known| known.differs(&version));
        match status.as_u16() {
            206 => self.partial(is_other, headers),
            204 if self.offset == 0 => Decision::Body { skip: 0, end: Some(0), total: Some(0) },
            200 | 203 => self.whole(&version, is_other, headers),
            416 if self.offset > 0 || self.limit.is_some() => match ContentRange::of(headers) {
                // It has no content, and so no encoding.
                _ if self.version.as_ref().is_some_and(|known| known.is_another(&version)) => Decision::Anew,
                Some(ContentRange::Outside { total }) if total == self.offset => Decision::Whole,
                Some(ContentRange::Outside { total }) if total < self.offset => Decision::Anew,
                None if self.total == Some(self.offset) => Decision::Whole,
                None => Decision::Failed,
                Some(_) => Decision::Malformed("the server refused a range that it has"),
            },
            301..=303 | 307 | 308 if headers.contains_key(http::header::LOCATION) => Decision::Redirect,
            _ if status.is_success() => {
                Decision::Malformed("the server responded with another success than was asked for")
            }
            _ => Decision::Failed,
        }
    }

    /// A response with all of it, whether that was asked for or not.
    fn whole(&self, version: &Version, is_other: bool, headers: &HeaderMap) -> Decision {
        let length = only(headers, &CONTENT_LENGTH).and_then(number);
        let length = length.filter(|_| !headers.contains_key(TRANSFER_ENCODING));
        let stored = only(headers, &STORED_LENGTH).and_then(number).filter(|_| !version.is_transcoded);
        if length.zip(stored).is_some_and(|(length, stored)| length != stored) {
            return Decision::Malformed("the server announced fewer or more bytes than it has");
        }
        let total = length.or(stored);
        if self.offset == 0 {
            return if is_other { Decision::Anew } else { Decision::Body { skip: 0, end: total, total } };
        }
        let is_same = self.version.as_ref().is_some_and(|known| known.is_same(version));
        let has_other_length = self.total.zip(total).is_some_and(|(known, total)| known != total);
        let is_too_short = total.is_some_and(|total| total < self.offset);
        if is_other || has_other_length || is_too_short || !is_same && !self.is_hashed {
            return Decision::Anew;
        }
        Decision::Body { skip: self.offset, end: total, total }
    }

    /// A response with a part of it.
    fn partial(&self, is_other: bool, headers: &HeaderMap) -> Decision {
        match ContentRange::of(headers) {
            _ if is_other => Decision::Anew,
            Some(ContentRange::Bytes { total: Some(total), .. })
                if self.total.is_some_and(|known| known != total) =>
            {
                Decision::Anew
            }
            Some(ContentRange::Bytes { begin, .. }) if begin > self.offset => {
                Decision::Malformed("the server sent a range that begins behind the one that was asked for")
            }
            Some(ContentRange::Bytes { end, .. }) if end <= self.offset => {
                Decision::Malformed("the server sent a range that ends before the one that was asked for")
            }
            Some(ContentRange::Bytes { begin, end, total }) => {
                Decision::Body { skip: self.offset - begin, end: Some(end), total }
            }
            Some(ContentRange::Outside { .. }) | None => {
                Decision::Malformed("the server sent a range, and did not say which")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(entries: &[(&'static str, &'static str)]) -> HeaderMap {
        entries.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    const GENERATION_1: (&str, &str) = ("x-goog-generation", "1");
    const ETAG_A: (&str, &str) = ("etag", "\"a\"");

    /// A download of which there are five of ten bytes.
    fn half(version: &[(&'static str, &'static str)]) -> Position {
        let version = Some(Version::of(&headers(version)));
        Position { offset: 5, version, total: Some(10), ..Position::default() }
    }

    fn decide(position: &Position, status: u16, entries: &[(&'static str, &'static str)]) -> Decision {
        position.decide(StatusCode::from_u16(status).unwrap(), &headers(entries))
    }

    fn body(skip: u64, end: impl Into<Option<u64>>, total: impl Into<Option<u64>>) -> Decision {
        Decision::Body { skip, end: end.into(), total: total.into() }
    }

    #[test]
    fn the_first_response() {
        let first = Position::default();
        assert_eq!(first.range(), None);
        assert_eq!(decide(&first, 200, &[("content-length", "10")]), body(0, 10, 10));
        assert_eq!(decide(&first, 200, &[("x-goog-stored-content-length", "10")]), body(0, 10, 10));
        assert_eq!(decide(&first, 200, &[]), body(0, None, None));
        assert_eq!(decide(&first, 204, &[]), body(0, 0, 0));
        // A range that nobody asked for.
        assert_eq!(decide(&first, 206, &[("content-range", "bytes 0-4/10")]), body(0, 5, 10));
        assert!(matches!(decide(&first, 206, &[("content-range", "bytes 1-4/10")]), Decision::Malformed(_)));
        let short = [("content-length", "9"), ("x-goog-stored-content-length", "10")];
        assert!(matches!(decide(&first, 200, &short), Decision::Malformed(_)));
        // Bytes that are decompressed on the way have another length than those that are stored.
        let transcoded = [
            ("content-length", "30"),
            ("x-goog-stored-content-length", "10"),
            ("x-goog-stored-content-encoding", "gzip"),
        ];
        assert_eq!(decide(&first, 200, &transcoded), body(0, 30, 30));
        assert_eq!(decide(&first, 200, &transcoded[1..]), body(0, None, None));
        for status in [301, 302, 303, 307, 308] {
            assert_eq!(decide(&first, status, &[("location", "/b")]), Decision::Redirect);
            assert_eq!(decide(&first, status, &[]), Decision::Failed);
        }
        for status in [304, 400, 404, 412, 416, 503] {
            assert_eq!(decide(&first, status, &[]), Decision::Failed);
        }
        assert!(matches!(decide(&first, 202, &[]), Decision::Malformed(_)));
    }

    #[test]
    fn a_range_is_asked_for_only_of_a_version() {
        let range = |version: &[_]| half(version).range();
        assert_eq!(range(&[GENERATION_1]).as_deref(), Some("bytes=5-"));
        assert_eq!(range(&[ETAG_A]).as_deref(), Some("bytes=5-"));
        for none in [&[("etag", "W/\"a\"")][..], &[("etag", "a")], &[("etag", "\"\"")], &[]] {
            assert_eq!(range(none), None, "{none:?}");
        }
        assert_eq!(range(&[GENERATION_1, ("x-goog-stored-content-encoding", "gzip")]), None);
        let encoded =
            [GENERATION_1, ("x-goog-stored-content-encoding", "gzip"), ("content-encoding", "gzip")];
        assert_eq!(range(&encoded).as_deref(), Some("bytes=5-"));
        let first = Position { limit: Some(7), ..Position::default() };
        assert_eq!(first.range().as_deref(), Some("bytes=0-6"));
    }

    #[test]
    fn ranges_that_are_not_those_which_were_asked_for() {
        let half = half(&[GENERATION_1]);
        for (range, expected) in [
            ("bytes 5-9/10", body(0, 10, 10)),
            ("bytes 5-9/*", body(0, 10, None)),
            // Fewer bytes than were asked for.
            ("bytes 5-6/10", body(0, 7, 10)),
            // An earlier begin.
            ("bytes 0-9/10", body(5, 10, 10)),
            ("bytes 3-9/10", body(2, 10, 10)),
            // Another length is another object.
            ("bytes 5-9/11", Decision::Anew),
        ] {
            assert_eq!(decide(&half, 206, &[GENERATION_1, ("content-range", range)]), expected, "{range}");
        }
        for wrong in ["bytes 6-9/10", "bytes 0-4/10", "bytes */10", "bytes 5-9", "multipart"] {
            let decision = decide(&half, 206, &[("content-range", wrong)]);
            assert!(matches!(decision, Decision::Malformed(_)), "{wrong}: {decision:?}");
        }
        assert!(matches!(decide(&half, 206, &[]), Decision::Malformed(_)));
        let other = [("x-goog-generation", "2"), ("content-range", "bytes 5-9/10")];
        assert_eq!(decide(&half, 206, &other), Decision::Anew);
        let encoded = [GENERATION_1, ("content-encoding", "gzip"), ("content-range", "bytes 5-9/10")];
        assert_eq!(decide(&half, 206, &encoded), Decision::Anew);
    }

    #[test]
    fn all_of_it_where_a_range_was_asked_for_is_never_appended() {
        let same = [GENERATION_1, ("content-length", "10")];
        assert_eq!(decide(&half(&[GENERATION_1]), 200, &same), body(5, 10, 10));
        assert_eq!(decide(&half(&[ETAG_A]), 200, &[ETAG_A, ("content-length", "10")]), body(5, 10, 10));
        for other in [
            &[("x-goog-generation", "2"), ("content-length", "10")][..],
            &[GENERATION_1, ("content-length", "9")],
            &[GENERATION_1, ("content-length", "4")],
            // Nobody knows.
            &[("content-length", "10")],
        ] {
            assert_eq!(decide(&half(&[GENERATION_1]), 200, other), Decision::Anew, "{other:?}");
        }
        assert_eq!(
            decide(&half(&[ETAG_A]), 200, &[("etag", "\"b\""), ("content-length", "10")]),
            Decision::Anew
        );
        // Checksums show whether the prefix is the same.
        let hashed = Position { is_hashed: true, ..half(&[]) };
        assert_eq!(decide(&hashed, 200, &[("content-length", "10")]), body(5, 10, 10));
        assert_eq!(decide(&half(&[]), 200, &[("content-length", "10")]), Decision::Anew);
    }

    /// The longest object of Cloud Storage has 5 TiB.
    #[test]
    fn the_longest_object() {
        let version = Some(Version::of(&headers(&[GENERATION_1])));
        let late = Position { offset: (5 << 40) - 10, version, total: Some(5 << 40), ..Position::default() };
        assert_eq!(late.range().as_deref(), Some("bytes=5497558138870-"));
        let range = ("content-range", "bytes 5497558138870-5497558138879/5497558138880");
        assert_eq!(decide(&late, 206, &[GENERATION_1, range]), body(0, 5 << 40, 5 << 40));
        let whole = ("content-length", "5497558138880");
        assert_eq!(decide(&late, 200, &[GENERATION_1, whole]), body((5 << 40) - 10, 5 << 40, 5 << 40));
        let outside = ("content-range", "bytes */5497558138870");
        assert_eq!(decide(&late, 416, &[GENERATION_1, outside]), Decision::Whole);
    }

    #[test]
    fn a_range_behind_the_end() {
        let whole = Position { offset: 10, ..half(&[GENERATION_1]) };
        let outside = |total| [GENERATION_1, ("content-range", total)];
        assert_eq!(decide(&whole, 416, &outside("bytes */10")), Decision::Whole);
        assert_eq!(decide(&whole, 416, &[]), Decision::Whole);
        assert_eq!(decide(&whole, 416, &[GENERATION_1]), Decision::Whole);
        assert_eq!(decide(&whole, 416, &outside("bytes */9")), Decision::Anew);
        assert!(matches!(decide(&whole, 416, &outside("bytes */11")), Decision::Malformed(_)));
        // Of an empty object no range can be sent.
        let first = Position { limit: Some(10), ..Position::default() };
        assert_eq!(decide(&first, 416, &outside("bytes */0")), Decision::Whole);
        assert_eq!(decide(&Position::default(), 416, &outside("bytes */0")), Decision::Failed);
        let encoded = [GENERATION_1, ("content-encoding", "gzip")];
        let encoded = Position { version: Some(Version::of(&headers(&encoded))), ..whole.clone() };
        assert_eq!(decide(&encoded, 416, &outside("bytes */10")), Decision::Whole);
        let unknown = Position { total: None, ..whole };
        assert_eq!(decide(&unknown, 416, &outside("bytes */10")), Decision::Whole);
        assert_eq!(decide(&unknown, 416, &[GENERATION_1]), Decision::Failed);
        assert_eq!(
            decide(&unknown, 416, &[("x-goog-generation", "2"), ("content-range", "bytes */10")]),
            Decision::Anew
        );
    }
}

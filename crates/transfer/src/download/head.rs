//! The head of a download's response, and what it proves: data in, decision out.

use crate::checksum::GOOG_HASH;
use crate::range::{ContentRange, GENERATION, STORED_LENGTH, generation, number, only};
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, ETAG, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

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
        let is_strong = |etag: &&HeaderValue| etag.as_bytes().starts_with(b"\"") && etag.as_bytes().len() > 2;
        let etag = headers.get(ETAG).filter(is_strong).cloned();
        let encoding = headers.get(CONTENT_ENCODING).filter(|value| *value != "identity").cloned();
        let is_gzip = |value: &HeaderValue| value.as_bytes().trim_ascii().eq_ignore_ascii_case(b"gzip");
        let is_transcoded =
            headers.get(STORED_ENCODING).is_some_and(is_gzip) && !encoding.as_ref().is_some_and(is_gzip);
        Self { generation: generation(headers), etag, encoding, is_transcoded }
    }

    /// Returns whether a range of it can be asked for, and it is known whether it is of the same bytes.
    pub(super) fn is_resumable(&self) -> bool {
        !self.is_transcoded && (self.generation.is_some() || self.etag.is_some())
    }

    /// How it is named.
    pub(super) fn naming(&self) -> Naming {
        match (self.generation, &self.etag) {
            (Some(_), _) => Naming::Generation,
            (None, Some(_)) => Naming::ETag,
            (None, None) => Naming::None,
        }
    }

    /// Returns whether the two have different names.
    fn is_another(&self, other: &Self) -> bool {
        match self.generation.zip(other.generation) {
            Some((one, other)) => one != other,
            None => self.etag.as_ref().zip(other.etag.as_ref()).is_some_and(|(one, other)| one != other),
        }
    }

    /// Returns whether the bytes of the two are different ones, by what both say.
    fn differs(&self, other: &Self) -> bool {
        self.is_another(other) || self.encoding != other.encoding || self.is_transcoded != other.is_transcoded
    }

    /// Returns whether both name the same version by something that both have.
    fn is_same(&self, other: &Self) -> bool {
        let has_common = self.generation.is_some() && other.generation.is_some()
            || self.etag.is_some() && other.etag.is_some();
        has_common && !self.differs(other)
    }
}

/// How far a download has come, as far as heads are concerned.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts that a head is compared with")]
pub(super) struct Position {
    /// The place of the next byte that is wanted.
    pub(super) offset: u64,
    /// Up to where bytes are wanted, if that is not the end.
    pub(super) limit: Option<u64>,
    /// The version of the bytes that were received, or of those that are wanted.
    pub(super) version: Option<Version>,
    /// The length of the whole.
    pub(super) total: Option<u64>,
    /// The object is one of Cloud Storage, which describes it in headers.
    pub(super) is_object: bool,
    /// The bytes are wanted as they are stored.
    pub(super) is_stored: bool,
    /// The generation that the program asks for.
    pub(super) generation: Option<i64>,
    /// How the server named versions of the object so far.
    pub(super) naming: Naming,
    /// The request asked for a range of this version alone.
    pub(super) is_pinned: bool,
    /// Checksums show whether a prefix that is sent again is the same.
    pub(super) is_hashed: bool,
    /// A checksum of the server's is compared in the end.
    pub(super) is_verified: bool,
    /// The download has started over once.
    pub(super) is_restarted: bool,
}

/// How a server names versions: each of its responses has to do so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum Naming {
    #[default]
    None,
    ETag,
    Generation,
}

/// The consequence of a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    /// The body has bytes that are wanted, behind so many that are not. It reaches up to that place, and the whole has that length,
    /// as far as they are known.
    Body { skip: u64, end: Option<u64>, total: Option<u64> },
    /// Nothing is missing.
    Whole,
    /// It is another object, or may be one: the download starts over.
    Anew,
    /// The object has no such range: all of it is requested.
    Unranged,
    /// It is in another place.
    Redirect,
    /// It failed.
    Failed,
    /// The response does not say which object it has, as earlier ones did. The next one may.
    Unproved(&'static str),
    /// The response breaks the rules.
    Malformed(&'static str),
}

impl Position {
    /// The range that is requested; `None`: all of it.
    pub(super) fn range(&self) -> Option<String> {
        let is_partial = match self.offset {
            0 => self.limit.is_some(),
            _ => self.version.as_ref().is_some_and(Version::is_resumable),
        };
        let last = self.limit.and_then(|limit| limit.checked_sub(1));
        let last = last.as_ref().map(u64::to_string).unwrap_or_default();
        is_partial.then(|| format!("bytes={}-{last}", self.offset))
    }

    /// The place at which nothing more is wanted, if it is known.
    pub(super) fn end(&self) -> Option<u64> {
        gax_driver::__private::earlier(self.limit, self.total)
    }

    pub(super) fn decide(&self, status: StatusCode, headers: &HeaderMap) -> Decision {
        let version = Version::of(headers);
        match status.as_u16() {
            200 | 203 | 206 => self.content(status, &version, headers),
            416 if self.offset == 0 && self.limit.is_some() => Decision::Unranged,
            416 if self.offset > 0 => self.outside(&version, headers),
            301..=303 | 307 | 308 if headers.contains_key(http::header::LOCATION) => Decision::Redirect,
            _ if status.is_success() => {
                Decision::Malformed("the server responded with a success that has no object")
            }
            _ => Decision::Failed,
        }
    }

    /// A response with bytes: which object they are of, and which of its bytes.
    fn content(&self, status: StatusCode, version: &Version, headers: &HeaderMap) -> Decision {
        if let Some(problem) = self.encoding_problem(version, headers) {
            return Decision::Malformed(problem);
        }
        if self.generation.zip(version.generation).is_some_and(|(wanted, sent)| wanted != sent) {
            return Decision::Malformed("the server sent a generation other than the requested one");
        }
        let is_described = [GENERATION.as_str(), STORED_LENGTH.as_str(), GOOG_HASH]
            .iter()
            .any(|name| headers.contains_key(*name));
        let is_unknown =
            self.is_object && !is_described || self.generation.is_some() && version.generation.is_none();
        if self.naming == Naming::None && is_unknown {
            return Decision::Malformed("the response has no headers that describe the requested object");
        }
        let is_nameless = version.naming() < self.naming;
        let is_same = self.version.as_ref().is_some_and(|known| known.is_same(version));
        let range = ContentRange::of(headers);
        let is_partial = status == StatusCode::PARTIAL_CONTENT || self.is_range_as_200(range, headers);
        if is_nameless && !is_same && !(is_partial && self.version.is_some()) {
            return Decision::Unproved("the response does not name the version of the object");
        }
        if self.version.as_ref().is_some_and(|known| known.differs(version)) {
            return Decision::Anew;
        }
        if is_partial { self.partial(is_same, range) } else { self.whole(is_same, version, range, headers) }
    }

    /// A coding that was not requested, or the lack of one that was.
    fn encoding_problem(&self, version: &Version, headers: &HeaderMap) -> Option<&'static str> {
        let stored = headers.get(STORED_ENCODING).map(|value| value.as_bytes().trim_ascii());
        let sent = version.encoding.as_ref().map_or(&b"identity"[..], |value| value.as_bytes().trim_ascii());
        match stored {
            _ if !self.is_stored && version.encoding.is_some() => Some(
                "the response has a Content-Encoding that was not requested: use `stored` if the object is stored that way",
            ),
            Some(stored) if self.is_stored && !stored.eq_ignore_ascii_case(sent) => Some(
                "the response's Content-Encoding differs from that of the stored object: turn off decoding in the HTTP client",
            ),
            _ => None,
        }
    }

    /// Returns whether a response with status 200 has the requested range and nothing else, as a 206 has it.
    fn is_range_as_200(&self, range: Option<ContentRange>, headers: &HeaderMap) -> bool {
        let Some(ContentRange::Bytes { begin, end, total: Some(total) }) = range else { return false };
        let is_all = begin == 0 && end == total;
        !is_all && begin == self.offset && length(headers).is_none_or(|length| length == end - begin)
    }

    /// A response with all of it, whether that was requested or not.
    fn whole(
        &self,
        is_same: bool,
        version: &Version,
        range: Option<ContentRange>,
        headers: &HeaderMap,
    ) -> Decision {
        if let Some(ContentRange::Bytes { begin, end, total }) = range
            && (begin > 0 || total.is_some_and(|total| total != end))
        {
            return Decision::Malformed("the server sent a range that was not requested");
        }
        let length = length(headers);
        let stored = only(headers, &STORED_LENGTH).and_then(number).filter(|_| !version.is_transcoded);
        if length.zip(stored).is_some_and(|(length, stored)| length != stored) {
            return Decision::Malformed("the server announced fewer or more bytes than it has");
        }
        let ranged = range.map(|range| match range {
            ContentRange::Bytes { end: total, .. } | ContentRange::Outside { total } => total,
        });
        let total = length.or(stored).or(ranged);
        if self.offset == 0 {
            return Decision::Body { skip: 0, end: total, total };
        }
        let has_other_length = self.total.zip(total).is_some_and(|(known, total)| known != total);
        let is_too_short = total.is_some_and(|total| total < self.offset);
        if has_other_length || is_too_short || !is_same && !self.is_hashed {
            return Decision::Anew;
        }
        Decision::Body { skip: self.offset, end: total, total }
    }

    /// A response with a part of it.
    fn partial(&self, is_same: bool, range: Option<ContentRange>) -> Decision {
        let Some(ContentRange::Bytes { begin, end, total }) = range else {
            return Decision::Malformed("the server sent a range without a Content-Range");
        };
        // A range that names no version is one of this version if nothing else was requested, and a checksum proves it.
        let is_proved = self.is_pinned && self.is_verified && total.is_some() && total == self.total;
        if self.total.zip(total).is_some_and(|(known, total)| known != total)
            || self.version.is_some() && !is_same && !is_proved
            || self.version.is_none() && self.offset > 0
        {
            return Decision::Anew;
        }
        if begin > self.offset {
            return Decision::Malformed("the server sent a range that begins after the requested one");
        }
        if end <= self.offset {
            return Decision::Malformed("the server sent a range that ends before the requested one");
        }
        Decision::Body { skip: self.offset - begin, end: Some(end), total }
    }

    /// The server has no byte at this place. That is the end only if the whole is as long as what was received.
    fn outside(&self, version: &Version, headers: &HeaderMap) -> Decision {
        let total = match ContentRange::of(headers) {
            Some(ContentRange::Outside { total }) => Some(total),
            _ => self.total,
        };
        let is_end = total == Some(self.offset) && self.total.is_none_or(|known| known == self.offset);
        // It has no content, and so no encoding.
        if is_end && !self.version.as_ref().is_some_and(|known| known.is_another(version)) {
            return Decision::Whole;
        }
        if self.is_restarted {
            return Decision::Malformed("the server refused a range that it has");
        }
        Decision::Anew
    }
}

/// The length that a response announces.
fn length(headers: &HeaderMap) -> Option<u64> {
    let length = only(headers, &CONTENT_LENGTH).and_then(number);
    length.filter(|_| !headers.contains_key(TRANSFER_ENCODING))
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

    fn is_malformed(decision: Decision) -> bool {
        matches!(decision, Decision::Malformed(_))
    }

    #[test]
    fn the_first_response() {
        let first = Position::default();
        assert_eq!(first.range(), None);
        assert_eq!(decide(&first, 200, &[("content-length", "10")]), body(0, 10, 10));
        assert_eq!(decide(&first, 200, &[("x-goog-stored-content-length", "10")]), body(0, 10, 10));
        assert_eq!(decide(&first, 200, &[]), body(0, None, None));
        // Its length is that which a range names.
        for range in ["bytes */10", "bytes 0-9/10", "bytes 0-9/*"] {
            assert_eq!(decide(&first, 200, &[("content-range", range)]), body(0, 10, 10), "{range}");
        }
        // A range that was not requested.
        assert_eq!(decide(&first, 206, &[("content-range", "bytes 0-4/10")]), body(0, 5, 10));
        assert!(is_malformed(decide(&first, 206, &[("content-range", "bytes 1-4/10")])));
        let short = [("content-length", "9"), ("x-goog-stored-content-length", "10")];
        assert!(is_malformed(decide(&first, 200, &short)));
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
        for status in [201, 202, 204, 205] {
            assert!(is_malformed(decide(&first, status, &[GENERATION_1])));
        }
    }

    #[test]
    fn an_object_is_described() {
        let object = Position { is_object: true, ..Position::default() };
        assert!(is_malformed(decide(&object, 200, &[("content-length", "10"), ETAG_A])));
        for header in
            [GENERATION_1, ("x-goog-hash", "crc32c=AAAAAA=="), ("x-goog-stored-content-length", "10")]
        {
            assert_eq!(decide(&object, 200, &[("content-length", "10"), header]), body(0, 10, 10));
        }
        let wanted = Position { generation: Some(1), ..Position::default() };
        assert_eq!(decide(&wanted, 200, &[GENERATION_1]), body(0, None, None));
        for other in [&[("x-goog-generation", "2")][..], &[ETAG_A], &[]] {
            assert!(is_malformed(decide(&wanted, 200, other)), "{other:?}");
        }
    }

    #[test]
    fn versions_that_were_named_are_named_again() {
        let half_of = |version, naming| Position { naming, ..half(version) };
        let (by_generation, by_etag) = (&[GENERATION_1][..], &[ETAG_A][..]);
        for (version, naming, nameless) in [
            (by_generation, Naming::Generation, &[&[][..], &[ETAG_A]][..]),
            (by_etag, Naming::ETag, &[&[][..], &[("etag", "W/\"a\"")]]),
        ] {
            let late = half_of(version, naming);
            // After another version has come, too.
            let first = Position { naming, is_restarted: true, ..Position::default() };
            for headers in nameless {
                assert!(matches!(decide(&late, 200, headers), Decision::Unproved(_)), "{headers:?}");
                assert!(matches!(decide(&first, 200, headers), Decision::Unproved(_)), "{headers:?}");
                assert!(matches!(decide(&first, 206, headers), Decision::Unproved(_)), "{headers:?}");
            }
            assert_eq!(decide(&first, 200, &[("x-goog-generation", "2")]), body(0, None, None));
        }
    }

    #[test]
    fn a_range_without_a_version_is_proved_by_a_checksum() {
        let pinned = Position { is_pinned: true, is_verified: true, ..half(&[GENERATION_1]) };
        let range = [("content-range", "bytes 5-9/10")];
        assert_eq!(decide(&pinned, 206, &range), body(0, 10, 10));
        for position in [
            Position { is_pinned: false, ..pinned.clone() },
            Position { is_verified: false, ..pinned.clone() },
            Position { total: None, ..pinned.clone() },
        ] {
            assert_eq!(decide(&position, 206, &range), Decision::Anew, "{position:?}");
        }
        assert_eq!(decide(&pinned, 206, &[("content-range", "bytes 5-9/*")]), Decision::Anew);
        assert_eq!(decide(&half(&[]), 206, &range), Decision::Anew);
    }

    #[test]
    fn codings_are_those_that_were_requested() {
        let (gzip, stored_gzip) = (("content-encoding", "gzip"), ("x-goog-stored-content-encoding", "gzip"));
        let identity = ("x-goog-stored-content-encoding", "identity");
        let plain = Position::default();
        let stored = Position { is_stored: true, ..Position::default() };
        for (position, headers, is_refused) in [
            (&plain, &[gzip][..], true),
            (&plain, &[gzip, stored_gzip], true),
            (&plain, &[("content-encoding", "identity")], false),
            (&plain, &[stored_gzip], false),
            (&stored, &[gzip, stored_gzip], false),
            (&stored, &[stored_gzip], true),
            (&stored, &[gzip, identity], true),
            (&stored, &[identity], false),
            (&stored, &[gzip], false),
            (&stored, &[], false),
        ] {
            assert_eq!(is_malformed(decide(position, 200, headers)), is_refused, "{position:?} {headers:?}");
        }
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
            let decision = decide(&half, 206, &[GENERATION_1, ("content-range", wrong)]);
            assert!(is_malformed(decision), "{wrong}: {decision:?}");
        }
        assert!(is_malformed(decide(&half, 206, &[GENERATION_1])));
        let other = [("x-goog-generation", "2"), ("content-range", "bytes 5-9/10")];
        assert_eq!(decide(&half, 206, &other), Decision::Anew);
        let unknown = Position { version: None, ..half.clone() };
        let range = [GENERATION_1, ("content-range", "bytes 5-9/10")];
        assert_eq!(decide(&unknown, 206, &range), Decision::Anew);
        let stored = Position { is_stored: true, ..half };
        let encoded = [GENERATION_1, ("content-encoding", "gzip"), ("content-range", "bytes 5-9/10")];
        assert_eq!(decide(&stored, 206, &encoded), Decision::Anew);
    }

    #[test]
    fn a_range_with_status_200_is_one_if_it_is_the_requested_one() {
        let half = half(&[GENERATION_1]);
        let at = |range, length: &'static str| {
            let headers = [GENERATION_1, ("content-range", range), ("content-length", length)];
            decide(&half, 200, &headers[..if length.is_empty() { 2 } else { 3 }])
        };
        assert_eq!(at("bytes 5-9/10", "5"), body(0, 10, 10));
        assert_eq!(at("bytes 5-9/10", ""), body(0, 10, 10));
        assert_eq!(at("bytes 5-6/10", "2"), body(0, 7, 10));
        // All of it.
        assert_eq!(at("bytes 0-9/10", "10"), body(5, 10, 10));
        for (range, length) in [("bytes 5-9/10", "10"), ("bytes 4-9/10", "6"), ("bytes 0-4/10", "5")] {
            assert!(is_malformed(at(range, length)), "{range} {length}");
        }
        assert_eq!(decide(&half, 200, &[("content-range", "bytes 5-9/10")]), Decision::Anew);
        let other = [("x-goog-generation", "2"), ("content-range", "bytes 5-9/10")];
        assert_eq!(decide(&half, 200, &other), Decision::Anew);
        // The first response of several ranges.
        let first = Position { limit: Some(5), ..Position::default() };
        assert_eq!(decide(&first, 200, &[GENERATION_1, ("content-range", "bytes 0-4/10")]), body(0, 5, 10));
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
        ] {
            assert_eq!(decide(&half(&[GENERATION_1]), 200, other), Decision::Anew, "{other:?}");
        }
        assert_eq!(
            decide(&half(&[ETAG_A]), 200, &[("etag", "\"b\""), ("content-length", "10")]),
            Decision::Anew
        );
        // Where its length was unknown, it has at least what was received.
        let unknown = Position { total: None, ..half(&[GENERATION_1]) };
        assert_eq!(decide(&unknown, 200, &[GENERATION_1, ("content-length", "4")]), Decision::Anew);
        assert_eq!(decide(&unknown, 200, &[GENERATION_1, ("content-length", "5")]), body(5, 5, 5));
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
        let end = Position { offset: 5 << 40, ..late };
        let outside = ("content-range", "bytes */5497558138880");
        assert_eq!(decide(&end, 416, &[GENERATION_1, outside]), Decision::Whole);
    }

    #[test]
    fn a_range_behind_the_end() {
        let whole = Position { offset: 10, ..half(&[GENERATION_1]) };
        let outside = |total| [GENERATION_1, ("content-range", total)];
        assert_eq!(decide(&whole, 416, &outside("bytes */10")), Decision::Whole);
        assert_eq!(decide(&whole, 416, &[]), Decision::Whole);
        assert_eq!(decide(&whole, 416, &[GENERATION_1]), Decision::Whole);
        let encoded = [GENERATION_1, ("content-encoding", "gzip")];
        let encoded = Position { version: Some(Version::of(&headers(&encoded))), ..whole.clone() };
        assert_eq!(decide(&encoded, 416, &outside("bytes */10")), Decision::Whole);
        let unknown = Position { total: None, ..whole.clone() };
        assert_eq!(decide(&unknown, 416, &outside("bytes */10")), Decision::Whole);
        let middle = half(&[GENERATION_1]);
        for (position, headers) in [
            (&whole, &outside("bytes */9")[..]),
            (&whole, &outside("bytes */11")),
            (&unknown, &[GENERATION_1]),
            (&unknown, &[("x-goog-generation", "2"), ("content-range", "bytes */10")]),
            // Not the end: ten bytes were announced, and five have come.
            (&middle, &outside("bytes */5")),
            (&middle, &outside("bytes */10")),
            (&middle, &[]),
        ] {
            assert_eq!(decide(position, 416, headers), Decision::Anew, "{headers:?}");
            let again = Position { is_restarted: true, ..position.clone() };
            assert!(is_malformed(decide(&again, 416, headers)), "{headers:?}");
        }
        // An empty object has no range.
        let first = Position { limit: Some(10), ..Position::default() };
        assert_eq!(decide(&first, 416, &outside("bytes */0")), Decision::Unranged);
        assert_eq!(decide(&first, 416, &[]), Decision::Unranged);
        assert_eq!(decide(&Position::default(), 416, &outside("bytes */0")), Decision::Failed);
    }
}

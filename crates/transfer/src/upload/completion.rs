//! The proof that an upload has ended: data in, decision out.

use crate::checksum::ChecksumValues;
use crate::error::{Failure, TransferErrorKind};
use crate::range::{GENERATION, STORED_LENGTH, number, only};
use gax_retry::Code;
use http::HeaderMap;
use serde_json::Value;

/// The object that an upload has made, as its server describes it: by headers or by its resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct ServerObject {
    pub(super) sums: ChecksumValues,
    pub(super) bytes: Option<u64>,
    /// `true` if it names a generation, a checksum or a length.
    is_named: bool,
    /// `true` if the content is an object of JSON at all, which a selection of fields may have left with nothing of that.
    is_json: bool,
}

impl ServerObject {
    pub(super) fn of(headers: &HeaderMap, content: &[u8]) -> Self {
        let resource = serde_json::from_slice::<Value>(content).unwrap_or_default();
        let sums = ChecksumValues::in_headers(headers).or(ChecksumValues::in_resource(&resource));
        let length = resource.get("size").and_then(|size| size.as_str().and_then(number).or(size.as_u64()));
        let bytes = only(headers, &STORED_LENGTH).and_then(number).or(length);
        let has_generation = headers.contains_key(GENERATION) || resource.get("generation").is_some();
        let is_named = has_generation || bytes.is_some() || sums != ChecksumValues::default();
        Self { sums, bytes, is_named, is_json: resource.is_object() }
    }
}

/// How much of the source the server can have, by what connections have taken of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coverage {
    /// All of it.
    Whole,
    /// Another process has sent an unknown part of it.
    Unknown,
    /// Not all of it.
    Partial,
}

/// The facts of a response that may be the last of an upload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Evidence {
    /// `true` if status and headers say that the upload is final.
    pub(super) is_final: bool,
    /// `true` if the protocol has no other sign of that than the object.
    pub(super) needs_object: bool,
    /// `true` if it is the reply to a question that was asked since an earlier reply proved nothing.
    pub(super) is_confirmation: bool,
    pub(super) object: ServerObject,
    /// The checksums and the size of the source, as far as they are known.
    pub(super) sums: ChecksumValues,
    pub(super) size: Option<u64>,
    pub(super) coverage: Coverage,
}

impl Evidence {
    /// Returns whether the object has a checksum of the source, or there is none to compare.
    ///
    /// # Errors
    ///
    /// The upload is not whole, as far as the response proves it: what that is treated as, and why.
    pub(super) fn is_verified(&self) -> Result<bool, (Code, Failure)> {
        let Self { object, sums, size, .. } = *self;
        let malformed = |problem: &'static str| Err((Code::Internal, Failure::malformed(problem)));
        let differs = |problem: String| {
            Err((Code::DataLoss, Failure::new(TransferErrorKind::ChecksumMismatch, problem)))
        };
        let is_shown = !self.needs_object || object.is_named || self.is_confirmation && object.is_json;
        if !self.is_final || !is_shown {
            return malformed("the server did not say that the upload is finished");
        }
        if let Some(name) = sums.difference(object.sums) {
            return differs(format!("the {name} of the object on the server is not that of the source"));
        }
        let lengths = object.bytes.zip(size).filter(|(bytes, size)| bytes != size);
        if let Some((bytes, size)) = lengths {
            return differs(format!("the object on the server has {bytes} bytes, and the source {size}"));
        }
        let is_verified = sums.has_common(object.sums);
        let is_covered = match self.coverage {
            Coverage::Whole => true,
            Coverage::Unknown => object.bytes.zip(size).is_some(),
            Coverage::Partial => false,
        };
        if is_verified || is_covered {
            return Ok(is_verified);
        }
        malformed("the server finished the upload before its last byte was sent")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUM: &str = r#"{"crc32c":"AAAAAQ=="}"#;

    fn object(content: &str) -> ServerObject {
        ServerObject::of(&HeaderMap::new(), content.as_bytes())
    }

    /// The evidence of an upload of ten bytes whose CRC32C is 1, all of which were sent.
    fn of(content: &str) -> Evidence {
        Evidence {
            is_final: true,
            needs_object: true,
            is_confirmation: false,
            object: object(content),
            sums: ChecksumValues { crc32c: Some(1), md5: None },
            size: Some(10),
            coverage: Coverage::Whole,
        }
    }

    #[test]
    fn objects_by_their_headers_and_their_resources() {
        for (name, value, is_named) in [
            ("x-goog-generation", "7", true),
            ("x-goog-hash", "crc32c=AAAAAQ==", true),
            ("x-goog-hash", "sha256=AAAAAQ==", false),
            ("x-goog-stored-content-length", "10", true),
            ("x-goog-stored-content-length", "many", false),
            ("x-guploader-uploadid", "s3cret", false),
        ] {
            let headers = HeaderMap::from_iter([(name.parse().unwrap(), value.parse().unwrap())]);
            assert_eq!(ServerObject::of(&headers, b"").is_named, is_named, "{name}: {value}");
        }
        for (content, bytes, is_named, is_json) in [
            ("", None, false, false),
            ("<html>", None, false, false),
            ("[]", None, false, false),
            ("{}", None, false, true),
            (r#"{"name":"o"}"#, None, false, true),
            (r#"{"generation":"7"}"#, None, true, true),
            (r#"{"size":"10"}"#, Some(10), true, true),
            (r#"{"size":10}"#, Some(10), true, true),
            (SUM, None, true, true),
        ] {
            let found = object(content);
            assert_eq!((found.bytes, found.is_named, found.is_json), (bytes, is_named, is_json), "{content}");
        }
    }

    /// The outcomes, by what is said of them.
    const VERIFIED: &str = "verified";
    const UNVERIFIED: &str = "unverified";
    const UNPROVEN: &str = "the server did not say that the upload is finished";
    const EARLY: &str = "the server finished the upload before its last byte was sent";

    fn outcome(evidence: &Evidence) -> String {
        match evidence.is_verified() {
            Ok(is_verified) => if is_verified { VERIFIED } else { UNVERIFIED }.to_owned(),
            Err((_, failure)) => failure.problem.into_owned(),
        }
    }

    #[test]
    fn what_a_reply_proves() {
        let resource = r#"{"generation":"7"}"#;
        for (content, whole, unknown, partial) in [
            (SUM, VERIFIED, VERIFIED, VERIFIED),
            (r#"{"crc32c":"AAAAAQ==","size":"10"}"#, VERIFIED, VERIFIED, VERIFIED),
            // With nothing to compare it takes all bytes, or their number if others may have sent some.
            (r#"{"size":"10"}"#, UNVERIFIED, UNVERIFIED, EARLY),
            (r#"{"md5Hash":"1B2M2Y8AsgTpgAmY7PhCfg=="}"#, UNVERIFIED, EARLY, EARLY),
            (resource, UNVERIFIED, EARLY, EARLY),
            ("{}", UNPROVEN, UNPROVEN, UNPROVEN),
            ("", UNPROVEN, UNPROVEN, UNPROVEN),
            ("<html>", UNPROVEN, UNPROVEN, UNPROVEN),
        ] {
            let by = |coverage| outcome(&Evidence { coverage, ..of(content) });
            let found = [by(Coverage::Whole), by(Coverage::Unknown), by(Coverage::Partial)];
            assert_eq!(found, [whole, unknown, partial], "{content}");
        }
        for (content, problem) in [
            (r#"{"crc32c":"AAAAAA=="}"#, "the CRC32C of the object on the server is not that of the source"),
            (r#"{"size":"9"}"#, "the object on the server has 9 bytes, and the source 10"),
            (
                r#"{"crc32c":"AAAAAQ==","size":"9"}"#,
                "the object on the server has 9 bytes, and the source 10",
            ),
        ] {
            assert_eq!(outcome(&of(content)), problem);
        }
        // A reply that is not final proves nothing, whatever is in it.
        assert_eq!(outcome(&Evidence { is_final: false, ..of(SUM) }), UNPROVEN);
        // A selection of fields is taken for the end when it was asked for, and nothing else.
        for (content, expected) in
            [("{}", UNVERIFIED), (r#"{"name":"o"}"#, UNVERIFIED), ("", UNPROVEN), ("<html>", UNPROVEN)]
        {
            assert_eq!(outcome(&Evidence { is_confirmation: true, ..of(content) }), expected);
        }
        // The universal protocol says so by a header, whatever the content.
        for content in ["", "a token", "{}"] {
            assert_eq!(outcome(&Evidence { needs_object: false, ..of(content) }), UNVERIFIED);
        }
    }
}

//! The options of an upload, as its requests need them.

use crate::checksum::{ChecksumValues, Checksums, Hasher};
use bytes::Bytes;
use http::request::{Builder, Parts};
use http::{HeaderMap, HeaderName, HeaderValue};

/// The headers of the request that starts a session, and of no other.
const OF_START: [&str; 5] = ["if-", "x-goog-if-", "x-upload-", "x-goog-upload-", "content-"];
/// Headers that say something of the object.
const OF_OBJECTS: [&str; 3] = ["x-goog-meta-", "x-goog-acl", "x-goog-storage-class"];

fn begins_with(name: &HeaderName, starts: &[&str]) -> bool {
    starts.iter().any(|start| name.as_str().starts_with(start))
}

/// The request with these headers as well.
pub(super) fn with_headers(request: Builder, headers: &HeaderMap) -> Builder {
    headers.iter().fold(request, |request, (name, value)| request.header(name, value))
}

/// The options of an upload, as its requests need them.
pub(super) struct UploadOptions {
    /// The caller's request, which starts the session.
    pub(super) request: Parts,
    /// The object's name in a state file.
    pub(super) name: String,
    pub(super) metadata: Bytes,
    pub(super) content_type: Option<HeaderValue>,
    pub(super) chunk_size: Option<u64>,
}

impl UploadOptions {
    /// The metadata, with checksums if it is an object of JSON that can have them.
    pub(super) fn metadata_with(&self, sums: Option<ChecksumValues>) -> Bytes {
        let Some(sums) = sums else { return self.metadata.clone() };
        let text: &[u8] = if self.metadata.is_empty() { b"{}" } else { &self.metadata };
        match serde_json::from_slice::<serde_json::Value>(text) {
            Ok(serde_json::Value::Object(mut resource)) => {
                sums.add_to(&mut resource);
                serde_json::Value::Object(resource).to_string().into()
            }
            _ => self.metadata.clone(),
        }
    }

    /// The caller's headers that go along with all requests of a session: conditions belong to its start.
    pub(super) fn session_headers(&self) -> HeaderMap {
        let headers = self.request.headers.iter().filter(|(name, _)| !begins_with(name, &OF_START));
        headers.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// The object and its conditions as the start of a session describes them, in short. Credentials have no part in that.
    pub(super) fn fingerprint(&self) -> String {
        let is_meant = |name: &HeaderName| begins_with(name, &OF_START) || begins_with(name, &OF_OBJECTS);
        let headers = self.request.headers.iter().filter(|(name, _)| is_meant(name));
        let headers = headers.map(|(name, value)| (name.as_str(), value.as_bytes()));
        let content_type = self.content_type.iter().map(|value| ("", value.as_bytes()));
        let mut lines: Vec<_> = headers.chain(content_type).collect();
        lines.sort_unstable();
        let mut hasher = Hasher::new(Checksums::BOTH);
        for (name, value) in lines {
            hasher.update(&[name.as_bytes(), b":", value, b"\n"].concat());
        }
        hasher.update(&self.metadata);
        hasher.sums().header().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(metadata: &'static str) -> UploadOptions {
        let request = http::Request::post("https://storage.test/o")
            .header("authorization", "Bearer t")
            .header("x-goog-if-generation-match", "0")
            .header("if-match", "x")
            .header("content-type", "application/json")
            .header("x-goog-encryption-key", "k")
            .body(())
            .unwrap();
        let request = request.into_parts().0;
        UploadOptions {
            request,
            name: String::new(),
            metadata: Bytes::from_static(metadata.as_bytes()),
            content_type: None,
            chunk_size: None,
        }
    }

    #[test]
    fn checksums_join_the_metadata() {
        let sums = Some(ChecksumValues { crc32c: Some(1), md5: None });
        assert_eq!(options("").metadata_with(sums), r#"{"crc32c":"AAAAAQ=="}"#);
        let own = options(r#"{"crc32c":"own","name":"a"}"#);
        assert_eq!(own.metadata_with(sums), r#"{"crc32c":"own","name":"a"}"#);
        assert_eq!(options("no JSON").metadata_with(sums), "no JSON");
        assert_eq!(options("").metadata_with(None), "");
    }

    /// Whatever makes another object of the same source, and nothing that is renewed meanwhile.
    #[test]
    fn starts_are_compared_by_what_they_say_of_the_object() {
        let with = |name: &'static str, value: &'static str| {
            let mut options = options("{}");
            options.request.headers.insert(name, HeaderValue::from_static(value));
            options.fingerprint()
        };
        let same = options("{}").fingerprint();
        assert_eq!([with("authorization", "Bearer u"), with("x-goog-api-client", "gax/2")], [&*same, &*same]);
        let typed = UploadOptions { content_type: Some(HeaderValue::from_static("a/b")), ..options("{}") };
        for other in [
            options("").fingerprint(),
            typed.fingerprint(),
            with("x-goog-if-generation-match", "1"),
            with("if-match", "y"),
            with("x-goog-meta-a", "b"),
        ] {
            assert_ne!(other, same);
        }
    }

    #[test]
    fn conditions_stay_with_the_start() {
        let headers = options("").session_headers();
        let mut names: Vec<_> = headers.keys().map(HeaderName::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, ["authorization", "x-goog-encryption-key"]);
    }
}

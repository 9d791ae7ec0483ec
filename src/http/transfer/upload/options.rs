//! The options of an upload, as its requests need them.

use crate::http::transfer::checksum::Sums;
use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue};

/// The options of an upload, as its requests need them.
pub(super) struct UploadOptions {
    /// The caller's request, which starts the session.
    pub(super) request: Parts,
    pub(super) metadata: Bytes,
    pub(super) content_type: Option<HeaderValue>,
    pub(super) chunk_size: Option<u64>,
}

impl UploadOptions {
    /// The metadata, with checksums where it is an object of JSON that can have them.
    pub(super) fn metadata_with(&self, sums: Option<Sums>) -> Bytes {
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
        let is_of_session = |name: &HeaderName| {
            let name = name.as_str();
            !["if-", "x-goog-if-", "x-upload-", "x-goog-upload-", "content-"]
                .iter()
                .any(|start| name.starts_with(start))
        };
        let headers = self.request.headers.iter().filter(|(name, _)| is_of_session(name));
        headers.map(|(name, value)| (name.clone(), value.clone())).collect()
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
            metadata: Bytes::from_static(metadata.as_bytes()),
            content_type: None,
            chunk_size: None,
        }
    }

    #[test]
    fn checksums_join_the_metadata() {
        let sums = Some(Sums { crc32c: Some(1), md5: None });
        assert_eq!(options("").metadata_with(sums), r#"{"crc32c":"AAAAAQ=="}"#);
        let own = options(r#"{"crc32c":"own","name":"a"}"#);
        assert_eq!(own.metadata_with(sums), r#"{"crc32c":"own","name":"a"}"#);
        assert_eq!(options("no JSON").metadata_with(sums), "no JSON");
        assert_eq!(options("").metadata_with(None), "");
    }

    #[test]
    fn conditions_stay_with_the_start() {
        let headers = options("").session_headers();
        let mut names: Vec<_> = headers.keys().map(HeaderName::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, ["authorization", "x-goog-encryption-key"]);
    }
}

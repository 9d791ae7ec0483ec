//! Checksums as Cloud Storage writes them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use md5::{Digest as _, Md5};
use serde_json::Value;

/// The checksums of a content, as base64: of CRC32C the four bytes in network order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Checksums {
    pub(crate) crc32c: Option<String>,
    pub(crate) md5: Option<String>,
}

impl Checksums {
    pub(crate) fn of(content: &[u8]) -> Self {
        let crc32c = STANDARD.encode(crc32c::crc32c(content).to_be_bytes());
        Self { crc32c: Some(crc32c), md5: Some(STANDARD.encode(Md5::digest(content))) }
    }

    /// Those of `x-goog-hash`, once or several times, and of `content-md5`.
    pub(crate) fn in_headers(headers: &HeaderMap) -> Self {
        let mut found = Self::default();
        let values = headers.get_all("x-goog-hash").into_iter().filter_map(|value| value.to_str().ok());
        for (name, value) in values.flat_map(|value| value.split(',')).filter_map(|hash| hash.split_once('='))
        {
            let value = Some(value.trim().to_owned());
            match name.trim() {
                "crc32c" => found.crc32c = value,
                "md5" => found.md5 = value,
                _ => {}
            }
        }
        let content_md5 = headers.get("content-md5").and_then(|value| value.to_str().ok());
        found.md5 = found.md5.or_else(|| content_md5.map(str::to_owned));
        found
    }

    /// Those of an object's metadata.
    pub(crate) fn in_metadata(metadata: &Value) -> Self {
        let text = |name: &str| metadata.get(name).and_then(Value::as_str).map(str::to_owned);
        Self { crc32c: text("crc32c"), md5: text("md5Hash") }
    }

    /// These, and where they say nothing, the others.
    pub(crate) fn or(self, other: Self) -> Self {
        Self { crc32c: self.crc32c.or(other.crc32c), md5: self.md5.or(other.md5) }
    }

    /// Which of these differs from those of the content; `None`: what is there is right.
    pub(crate) fn mismatch(&self, content: &Self) -> Option<String> {
        let differs = |name: &str, one: &Option<String>, other: &Option<String>| {
            let (one, other) = (one.as_ref()?, other.as_ref()?);
            (one != other).then(|| {
                format!("Provided {name} hash \"{one}\" doesn't match calculated {name} hash \"{other}\".")
            })
        };
        differs("CRC32C", &self.crc32c, &content.crc32c).or_else(|| differs("MD5", &self.md5, &content.md5))
    }
}

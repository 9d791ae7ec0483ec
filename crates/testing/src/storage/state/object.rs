//! Objects, and those of all buckets.

use super::Checksums;
use bytes::Bytes;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};

/// An object of a [`StorageEmulator`](crate::StorageEmulator).
///
/// # Examples
///
/// ```
/// use gax_testing::StorageObject;
///
/// let object = StorageObject::new("hello").content_type("text/plain");
/// assert_eq!(object.content(), "hello");
/// assert_eq!(object.crc32c(), Some("mnG7TA=="));
/// ```
#[derive(Debug, Clone)]
#[must_use = "an object is put into a StorageEmulator"]
pub struct StorageObject {
    content: Bytes,
    checksums: Checksums,
    content_type: Option<String>,
    content_encoding: Option<String>,
    metadata: Map<String, Value>,
    /// The hash of the key that it is encrypted with.
    pub(crate) key_hash: Option<String>,
    generation: i64,
}

impl StorageObject {
    /// An object with that content.
    pub fn new(content: impl Into<Bytes>) -> Self {
        let content = content.into();
        Self {
            checksums: Checksums::of(&content),
            content,
            content_type: None,
            content_encoding: None,
            metadata: Map::new(),
            key_hash: None,
            generation: 0,
        }
    }

    /// With that content type.
    pub fn content_type(self, content_type: &str) -> Self {
        Self { content_type: Some(content_type.to_owned()), ..self }
    }

    /// Stored compressed: `contentEncoding` is gzip. Clients that don't accept gzip get the content decompressed, and no ranges
    /// of it; checksums are those of the compressed bytes.
    pub fn gzip(self) -> Self {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        // A Vec takes everything.
        let written = encoder.write_all(&self.content).and_then(|()| encoder.finish());
        let content = Bytes::from(written.unwrap_or_default());
        Self {
            checksums: Checksums::of(&content),
            content,
            content_encoding: Some("gzip".to_owned()),
            ..self
        }
    }

    /// Without an MD5, as objects are that were composed of others.
    pub fn composite(mut self) -> Self {
        self.checksums.md5 = None;
        self
    }

    gax_text::getters! { self:
        /// The bytes as they are stored.
        pub content: &Bytes = &self.content;

        /// The generation; 0: it is in no bucket.
        pub generation: i64 = self.generation;
    }

    /// The CRC32C of the stored bytes, as base64 of the four bytes in network order.
    #[must_use]
    pub fn crc32c(&self) -> Option<&str> {
        self.checksums.crc32c.as_deref()
    }

    /// The MD5 of the stored bytes, as base64.
    #[must_use]
    pub fn md5(&self) -> Option<&str> {
        self.checksums.md5.as_deref()
    }

    /// A field of the metadata that it was uploaded with, such as `metadata` or `cacheControl`.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Value> {
        self.metadata.get(name)
    }

    pub(crate) fn of_upload(content: Bytes, metadata: &Value, content_type: Option<String>) -> Self {
        let mut object = Self::new(content);
        let text = |name: &str| metadata.get(name).and_then(Value::as_str).map(str::to_owned);
        object.content_type = text("contentType").or(content_type);
        object.content_encoding = text("contentEncoding");
        object.metadata = metadata.as_object().cloned().unwrap_or_default();
        object
    }

    pub(crate) fn with_generation(self, generation: i64) -> Self {
        Self { generation, ..self }
    }

    pub(crate) fn checksums(&self) -> &Checksums {
        &self.checksums
    }

    pub(crate) fn media_type(&self) -> &str {
        self.content_type.as_deref().unwrap_or("application/octet-stream")
    }

    pub(crate) fn encoding(&self) -> Option<&str> {
        self.content_encoding.as_deref()
    }

    /// The content without its encoding; `None`: it is not compressed, or not as it says.
    pub(crate) fn decompressed(&self) -> Option<Bytes> {
        let mut content = Vec::new();
        GzDecoder::new(&*self.content).read_to_end(&mut content).ok()?;
        Some(content.into())
    }

    pub(crate) fn etag(&self) -> String {
        format!("\"{}/1\"", self.generation)
    }

    /// The metadata, as the JSON API has it.
    pub(crate) fn resource(&self, bucket: &str, name: &str) -> Value {
        let generation = self.generation.to_string();
        let mut resource = json!({
            "kind": "storage#object",
            "id": format!("{bucket}/{name}/{generation}"),
            "bucket": bucket,
            "name": name,
            "generation": generation,
            "metageneration": "1",
            "contentType": self.media_type(),
            "storageClass": "STANDARD",
            "size": self.content.len().to_string(),
            "etag": self.etag(),
        });
        let optional = [
            ("contentEncoding", self.content_encoding.clone().map(Value::from)),
            ("crc32c", self.crc32c().map(Value::from)),
            ("md5Hash", self.md5().map(Value::from)),
            ("metadata", self.metadata.get("metadata").cloned()),
            ("cacheControl", self.metadata.get("cacheControl").cloned()),
            (
                "customerEncryption",
                self.key_hash
                    .as_ref()
                    .map(|hash| json!({ "encryptionAlgorithm": "AES256", "keySha256": hash })),
            ),
        ];
        if let Some(fields) = resource.as_object_mut() {
            let there = optional.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
            fields.extend(there);
        }
        resource
    }
}

impl<T: Into<Bytes>> From<T> for StorageObject {
    fn from(content: T) -> Self {
        Self::new(content)
    }
}

/// Every bucket that is named is there.
#[derive(Debug)]
pub(crate) struct Objects {
    by_bucket: BTreeMap<String, BTreeMap<String, StorageObject>>,
    last_generation: i64,
}

impl Default for Objects {
    fn default() -> Self {
        // As long as real ones, which count microseconds: they don't fit into a 32-bit number or a double's neighbours.
        Self { by_bucket: BTreeMap::new(), last_generation: 1_700_000_000_000_000 }
    }
}

impl Objects {
    pub(crate) fn get(&self, bucket: &str, name: &str) -> Option<&StorageObject> {
        self.by_bucket.get(bucket)?.get(name)
    }

    /// Puts an object instead of the one that is there; it has a new generation.
    pub(crate) fn put(&mut self, bucket: &str, name: &str, object: StorageObject) -> StorageObject {
        self.last_generation += 1;
        let object = object.with_generation(self.last_generation);
        let objects = self.by_bucket.entry(bucket.to_owned()).or_default();
        objects.insert(name.to_owned(), object.clone());
        object
    }

    pub(crate) fn remove(&mut self, bucket: &str, name: &str) {
        if let Some(objects) = self.by_bucket.get_mut(bucket) {
            objects.remove(name);
        }
    }

    /// The objects of a bucket, by their names.
    pub(crate) fn of(&self, bucket: &str) -> impl Iterator<Item = (&String, &StorageObject)> {
        self.by_bucket.get(bucket).into_iter().flatten()
    }
}

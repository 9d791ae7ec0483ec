//! The session of an upload.

use crate::origin::is_same_origin;
use http::Uri;

/// The protocol of an upload's session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Dialect {
    /// Cloud Storage's resumable uploads.
    Storage,
    /// Google's universal protocol: `X-Goog-Upload-*`.
    Universal,
}

/// The session of an upload on its server, with which the upload can continue in another process: see
/// [`Upload::resume`](crate::Upload::resume).
///
/// Its URI is enough to write the object, without any other credentials, for a week. Therefore reports, logs and `Debug`
/// don't contain it. [`expose_uri`](Self::expose_uri) returns it; store it like a password.
///
/// # Examples
///
/// ```
/// use gax_transfer::UploadSession;
///
/// let session = UploadSession::from_uri("https://storage.googleapis.com/upload/storage/v1/b/photos/o?upload_id=s3cret")?;
/// assert_eq!(format!("{session:?}"), "UploadSession { .. }");
/// assert!(session.expose_uri().ends_with("s3cret"));
/// # Ok::<(), http::uri::InvalidUri>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct UploadSession {
    pub(super) dialect: Dialect,
    pub(super) uri: Uri,
    /// Where the universal protocol asks and cancels, if that is another place.
    pub(super) control: Option<Uri>,
    /// Pieces of the upload are multiples of that many bytes, except for the last.
    pub(super) granularity: u64,
    /// `true` if a server has named another origin than the program's own.
    pub(super) is_elsewhere: bool,
}

/// The granularity of Cloud Storage.
pub(super) const GRANULARITY: u64 = 256 * 1024;
/// The greatest granularity that a server can ask for: that much of a source that can't seek is in memory.
pub(super) const MAX_GRANULARITY: u64 = 256 * 1024 * 1024;

impl UploadSession {
    /// A session of Cloud Storage.
    ///
    /// # Errors
    ///
    /// It is not a URI.
    pub fn from_uri(uri: &str) -> Result<Self, http::uri::InvalidUri> {
        Ok(Self::new(Dialect::Storage, uri.parse()?))
    }

    /// A session of the universal protocol, by its `X-Goog-Upload-URL`.
    ///
    /// # Errors
    ///
    /// It is not a URI.
    pub fn universal_from_uri(uri: &str) -> Result<Self, http::uri::InvalidUri> {
        Ok(Self::new(Dialect::Universal, uri.parse()?))
    }

    pub(super) fn new(dialect: Dialect, uri: Uri) -> Self {
        Self { dialect, uri, control: None, granularity: GRANULARITY, is_elsewhere: false }
    }

    /// Returns whether a request of it stays with the program's own origin, which is that of the first.
    pub(super) fn is_own_origin(&self, first: &Uri, target: &Uri) -> bool {
        !self.is_elsewhere && is_same_origin(first, target)
    }

    gax_text::getters! { self:
        /// The URI, which is a secret.
        pub expose_uri: String = self.uri.to_string();

        /// The place that the session is asked and cancelled at.
        pub(super) control: &Uri = self.control.as_ref().unwrap_or(&self.uri);
    }
}

gax_text::short_debug! { self: UploadSession {} }

//! Which request is which.

use crate::storage::StorageCall;
use crate::storage::shared::State;
use crate::storage::state::Protocol;
use crate::storage::wire::{ContentRange, Target};
use http::Method;
use http::request::Parts;

/// A request, by what it is about.
#[derive(Debug)]
pub(crate) enum Route {
    Insert {
        bucket: String,
        is_multipart: bool,
    },
    Start {
        bucket: String,
        protocol: Protocol,
    },
    /// Requests to a session, by its id.
    Upload {
        id: String,
        protocol: Protocol,
    },
    Query {
        id: String,
        protocol: Protocol,
    },
    Cancel {
        id: String,
        protocol: Protocol,
    },
    Download {
        bucket: String,
        name: String,
    },
    Get {
        bucket: String,
        name: String,
    },
    List {
        bucket: String,
    },
    Delete {
        bucket: String,
        name: String,
    },
    /// A command of the universal protocol that isn't one.
    NoCommand,
    Unknown,
}

impl Route {
    pub(crate) fn of(head: &Parts, target: &Target) -> Self {
        let segments = target.segments();
        match (&head.method, segments.as_slice()) {
            (method, ["upload", "storage", "v1", "b", bucket, "o"]) => {
                Self::of_upload(method, bucket, head, target).unwrap_or(Self::Unknown)
            }
            (&Method::GET, ["storage", "v1", "b", bucket, "o"]) => Self::List { bucket: owned(bucket) },
            (&Method::GET, [before @ .., "storage", "v1", "b", bucket, "o", name])
                if before == ["download"] || (before.is_empty() && target.query("alt") == Some("media")) =>
            {
                Self::Download { bucket: owned(bucket), name: owned(name) }
            }
            (&Method::GET, ["storage", "v1", "b", bucket, "o", name]) => {
                Self::Get { bucket: owned(bucket), name: owned(name) }
            }
            (&Method::DELETE, ["storage", "v1", "b", bucket, "o", name]) => {
                Self::Delete { bucket: owned(bucket), name: owned(name) }
            }
            _ => Self::Unknown,
        }
    }

    fn of_upload(method: &Method, bucket: &str, head: &Parts, target: &Target) -> Option<Self> {
        let text = |name: &str| head.headers.get(name).and_then(|value| value.to_str().ok());
        let commands: Vec<&str> = text("x-goog-upload-command")
            .into_iter()
            .flat_map(|commands| commands.split(','))
            .map(str::trim)
            .collect();
        if let Some(id) = target.query("upload_id") {
            let id = id.to_owned();
            if !commands.is_empty() {
                let protocol = Protocol::Universal;
                return match *commands.first()? {
                    "query" => Some(Self::Query { id, protocol }),
                    "cancel" => Some(Self::Cancel { id, protocol }),
                    "upload" | "finalize" => Some(Self::Upload { id, protocol }),
                    _ => Some(Self::NoCommand),
                };
            }
            let protocol = Protocol::Resumable;
            return match *method {
                Method::DELETE => Some(Self::Cancel { id, protocol }),
                Method::PUT | Method::POST => {
                    let range = text("content-range").and_then(ContentRange::read);
                    let is_query = matches!(range, Some(ContentRange::Query(_)));
                    Some(if is_query { Self::Query { id, protocol } } else { Self::Upload { id, protocol } })
                }
                _ => None,
            };
        }
        if method != Method::POST {
            return None;
        }
        let bucket = bucket.to_owned();
        match (text("x-goog-upload-protocol"), target.query("uploadType")) {
            (Some("resumable"), _) if commands.first() == Some(&"start") => {
                Some(Self::Start { bucket, protocol: Protocol::Universal })
            }
            (Some("resumable"), _) => Some(Self::NoCommand),
            (Some("raw"), _) | (None, Some("media")) => Some(Self::Insert { bucket, is_multipart: false }),
            (Some("multipart"), _) | (None, Some("multipart")) => {
                Some(Self::Insert { bucket, is_multipart: true })
            }
            (None, Some("resumable")) => Some(Self::Start { bucket, protocol: Protocol::Resumable }),
            _ => None,
        }
    }

    pub(crate) fn call(&self) -> StorageCall {
        match self {
            Self::Insert { .. } => StorageCall::Insert,
            Self::Start { .. } => StorageCall::StartUpload,
            Self::Upload { .. } => StorageCall::Upload,
            Self::Query { .. } => StorageCall::QueryUpload,
            Self::Cancel { .. } => StorageCall::CancelUpload,
            Self::Download { .. } => StorageCall::Download,
            Self::Get { .. } => StorageCall::Get,
            Self::List { .. } => StorageCall::List,
            Self::Delete { .. } => StorageCall::Delete,
            Self::NoCommand | Self::Unknown => StorageCall::Unknown,
        }
    }

    /// The session that it is for.
    pub(crate) fn session(&self) -> Option<&str> {
        match self {
            Self::Upload { id, .. } | Self::Query { id, .. } | Self::Cancel { id, .. } => Some(id),
            _ => None,
        }
    }

    /// Bucket and name of the object that it is about; of uploads that start, as the query has the name.
    pub(crate) fn object(&self, target: &Target, state: &State) -> Option<(String, String)> {
        match self {
            Self::Insert { bucket, .. } | Self::Start { bucket, .. } => {
                Some((bucket.clone(), target.query("name")?.to_owned()))
            }
            Self::Upload { id, .. } | Self::Query { id, .. } | Self::Cancel { id, .. } => {
                let session = state.sessions.get(id)?;
                Some((session.bucket.clone(), session.name.clone()))
            }
            Self::Download { bucket, name } | Self::Get { bucket, name } | Self::Delete { bucket, name } => {
                Some((bucket.clone(), name.clone()))
            }
            Self::List { .. } | Self::NoCommand | Self::Unknown => None,
        }
    }
}

fn owned(text: &str) -> String {
    text.to_owned()
}

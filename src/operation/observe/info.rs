//! Which operation it is.

use crate::operation::report::Name;
use std::sync::atomic::{AtomicU64, Ordering};

/// The transport of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Transport {
    /// gRPC: a generated client, or tonic's own client over the layer.
    Grpc,
    /// HTTP, over any client.
    Http,
    /// A closure.
    Closure,
    /// A long-running operation, from its first call until it is done: each of its attempts is an operation over gRPC, or of a
    /// closure.
    LongRunning,
}

/// Which operation something happens to.
#[derive(Debug, Clone, PartialEq)]
pub struct OperationInfo {
    id: u64,
    name: Name,
    transport: Transport,
    is_registered: bool,
    settings_version: Option<u64>,
    settings_are_watched: Option<bool>,
}

impl OperationInfo {
    pub(crate) fn new(
        name: Name,
        transport: Transport,
        is_registered: bool,
        settings_version: Option<u64>,
        settings_are_watched: Option<bool>,
    ) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { id, name, transport, is_registered, settings_version, settings_are_watched }
    }

    /// A number that no other observed operation of the process has.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The method's path, such as `/google.cloud.asset.v1.AssetService/ListAssets`; over HTTP the method and the path,
    /// such as `GET /storage/v1/b/photos`; of a closure the name that its [`Retryer`](crate::Retryer) was given.
    #[must_use]
    pub fn method(&self) -> &str {
        self.name.as_str()
    }

    /// The method as metrics and spans name it: over gRPC `package.Service/Method`, without what an origin puts before
    /// it, and so for the long-running operations of an RPC; otherwise as [`method`](Self::method) has it.
    #[must_use]
    pub fn full_method(&self) -> &str {
        match self.transport {
            Transport::Grpc | Transport::LongRunning => full_method(self.method()),
            Transport::Http | Transport::Closure => self.method(),
        }
    }

    /// The transport that it runs over.
    #[must_use]
    pub fn transport(&self) -> Transport {
        self.transport
    }

    /// Whether the program knew the method before it was called: a client that was generated, tonic's own included, has it, the layer's
    /// table or descriptors name it, or it is a closure's name. The number of other names has no bound, so metrics should call
    /// them all `other`. Requests of HTTP clients are never registered.
    #[must_use]
    pub fn is_registered(&self) -> bool {
        self.is_registered
    }

    /// The version of the settings that the operation began with, where they can be replaced while a program runs.
    #[must_use]
    pub fn settings_version(&self) -> Option<u64> {
        self.settings_version
    }

    /// Whether the file of these settings was watched, and could be read, when the operation began. `None`: they have no file
    /// that was ever watched.
    #[must_use]
    pub fn settings_are_watched(&self) -> Option<bool> {
        self.settings_are_watched
    }
}

/// The last two segments of a path.
pub(super) fn full_method(path: &str) -> &str {
    let mut slashes = path.rmatch_indices('/');
    let method = slashes.nth(1).map(|(place, slash)| place + slash.len());
    method.and_then(|start| path.get(start..)).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::full_method;

    #[test]
    fn an_origin_s_path_is_no_part_of_a_method() {
        assert_eq!(full_method("/pkg.Service/Method"), "pkg.Service/Method");
        assert_eq!(full_method("/a/b/pkg.Service/Method"), "pkg.Service/Method");
        assert_eq!(full_method("pkg.Service/Method"), "pkg.Service/Method");
        assert_eq!(full_method("/"), "/");
        assert_eq!(full_method(""), "");
    }
}

//! Which operation it is.

use crate::operation::report::Name;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};

/// A transport, as observers see it: its name, and what they can expect of it. Equal by name.
///
/// Each transport has its own: `tonic_gax::grpc::GRPC`, `gax_http::HTTP`, `gax_client::longrunning::LONG_RUNNING`.
#[derive(Debug, Clone, Copy)]
#[must_use]
pub struct Transport {
    name: &'static str,
    has_wire: bool,
    names_rpcs: bool,
    counts_messages: bool,
}

impl Transport {
    /// Closures: nothing of what their attempts send is known.
    pub const CLOSURE: Self = Self::new("closure");

    /// A transport without a wire, whose operations have names that mean nothing.
    pub const fn new(name: &'static str) -> Self {
        Self { name, has_wire: false, names_rpcs: false, counts_messages: false }
    }

    /// Its attempts are requests that are sent: observers are notified of their headers, and of when they are taken.
    pub const fn with_wire(self) -> Self {
        Self { has_wire: true, ..self }
    }

    /// Its operations are named as RPCs are, by paths that end with `package.Service/Method`.
    pub const fn with_rpc_names(self) -> Self {
        Self { names_rpcs: true, ..self }
    }

    /// Its attempts tell of each message that they send and receive.
    pub const fn with_messages(self) -> Self {
        Self { counts_messages: true, ..self }
    }

    gax_text::getters! { const self:
        /// Its name, such as `grpc`.
        pub name: &'static str = self.name;

        /// Returns whether its attempts are requests that are sent.
        pub has_wire: bool = self.has_wire;

        /// Returns whether its operations are named as RPCs are.
        pub names_rpcs: bool = self.names_rpcs;

        /// Returns whether its attempts tell of each message.
        pub counts_messages: bool = self.counts_messages;

        /// Returns whether each of its attempts is an RPC: metrics and spans name them by the conventions for RPCs.
        pub is_rpc: bool = self.has_wire && self.names_rpcs;
    }
}

impl PartialEq for Transport {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Transport {}

/// Which operation something happens to.
#[derive(Debug, Clone, PartialEq)]
pub struct OperationInfo {
    id: u64,
    name: Name,
    transport: &'static Transport,
    is_registered: bool,
    settings_version: Option<NonZeroU64>,
    settings_are_watched: Option<bool>,
}

impl OperationInfo {
    pub(crate) fn new(
        name: Name,
        transport: &'static Transport,
        is_registered: bool,
        settings_version: Option<u64>,
        settings_are_watched: Option<bool>,
    ) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let settings_version = settings_version.and_then(NonZeroU64::new);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { id, name, transport, is_registered, settings_version, settings_are_watched }
    }

    gax_text::getters! { self:
        /// A number that no other observed operation of the process has.
        pub id: u64 = self.id;

        /// The method's path, such as `/google.cloud.asset.v1.AssetService/ListAssets`; over HTTP the method and the path,
        /// such as `GET /storage/v1/b/photos`; of a closure the name that its [`Retryer`](crate::Retryer) was given.
        pub method: &str = self.name.as_str();
    }

    /// The method as metrics and spans name it: over gRPC `package.Service/Method`, without a path prefix of the
    /// origin, also for the long-running operations of an RPC; otherwise the same as [`method`](Self::method).
    #[must_use]
    pub fn full_method(&self) -> &str {
        if self.transport.names_rpcs { full_method(self.method()) } else { self.method() }
    }

    gax_text::getters! { self:
        /// The transport that it runs over.
        pub transport: &'static Transport = self.transport;

        /// Returns whether the program knew the method before it was called: from a generated client (including tonic's), from the layer's
        /// table or descriptors, or as a closure's name. The number of other names has no bound, so metrics should call them all `other`.
        /// Requests of HTTP clients are never registered.
        pub is_registered: bool = self.is_registered;

        /// The version of the settings that the operation began with, where they can be replaced while a program runs.
        pub settings_version: Option<u64> = self.settings_version.map(NonZeroU64::get);

        /// Returns whether the file of these settings was watched, and could be read, when the operation began. `None`: they have no
        /// file that was ever watched.
        pub settings_are_watched: Option<bool> = self.settings_are_watched;
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

//! The options that the code of all services depends on.

use crate::describe::{Annotations, RequestIds};
use gax_retry::Compatibility;
use gax_table::RetryThrottling;
use proc_macro2::TokenStream;
use std::collections::HashSet;

/// Writes the code of services.
#[derive(Debug)]
pub(crate) struct Emitter {
    /// The path of the crate `gax_client`, such as `::gax_client`.
    pub(crate) runtime: TokenStream,
    /// Where messages are, from inside a module next to them: `super`.
    pub(crate) proto_path: String,
    pub(crate) build_transport: bool,
    /// Which client's rules the clients run by, unless their user says otherwise.
    pub(crate) compatibility: Compatibility,
    /// The retry budget that the clients start with.
    pub(crate) throttling: Option<RetryThrottling>,
    /// The headers that Google's annotations lead to.
    pub(crate) annotations: Annotations,
    /// The fields of requests that clients fill.
    pub(crate) request_ids: RequestIds,
    /// The file with the descriptors of clients over REST; `None`: there are no such clients.
    pub(crate) rest: Option<String>,
    /// Services and methods whose comments are left out, by full name.
    pub(crate) disable_comments: HashSet<String>,
}

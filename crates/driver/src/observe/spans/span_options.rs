//! Options that apply while an operation runs.

use crate::observe::OutgoingHeaders;
use gax_retry::{Code, CodeSet};
use std::sync::Arc;
use tracing::Span;

/// Writes the context of a span into the headers of a request.
type Propagator = dyn Fn(&Span, &mut OutgoingHeaders<'_>) + Send + Sync;

/// Options that apply while an operation runs.
#[derive(Clone)]
pub(super) struct SpanOptions {
    pub(super) propagator: Option<Arc<Propagator>>,
    pub(super) attempt_delays: bool,
    /// The codes without a warning.
    pub(super) expected: CodeSet,
}

/// Codes of a server that works, about a request that it can't or won't serve: by OpenTelemetry's conventions for RPCs they
/// are no errors of the server.
const EXPECTED: [Code; 8] = [
    Code::InvalidArgument,
    Code::NotFound,
    Code::AlreadyExists,
    Code::PermissionDenied,
    Code::FailedPrecondition,
    Code::Aborted,
    Code::OutOfRange,
    Code::Unauthenticated,
];

impl Default for SpanOptions {
    fn default() -> Self {
        Self { propagator: None, attempt_delays: false, expected: EXPECTED.into() }
    }
}

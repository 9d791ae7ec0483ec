//! The settings of one service's generated client.

use gax_retry::{BatchingSettings, CodeSet, RetrySettings};

/// The `StubSettings` of a client, as Google's generators call them: named definitions, and per method a row that
/// names two of them.
///
/// It is what [`RetryTable::stub_tables`](crate::RetryTable::stub_tables) gives.
#[derive(Debug, Clone, PartialEq)]
pub struct StubTable {
    pub(super) service: String,
    pub(super) code_definitions: Vec<(String, CodeSet)>,
    pub(super) param_definitions: Vec<(String, RetrySettings)>,
    pub(super) rows: Vec<StubRow>,
}

impl StubTable {
    /// The service's full name.
    #[must_use]
    pub fn service(&self) -> &str {
        &self.service
    }

    /// The sets of codes by name, each once, in the order in which the methods first use them.
    #[must_use]
    pub fn code_definitions(&self) -> &[(String, CodeSet)] {
        &self.code_definitions
    }

    /// The settings by name, each once, in the order in which the methods first use them.
    #[must_use]
    pub fn param_definitions(&self) -> &[(String, RetrySettings)] {
        &self.param_definitions
    }

    /// The rows: every method, then what belongs to long-running operations.
    #[must_use]
    pub fn rows(&self) -> &[StubRow] {
        &self.rows
    }
}

/// The kind of a [`StubRow`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RowKind {
    /// One request, one response.
    Unary,
    /// Unary, and the response is one page of a list.
    Paged,
    /// Unary, and requests may be batched.
    Batching,
    /// One request, a stream of responses.
    ServerStreaming,
    /// The client sends a stream: nothing is retried, and there are no settings.
    Streaming,
    /// The call that starts a long-running operation.
    OperationInitial,
    /// The calls that ask whether the operation is done.
    OperationPolling,
}

gax_text::names! {
    /// The kind in the words of the printed form, such as `operation-initial`.
    pub fn as_str for RowKind {
        Unary = "unary",
        Paged = "paged",
        Batching = "batching",
        ServerStreaming = "server-streaming",
        Streaming = "streaming",
        OperationInitial = "operation-initial",
        OperationPolling = "operation-polling",
    }
}

/// One accessor of a generated client's settings.
#[derive(Debug, Clone, PartialEq)]
pub struct StubRow {
    pub(super) method: String,
    pub(super) full_method: String,
    pub(super) getter: String,
    pub(super) kind: RowKind,
    pub(super) keys: Option<(String, String)>,
    pub(super) codes: CodeSet,
    pub(super) settings: Option<RetrySettings>,
    pub(super) batching: Option<BatchingSettings>,
}

impl StubRow {
    /// The method's name.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.method
    }

    /// The method's own service and name, such as `google.cloud.location.Locations/GetLocation`.
    #[must_use]
    pub fn full_method(&self) -> &str {
        &self.full_method
    }

    /// The accessor's name in Google's Java client, such as `getLocationSettings`.
    #[must_use]
    pub fn getter(&self) -> &str {
        &self.getter
    }

    /// The subject of the row.
    #[must_use]
    pub fn kind(&self) -> RowKind {
        self.kind
    }

    /// The name of the codes' definition; `None` for polling and for streams of requests.
    #[must_use]
    pub fn codes_key(&self) -> Option<&str> {
        self.keys.as_ref().map(|(codes, _)| codes.as_str())
    }

    /// The name of the settings' definition; `None` for polling and for streams of requests.
    #[must_use]
    pub fn params_key(&self) -> Option<&str> {
        self.keys.as_ref().map(|(_, params)| params.as_str())
    }

    /// The codes that are retried.
    #[must_use]
    pub fn codes(&self) -> CodeSet {
        self.codes
    }

    /// The settings; `None` for streams of requests.
    #[must_use]
    pub fn settings(&self) -> Option<&RetrySettings> {
        self.settings.as_ref()
    }

    /// How requests are batched; only rows of the kind [`Batching`](RowKind::Batching) have it.
    #[must_use]
    pub fn batching(&self) -> Option<&BatchingSettings> {
        self.batching.as_ref()
    }
}

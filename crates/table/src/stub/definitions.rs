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
    gax_text::getters! { self:
        /// The service's full name.
        pub service: &str = self.service.as_str();

        /// The sets of codes by name, each once, in the order in which the methods first use them.
        pub code_definitions: &[(String, CodeSet)] = self.code_definitions.as_slice();

        /// The settings by name, each once, in the order in which the methods first use them.
        pub param_definitions: &[(String, RetrySettings)] = self.param_definitions.as_slice();

        /// The rows: every method, then what belongs to long-running operations.
        pub rows: &[StubRow] = self.rows.as_slice();
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
    gax_text::getters! { self:
        /// The method's name.
        pub method: &str = self.method.as_str();

        /// The method's own service and name, such as `google.cloud.location.Locations/GetLocation`.
        pub full_method: &str = self.full_method.as_str();

        /// The accessor's name in Google's Java client, such as `getLocationSettings`.
        pub getter: &str = self.getter.as_str();

        /// The subject of the row.
        pub kind: RowKind = self.kind;

        /// The name of the codes' definition; `None` for polling and for streams of requests.
        pub codes_key: Option<&str> = self.keys.as_ref().map(|(codes, _)| codes.as_str());

        /// The name of the settings' definition; `None` for polling and for streams of requests.
        pub params_key: Option<&str> = self.keys.as_ref().map(|(_, params)| params.as_str());

        /// The codes that are retried.
        pub codes: CodeSet = self.codes;

        /// The settings; `None` for streams of requests.
        pub settings: Option<&RetrySettings> = self.settings.as_ref();

        /// How requests are batched; only rows of the kind [`Batching`](RowKind::Batching) have it.
        pub batching: Option<&BatchingSettings> = self.batching.as_ref();
    }
}

//! How an RPC is called.

/// The shape of an RPC, as far as retries care.
///
/// `Paged` and `Batching` are unary RPCs with a pattern on top, as Google's generators tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MethodKind {
    /// One request, one response.
    Unary,
    /// Unary, and the response is one page of a list.
    Paged,
    /// Unary, and requests may be batched.
    Batching,
    /// One request, a stream of responses.
    ServerStreaming,
    /// A stream of requests, one response.
    ClientStreaming,
    /// A stream of requests and one of responses.
    BidiStreaming,
}

gax_text::names! {
    /// The kind in the words of generated tables, such as `server-streaming`.
    pub fn as_str for MethodKind {
        Unary = "unary",
        Paged = "paged",
        Batching = "batching",
        ServerStreaming = "server-streaming",
        ClientStreaming = "client-streaming",
        BidiStreaming = "bidi-streaming",
    }
}

impl MethodKind {
    /// Returns whether one request gets one response.
    #[must_use]
    pub const fn is_unary(self) -> bool {
        matches!(self, MethodKind::Unary | MethodKind::Paged | MethodKind::Batching)
    }

    /// Returns whether the client sends a stream, which can't be sent again.
    #[must_use]
    pub const fn streams_requests(self) -> bool {
        matches!(self, MethodKind::ClientStreaming | MethodKind::BidiStreaming)
    }
}

//! The settings of a whole client.

use super::StubSettings;
use crate::operation::JitterSeeds;
use gax_retry::Compatibility;

/// What a generated client's settings are made of: those of its stub, and those of every call.
#[derive(Debug, Clone)]
pub struct ClientSettings {
    pub(crate) stub: StubSettings,
    pub(crate) compatibility: Compatibility,
    pub(crate) limits: Limits,
    pub(crate) jitter: JitterSeeds,
    pub(crate) method_extension: bool,
}

impl ClientSettings {
    /// Defaults around the stub's settings.
    #[must_use]
    pub fn new(stub: StubSettings) -> Self {
        Self {
            stub,
            compatibility: Compatibility::default(),
            limits: Limits::default(),
            jitter: JitterSeeds::default(),
            method_extension: true,
        }
    }

    /// Whose rules turn settings into attempts.
    #[must_use]
    pub fn with_compatibility(mut self, compatibility: Compatibility) -> Self {
        self.compatibility = compatibility;
        self
    }

    /// See [`RetryLayer::max_replay_bytes`](crate::RetryLayer::max_replay_bytes).
    #[must_use]
    pub fn with_max_replay_bytes(mut self, bytes: usize) -> Self {
        self.limits.max_replay_bytes = bytes;
        self
    }

    /// See [`RetryLayer::without_replay_limit`](crate::RetryLayer::without_replay_limit).
    #[must_use]
    pub fn without_replay_limit(self) -> Self {
        self.with_max_replay_bytes(usize::MAX)
    }

    /// See [`RetryLayer::jitter_seed`](crate::RetryLayer::jitter_seed).
    #[must_use]
    pub fn with_jitter_seed(mut self, seed: u64) -> Self {
        self.jitter = JitterSeeds::from(seed);
        self
    }

    /// Whether tonic's [`GrpcMethod`](tonic::GrpcMethod) goes with every request, in its extensions, for
    /// interceptors and layers between the client and the connection. True by default; directly over a
    /// [`Channel`](tonic::transport::Channel), where nobody could look for it, it is left out in any case. It
    /// takes three allocations a request.
    #[must_use]
    pub fn with_method_extension(mut self, is_sent: bool) -> Self {
        self.method_extension = is_sent;
        self
    }

    /// See [`RetryLayer::server_timeouts_are_ours`](crate::RetryLayer::server_timeouts_are_ours).
    #[must_use]
    pub fn with_server_timeouts_as_ours(mut self, ours: bool) -> Self {
        self.limits.server_timeouts_are_ours = ours;
        self
    }
}

/// Bounds and switches that hold for every operation of a client or layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    /// The longest request that is kept for another attempt.
    pub(crate) max_replay_bytes: usize,
    /// The most bytes of a response that are held back to be judged.
    pub(crate) max_response_buffer: usize,
    /// Whether a server's "Timeout expired", once the attempt's time is up, counts as our own timeout.
    pub(crate) server_timeouts_are_ours: bool,
}

impl Default for Limits {
    fn default() -> Self {
        // What a gRPC peer takes by default, and room for what comes with it.
        const MESSAGE: usize = 4 * 1024 * 1024 + 64 * 1024;
        Self { max_replay_bytes: MESSAGE, max_response_buffer: MESSAGE, server_timeouts_are_ours: true }
    }
}

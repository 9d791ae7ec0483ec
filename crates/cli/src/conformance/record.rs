//! The result of an operation: what a case records, and what the engine does.

use serde::Deserialize;

/// An operation from its first attempt to its end. Times are in microseconds.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Record {
    pub(super) attempts: Vec<Row>,
    pub(super) end: String,
    #[serde(deserialize_with = "Option::deserialize")]
    pub(super) final_code: Option<String>,
    pub(super) end_us: i128,
    pub(super) denied_next: Option<Denied>,
    /// The calls of its tracer, such as `attemptStarted(0)`; `None`: they weren't recorded.
    pub(super) tracer: Option<Vec<String>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    pub(super) attempt: i128,
    pub(super) rpc_timeout_us: i128,
    pub(super) retry_delay_us: i128,
    pub(super) start_us: i128,
    pub(super) end_us: i128,
    pub(super) outcome: String,
    /// The 0-based number since messages were last delivered, of streams only.
    pub(super) attempt_count: Option<i128>,
    /// The 0-based number since the operation's start, of streams only.
    pub(super) overall_attempt_count: Option<i128>,
}

/// The attempt that was computed and refused.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Denied {
    pub(super) attempt: i128,
    pub(super) retry_delay_us: i128,
    /// Known of the bare algorithm only.
    pub(super) rpc_timeout_us: Option<i128>,
}

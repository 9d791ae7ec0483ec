//! HTTP on top of operations: what statuses and failures are treated as, which requests are safe to retry, how long
//! a response asks to wait, and how documents, tools and libraries retry.

mod failure;
mod http_status;
mod idempotency;
mod json;
pub mod presets;
mod retry_info;
mod status_set;

pub use failure::{HttpFailure, TransportFailure, TransportFailures};
pub use idempotency::{
    Classification, HeaderLookup, HostPattern, HostPatternError, Idempotency, IdempotencyRule,
    IdempotencyStrategy, IdempotencyTable, OperationClass, ParseStrategyError, PathPattern, PatternError,
    Precondition, RequestFacts, UnknownRuleError,
};
pub use presets::{Preset, UnknownPresetError};
pub use retry_info::retry_info_in_json;
pub use status_set::StatusSet;

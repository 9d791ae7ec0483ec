#![doc = include_str!("../README.md")]

mod attempt;
mod code;
mod compatibility;
#[cfg(feature = "conformance")]
pub mod conformance;
mod escaped;
pub mod gax_java;
mod http_status;
#[cfg(feature = "http")]
mod idempotency;
#[cfg(feature = "json")]
mod input;
mod jitter;
pub mod lint;
mod method_kind;
mod nanos;
mod operation;
mod plan;
#[cfg(feature = "http")]
pub mod presets;
mod private;
mod recipe;
#[cfg(feature = "http")]
mod retry_after;
mod rules;
mod server_delay;
mod settings;
mod started_attempt;
mod stop_reason;
mod table;

pub use attempt::Attempt;
pub use code::{Code, CodeSet, ParseCodeError};
pub use compatibility::{Compatibility, ParseCompatibilityError};
#[cfg(feature = "http")]
pub use idempotency::{
    HeaderLookup, Idempotency, IdempotencyRule, IdempotencyStrategy, IdempotencyTable, OperationClass,
    ParseStrategyError, PathPattern, PatternError, Precondition, RequestFacts, UnknownRuleError, Verdict,
};
pub use jitter::{JitterSource, NoJitter, ScriptedJitter, SeededJitter, ThreadJitter, jittered_delay};
pub use method_kind::MethodKind;
pub use operation::{
    Action, AttemptResult, CommitPoint, Delivery, End, Hedging, NotAttempted, Operation, Outcome, Policy,
    Resend, RetryBudget, RetryFact, Seen, Stop, World,
};
pub use plan::{AttemptPlan, Outlook, Response};
#[cfg(feature = "http")]
pub use presets::{HttpFailure, Preset, StatusSet, TransportFailure, TransportFailures, UnknownPresetError};
pub use recipe::{Backoff, Cap, Jitter, Limits, Recipe, TimeRule};
#[cfg(feature = "http")]
pub use retry_after::retry_after;
pub use server_delay::ServerDelay;
pub use settings::{RetryDelays, RetrySettings, RetrySettingsBuilder, SettingsError, SettingsProblem};
pub use started_attempt::{AttemptKind, StartedAttempt};
pub use stop_reason::StopReason;
#[cfg(feature = "yaml")]
pub use table::ServiceYaml;
pub use table::{
    Allowance, BatchingSettings, Dialect, Finding, HedgingPolicy, IdempotencyLevel, LimitExceeded,
    MethodDescription, MethodPolicy, Origin, ParseDialectError, ParseTableFormatError, PolicyField,
    RetryTable, RetryTableBuilder, RetryThrottling, RowKind, ServiceDescription, Severity, StubRow,
    StubTable, TableError, TableFormat, TableName, getter_name,
};
#[cfg(feature = "json")]
pub use table::{Conversion, ConversionTarget, ParseConversionTargetError, TableReader};

/// For generated code, and for the other crates of this project, only.
#[doc(hidden)]
pub mod __private {
    pub use crate::escaped::{Escaped, is_unprintable};
    #[cfg(feature = "json")]
    pub use crate::input::{open_file, read_file, read_stream};
    pub use crate::private::retry_settings;
}

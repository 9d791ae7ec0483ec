#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod attempt;
mod attempt_table;
mod batching;
mod budget;
mod code;
mod compatibility;
mod environment;
pub mod gax_java;
#[cfg(feature = "http")]
mod http;
mod into_codes;
mod jitter;
mod method_kind;
mod nanos;
mod operation;
mod plan;
mod private;
mod retry_after;
mod rules;
mod server_delay;
mod settings;
mod started_attempt;
mod stop_reason;
#[cfg(feature = "serde")]
mod stored;
mod strategy;
mod text;

pub use attempt::Attempt;
pub use batching::{BatchingSettings, LimitExceeded};
pub use budget::{RetryBudget, RetryBudgets};
pub use code::{Code, CodeSet, ParseCodeError};
pub use compatibility::{Compatibility, ParseCompatibilityError};
pub use environment::{Environment, EnvironmentError};
#[cfg(feature = "http")]
pub use http::{
    Classification, HeaderLookup, HttpFailure, Idempotency, IdempotencyRule, IdempotencyStrategy,
    IdempotencyTable, OperationClass, ParseStrategyError, PathPattern, PatternError, Precondition, Preset,
    RequestFacts, StatusSet, TransportFailure, TransportFailures, UnknownPresetError, UnknownRuleError,
    presets, retry_info_in_json,
};
pub use into_codes::IntoCodes;
#[cfg(feature = "sys-rng")]
pub use jitter::ThreadJitter;
pub use jitter::{JitterSource, NoJitter, ScriptedJitter, SeededJitter, jittered_delay};
pub use method_kind::MethodKind;
pub use operation::{
    Action, AttemptEnd, AttemptResult, CommitPoint, Delivery, End, Event, Hedging, NotAttempted, Operation,
    Outcome, Policy, Ready, Repetition, Replayable, Resend, RetryFact, Seen, Stop, World,
};
pub use plan::{AttemptPlan, Impact, Response, Simulated, Simulation};
pub use retry_after::retry_after;
pub use server_delay::ServerDelay;
pub use settings::{
    Override, RetryDelays, RetrySettings, RetrySettingsBuilder, SettingsError, SettingsOverrides,
    SettingsProblem,
};
pub use started_attempt::{AttemptKind, Next, StartedAttempt};
pub use stop_reason::StopReason;
pub use strategy::{AttemptTimeouts, Backoff, BackoffStrategy, Cap, Jitter, Limits, TimeRule};

/// For generated code, and for the other crates of this project, only.
#[doc(hidden)]
pub mod __private {
    pub use crate::attempt_table::{AttemptRow, AttemptTable};
    pub use crate::gax_java::algorithm::{Algorithm, Limit, Next};
    pub use crate::private::{
        ConstBatching, ConstSettings, batching, code_problem, no_problems, of_rpc, rpc_problem, settings,
        unchecked,
    };
    pub use crate::settings::SettingsKey;
    #[cfg(all(feature = "serde", feature = "http"))]
    pub use crate::stored::StoredHttpOptions;
    #[cfg(feature = "serde")]
    pub use crate::stored::{Milliseconds, StoredCall, StoredOptions};
    pub use crate::text::{
        Align, Cell, DurationError, Escaped, Grid, Human, Role, closest, is_unprintable, parse_duration,
        parse_nanos, time_text,
    };
}

#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod batching;
mod budget;
mod code;
mod compatibility;
mod const_setters;
mod environment;
pub mod gax_java;
#[cfg(feature = "http")]
mod http;
mod into_codes;
mod jitter;
mod method_kind;
mod nanos;
mod operation;
#[cfg(feature = "plan")]
mod plan;
pub mod report;
mod rules;
mod server_delay;
pub mod settings;
mod started_attempt;
mod stop_reason;
#[cfg(feature = "serde")]
pub mod stored;
#[cfg(feature = "strategy")]
mod strategy;

pub use batching::{BatchingSettings, BatchingSettingsBuilder, LimitExceeded};
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
pub use jitter::{JitterSource, NoJitter, ScriptedJitter, SeededJitter};
pub use method_kind::MethodKind;
pub use operation::{
    Action, AttemptEnd, AttemptResult, CommitPoint, Delivery, End, Event, Hedging, NotAttempted, Operation,
    Outcome, Policy, Ready, Repetition, Replayable, Resend, RetryFact, Seen, Stop, World,
};
#[cfg(feature = "plan")]
pub use plan::{AttemptPlan, Impact, Response, Simulated, Simulation};
pub use report::Attempt;
pub use server_delay::ServerDelay;
pub use settings::{
    Override, RetryDelays, RetrySettings, RetrySettingsBuilder, SettingsError, SettingsOverrides,
    SettingsProblem,
};
pub use started_attempt::{AttemptKind, Next, StartedAttempt};
pub use stop_reason::StopReason;
#[cfg(feature = "strategy")]
pub use strategy::{AttemptTimeouts, Backoff, BackoffStrategy, Cap, Jitter, Limits, TimeRule};

#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "batching-settings")]
pub mod batching;
mod budget;
mod code;
pub mod compatibility;
pub mod environment;
pub mod gax_java;
#[cfg(feature = "http")]
pub mod http;
mod into_codes;
pub mod jitter;
mod method_kind;
mod methods;
mod nanos;
pub mod operation;
#[cfg(feature = "plan")]
pub mod plan;
pub mod report;
mod rules;
mod server_delay;
pub mod settings;
mod started_attempt;
mod stop_reason;
#[cfg(feature = "serde")]
pub mod stored;
#[cfg(feature = "strategy")]
pub mod strategy;

#[cfg(feature = "batching-settings")]
pub use batching::{BatchingSettings, BatchingSettingsBuilder, LimitExceeded};
pub use budget::RetryBudget;
pub use code::{Code, CodeSet, ParseCodeError};
pub use compatibility::Compatibility;
pub use environment::Environment;
pub use into_codes::IntoCodes;
pub use jitter::NoJitter;
#[cfg(feature = "sys-rng")]
pub use jitter::ThreadJitter;
pub use method_kind::MethodKind;
#[cfg(feature = "http")]
pub use methods::{HttpPolicies, HttpSettings};
pub use methods::{MethodFacts, MethodPolicies, MethodSettings, RetryThrottling};
pub use operation::{Delivery, Hedging, NotAttempted, Policy};
#[cfg(feature = "plan")]
pub use plan::{AttemptPlan, Response};
pub use report::Attempt;
pub use server_delay::ServerDelay;
pub use settings::{RetrySettings, RetrySettingsBuilder, SettingsError};
pub use started_attempt::{AttemptKind, StartedAttempt};
pub use stop_reason::StopReason;

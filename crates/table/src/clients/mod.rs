//! Other gRPC clients and a service config: their JSON readers, the values that they take, and what they do then.
//!
//! Clients are data: one file of rules each, next to this one, each rule with where it comes from.

mod assess;
mod channel;
mod decode;
mod fields;
mod findings;
mod judge;
mod lenient;
mod play;
mod policy;
mod report;
mod rules;
mod script;
mod timeout;

pub use findings::{disagreement, findings};
pub use report::{ClientReport, Deviation, MethodReport, Verdict};
pub use rules::{Client, UnknownClientError};
pub use script::{ClientOptions, ParseScriptError, Script};

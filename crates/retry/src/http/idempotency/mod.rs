//! Which HTTP requests are safe to retry: rules as data, and what they say of a request.

mod classification;
mod host;
mod hosts;
mod path;
mod precondition;
mod request;
mod rule;
mod storage;
mod strategy;
mod table;
#[cfg(test)]
mod tests;

pub use classification::{Classification, Idempotency};
pub use host::{HostPattern, HostPatternError};
pub use path::{PathPattern, PatternError};
pub use precondition::Precondition;
pub use request::{HeaderLookup, RequestFacts};
pub use rule::{IdempotencyRule, OperationClass};
pub use strategy::{IdempotencyStrategy, ParseStrategyError};
pub use table::{IdempotencyTable, UnknownRuleError};

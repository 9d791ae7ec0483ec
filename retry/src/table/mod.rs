//! Retry tables: what the files say that the team of a service maintains.

mod builder;
mod dialect;
#[cfg(feature = "json")]
mod document;
mod error;
mod finding;
#[cfg(feature = "json")]
mod findings;
#[cfg(feature = "json")]
mod load;
mod origin;
mod policy;
#[cfg(feature = "json")]
mod reader;
mod retry_table;
#[cfg(feature = "json")]
mod service_config;
mod stub;
mod suggest;
#[cfg(test)]
#[cfg(feature = "json")]
mod tests;
mod unknown_names;

pub use builder::RetryTableBuilder;
pub use dialect::{Dialect, ParseDialectError};
pub use error::TableError;
pub use finding::{Finding, Severity};
pub use origin::Origin;
pub use policy::{HedgingPolicy, MethodPolicy, PolicyField, RetryThrottling};
#[cfg(feature = "json")]
pub use reader::TableReader;
pub use retry_table::{RetryTable, TableName};
pub use stub::{MethodDescription, RowKind, ServiceDescription, StubRow, StubTable, getter_name};

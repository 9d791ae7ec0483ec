#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod builder;
#[cfg(feature = "json")]
mod client_config;
#[cfg(feature = "convert")]
mod convert;
mod definition_names;
mod dialect;
#[cfg(feature = "json")]
mod document;
mod error;
mod finding;
mod findings;
mod format;
#[cfg(feature = "yaml")]
mod gapic;
#[cfg(feature = "json")]
mod input;
#[cfg(feature = "lint")]
pub mod lint;
#[cfg(feature = "json")]
mod load;
mod name_index;
#[cfg(feature = "json")]
mod named;
mod policy;
#[cfg(feature = "json")]
mod reader;
mod retry_table;
#[cfg(feature = "json")]
mod service_config;
#[cfg(feature = "yaml")]
mod service_yaml;
mod source_location;
mod stub;
mod suggest;
mod suppression;
#[cfg(feature = "json")]
mod syntax;
#[cfg(test)]
#[cfg(feature = "json")]
mod tests;
#[cfg(feature = "toml")]
mod toml_form;
mod unknown_names;
#[cfg(feature = "json")]
mod values;

pub use builder::RetryTableBuilder;
#[cfg(feature = "convert")]
pub use convert::{Conversion, ConversionTarget, ParseConversionTargetError};
pub use dialect::{Dialect, ParseDialectError};
pub use error::TableError;
pub use finding::{Finding, Severity};
pub use format::{ParseTableFormatError, TableFormat};
pub use policy::{HedgingPolicy, MethodPolicy, PolicyField, RetryThrottling};
#[cfg(feature = "json")]
pub use reader::TableReader;
pub use retry_table::{RetryTable, TableName};
#[cfg(feature = "yaml")]
pub use service_yaml::ServiceYaml;
pub use source_location::SourceLocation;
pub use stub::{
    IdempotencyLevel, MethodDescription, RowKind, ServiceDescription, StubRow, StubTable, getter_name,
};
pub use suppression::Suppression;

/// For the other crates of this project only.
#[doc(hidden)]
pub mod __private {
    #[cfg(feature = "json")]
    pub use crate::input::{open_file, read_file, read_stream};
}

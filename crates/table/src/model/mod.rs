//! The content of tables, however they were written.

mod builder;
mod dialect;
mod format;
#[cfg(feature = "http")]
#[cfg_attr(
    not(all(feature = "convert", feature = "lint", feature = "toml")),
    allow(
        dead_code,
        reason = "only TOML has settings of requests, and what it says is linted and written by features"
    )
)]
mod http_table;
mod names;
mod policy;
mod retry_table;
mod settings_key;
mod suppression;
mod table_file;
#[cfg(feature = "json")]
pub(crate) mod written;

pub use builder::RetryTableBuilder;
pub use dialect::{Dialect, ParseDialectError};
pub use format::{ParseTableFormatError, TableFormat};
pub use gax_retry::RetryThrottling;
#[cfg(feature = "http")]
pub(crate) use http_table::HttpSection;
#[cfg(all(feature = "http", feature = "toml"))]
pub(crate) use http_table::{HttpEntry, HttpFields};
#[cfg(feature = "http")]
pub use http_table::{HttpPolicy, HttpRule, HttpTable};
#[cfg(any(feature = "convert", feature = "stub"))]
pub(crate) use policy::TableEntry;
#[cfg(feature = "json")]
pub(crate) use policy::{Definitions, Entry, EntryName, shown_name};
pub use policy::{HedgingPolicy, MethodPolicy, PolicyField};
pub use retry_table::{RetryTable, TableName};
pub use settings_key::SettingsKey;
pub use suppression::Suppression;
pub use table_file::BatchDescriptor;
pub(crate) use table_file::UnusableEntry;
#[cfg(feature = "json")]
pub(crate) use table_file::{MethodExtras, ServiceDefinitions, TableFile};

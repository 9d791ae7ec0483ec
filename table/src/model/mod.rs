//! The content of tables, however they were written.

mod batch_descriptor;
mod builder;
mod definition_names;
mod dialect;
mod format;
mod name_index;
mod policy;
mod retry_table;
mod settings_key;
mod suppression;
mod table_file;
#[cfg(feature = "json")]
pub(crate) mod written;

pub use batch_descriptor::BatchDescriptor;
pub use builder::RetryTableBuilder;
pub use dialect::{Dialect, ParseDialectError};
pub use format::{ParseTableFormatError, TableFormat};
pub(crate) use policy::TableEntry;
#[cfg(feature = "json")]
pub(crate) use policy::{Definitions, Entry, EntryName, shown_name};
pub use policy::{HedgingPolicy, MethodPolicy, PolicyField, RetryThrottling};
pub use retry_table::{RetryTable, TableName};
pub use settings_key::SettingsKey;
pub use suppression::Suppression;
pub(crate) use table_file::UnusableEntry;
#[cfg(feature = "json")]
pub(crate) use table_file::{MethodExtras, ServiceDefinitions, TableFile};

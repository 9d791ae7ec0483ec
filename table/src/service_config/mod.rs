//! gRPC service configs: `methodConfig` with `timeout` and `retryPolicy`, as JSON.

mod as_written;
mod choice;
mod config;
mod entry;
mod file;
mod form;
mod gax_java;
mod grpc;
mod read;

pub(crate) use choice::{is_list_of_choices, take_choice};
#[cfg(any(feature = "convert", feature = "toml"))]
pub(crate) use config::{
    HedgingPolicy, MethodConfig, Name, OwnFields, RetryPolicy, ServiceConfig, Throttling,
};
#[cfg(feature = "toml")]
pub(crate) use file::resolve;
pub(crate) use file::{dropped_file, read_service_config_file};
#[cfg(feature = "toml")]
pub(crate) use form::Form;
#[cfg(feature = "yaml")]
pub(crate) use gax_java::one_decimal;

//! gRPC service configs: `methodConfig` with `timeout` and `retryPolicy`, as JSON.

mod choice;
mod file;
mod read;

pub(super) use file::{dropped_file, other_readers, read_service_config_file};

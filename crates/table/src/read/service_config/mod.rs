//! gRPC service configs: `methodConfig` with `timeout` and `retryPolicy`, as JSON.

mod choice;
mod file;
mod other_readers;
mod read;

pub(super) use file::{dropped_file, read_service_config_file};
pub(super) use other_readers::other_readers;

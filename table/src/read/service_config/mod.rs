//! gRPC service configs: `methodConfig` with `timeout` and `retryPolicy`, as JSON.

mod choice;
mod file;
mod read;

pub(super) use choice::{is_list_of_choices, take_choice};
pub(super) use file::{dropped_file, read_service_config_file};

//! gRPC service configs: `methodConfig` with `timeout` and `retryPolicy`, as JSON.

mod as_written;
mod config;
mod duration;
mod entry;
mod fields;
mod gax_java;
mod grpc;
mod read;
mod scalar;

pub(crate) use as_written::{resolve_as_written, resolve_throttling};
pub(crate) use gax_java::resolve_gax_java;
pub(crate) use grpc::{resolve_grpc, resolve_grpc_throttling};
pub(crate) use read::read_service_config;

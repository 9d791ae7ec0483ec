//! One file in each form and dialect, from text to policies.

mod as_written;
mod client_config;
mod errors;
mod escapes;
mod formats;
#[cfg(feature = "yaml")]
mod gapic;
mod gax_java;
mod grpc;
#[cfg(feature = "toml")]
mod idempotent;
#[cfg(feature = "http")]
mod openapi;
#[cfg(feature = "toml")]
mod toml_form;
#[cfg(all(feature = "http", feature = "toml"))]
mod toml_http;
#[cfg(all(feature = "http", feature = "toml"))]
mod toml_http_policy;
mod zero;

use super::{one_entry, one_policy, read, rules, shared};

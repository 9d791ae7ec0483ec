//! Tables in another form.

mod corpus;
mod envoy;
mod forms;
#[cfg(feature = "toml")]
mod idempotent;
mod named;

use super::{one_policy, read, shared};

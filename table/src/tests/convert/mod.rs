//! Tables in another form.

mod corpus;
mod envoy;
mod forms;
mod named;

use super::{one_policy, read, shared};

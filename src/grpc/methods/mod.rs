//! The methods of a table, and the plan by which the calls of each are run.

pub(super) mod descriptors;
mod plan;
mod table;

pub use descriptors::DescriptorError;
pub(crate) use plan::MethodPlan;
pub(crate) use table::{Found, Kinds, Methods};

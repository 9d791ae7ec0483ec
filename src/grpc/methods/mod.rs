//! The methods of a table, and the plan by which the calls of each are run.

#[cfg(feature = "tables")]
pub(super) mod descriptors;
mod plan;
#[cfg(feature = "tables")]
mod table;
pub(super) mod timeout;

#[cfg(feature = "tables")]
pub(super) mod unknown;

#[cfg(feature = "tables")]
pub use descriptors::DescriptorError;
pub(crate) use plan::MethodPlan;
#[cfg(feature = "tables")]
pub(crate) use table::{Found, MethodOptions, Methods};
#[cfg(feature = "tables")]
pub use unknown::UnknownMethodsError;

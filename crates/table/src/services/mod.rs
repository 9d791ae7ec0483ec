//! Services, and the names of a table that they don't have.

mod known_services;
mod service;
mod unknown_methods;
mod unknown_names;

#[cfg(feature = "lint")]
pub(crate) use known_services::KnownServices;
pub use service::{IdempotencyLevel, MethodDescription, ServiceDescription};
pub use unknown_methods::UnknownMethodsError;
#[cfg(feature = "live")]
pub(crate) use unknown_methods::services_of;

//! Services, and the names of a table that they don't have.

mod service;
mod unknown_names;

pub use service::{IdempotencyLevel, MethodDescription, ServiceDescription};

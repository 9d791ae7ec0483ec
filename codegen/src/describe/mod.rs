//! What protos say about services, for tools that check or compare retry tables.

mod options;
mod protos;

pub(crate) use options::MethodOptions;
pub(crate) use protos::describe;
pub use protos::{Protos, describe_protos};

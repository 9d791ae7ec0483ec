//! What protos say about services, for tools that check or compare retry tables.

mod options;
mod protos;

pub use protos::{Protos, describe_protos};

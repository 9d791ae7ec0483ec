//! A table joined with services: what a generated client starts from.

mod definitions;
mod join;

pub use definitions::{RowKind, StubRow, StubTable};
pub use join::getter_name;

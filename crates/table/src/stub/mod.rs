//! A table joined with services: what a generated client starts from.

mod definitions;
mod getter;
mod join;

pub use definitions::{RowKind, StubRow, StubTable};
pub use getter::getter_name;

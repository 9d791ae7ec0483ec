//! Values out of a document's nodes, with errors that say where and what to write.

mod duration;
mod fields;
mod scalar;

pub(crate) use fields::{FieldFinder, Fields, duplicate_key};
pub(crate) use scalar::{Located, Scalars};

//! Values out of a document's nodes, with errors that say where and what to write.

mod duration;
mod fields;
mod scalar;
mod time;

pub(crate) use fields::{FieldFinder, Fields, duplicate_key, rest};
pub(crate) use scalar::Scalars;
#[cfg(feature = "toml")]
pub(crate) use time::parse_time;
#[cfg(feature = "convert")]
pub(crate) use time::{seconds_text, time_text};

//! Values out of a document's nodes, with errors that say where and what to write.

mod fields;
#[cfg(any(feature = "clients", feature = "convert"))]
mod quoted;
mod scalar;
#[cfg(feature = "convert")]
mod time;

pub(crate) use fields::{duplicate_key, key_span, rest};
#[cfg(any(feature = "clients", feature = "convert"))]
pub(crate) use quoted::quoted;
pub(crate) use scalar::Values;
#[cfg(feature = "clients")]
pub(crate) use scalar::suggested_seconds;
#[cfg(feature = "convert")]
pub(crate) use time::{nanos, seconds_text};

//! Settings and reports as programs store them (feature `serde`), with the field names of tables in TOML.
//!
//! The types here are for what holds settings among other fields. Each is refused where it stands, so that the error has
//! its place.

mod budget;
mod checked;
mod codes;
mod duration;
mod parts;
mod rows;
mod settings;
#[cfg(test)]
mod tests;

pub use checked::{Attempts, Multiplier, Timeout};
#[cfg(feature = "batching-settings")]
pub(crate) use duration::duration_text;
pub use duration::{DurationText, Milliseconds};

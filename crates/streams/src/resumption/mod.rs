//! Streams that another attempt resumes where they broke.
//!
//! A [`StreamResumption`] decides what happens to each message, and how a broken stream is requested again. It is
//! installed with a [`Resumption`], for all calls of a method of a generated client (`CallSettings::set_resumption`) or for one
//! ([`ResumptionExt::with_resumption`]).

mod factory;
mod resumer;
mod strategy;
mod stream_progress;
#[cfg(test)]
mod tests;
mod withheld;

pub use factory::{Resumption, ResumptionExt};
pub use resumer::Resumer;
pub use strategy::{Processed, Resume, StreamResumption};
pub(crate) use stream_progress::StreamProgress;
pub(crate) use withheld::WithheldLimits;

//! Streams that another attempt resumes where they broke.
//!
//! A [`StreamResumption`] decides what happens to each message, and how a broken stream is requested again. It is
//! installed with a [`Resumption`], for all calls of a method
//! ([`CallSettings::set_resumption`](crate::CallSettings::set_resumption)) or for one
//! ([`RequestExt::with_resumption`](crate::RequestExt::with_resumption)).

mod factory;
mod over_bytes;
mod position;
mod resumer;
mod settled;
mod strategy;
mod stream_progress;
#[cfg(test)]
mod tests;
mod wait;
mod withheld;

pub use factory::Resumption;
pub(crate) use resumer::Resumer;
pub use strategy::{Processed, Resume, StreamResumption};
pub(crate) use stream_progress::StreamProgress;
pub(crate) use withheld::WithheldLimits;

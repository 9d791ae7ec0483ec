//! The interceptor, over a transport that can be paused and over the crate's own.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

mod a6;
mod calls;
mod descriptors;
mod suite;
mod support;
mod transport;

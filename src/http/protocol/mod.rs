//! Attempts over an HTTP service.

mod attempt;
mod failed;
mod http_protocol;

#[cfg(feature = "transfer")]
pub(crate) use attempt::{Head, HttpAttempt, server_delay};
pub use http_protocol::HTTP;
pub(crate) use http_protocol::{AttemptOutcome, HttpProtocol};

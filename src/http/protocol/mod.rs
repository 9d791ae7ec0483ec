//! Attempts over an HTTP service.

mod attempt;
mod failed;
mod http_protocol;

#[cfg(feature = "transfer")]
pub(crate) use failed::resend;
pub use http_protocol::HTTP;
pub(crate) use http_protocol::{AttemptOutcome, HttpProtocol};

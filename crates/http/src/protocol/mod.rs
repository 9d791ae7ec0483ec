//! Attempts over an HTTP service.

mod attempt;
mod failed;
mod http_protocol;

pub use attempt::{Head, HttpAttempt, server_delay};
pub use http_protocol::HTTP;
pub use http_protocol::{AttemptOutcome, HttpProtocol};

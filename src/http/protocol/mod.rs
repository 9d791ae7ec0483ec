//! Attempts over an HTTP service.

mod attempt;
mod failed;
mod http_protocol;

pub(crate) use http_protocol::{AttemptOutcome, HttpProtocol};

//! The template that the attempts of a call are written from, by the example of its method's first request: to keep each call's own would
//! be 18 % of the instructions of a call through the layer (bench `speed`, 27 November 2026).
//!
//! This is the one place where attempts are written, and they are written in one piece: its functions and those that call them are
//! always inlined, which is 1.6 % of a generated call.

mod attempt_headers;
mod example_request;
mod inspection;
mod previous_attempts;
mod request_template;
pub(crate) mod timeout;

pub(crate) use attempt_headers::AttemptHeaders;
pub use attempt_headers::AttemptTimeout;
pub use example_request::ExampleRequest;
pub use inspection::ExtraHeaders;
pub(crate) use inspection::Inspection;
pub use previous_attempts::PREVIOUS_ATTEMPTS;
pub(crate) use previous_attempts::previous_attempts;
pub use request_template::{LIKE_EXAMPLE, Template};
pub(crate) use request_template::{is_described, path_of};

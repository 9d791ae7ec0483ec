//! The template that the attempts of a call are written from, and the one place where they are written.

mod attempt_headers;
mod example_request;
mod inspection;
mod previous_attempts;
mod request_template;
pub(super) mod timeout;

pub(crate) use attempt_headers::{AttemptHeaders, AttemptTimeout};
pub(crate) use example_request::ExampleRequest;
pub(crate) use inspection::{ExtraHeaders, Inspection};
pub(crate) use previous_attempts::{PREVIOUS_ATTEMPTS, previous_attempts};
pub(crate) use request_template::{LIKE_EXAMPLE, Template, is_described, path_of};

//! Messages that every client over REST reads: `google.protobuf.Any`, `google.api.HttpBody`, and the details of errors.

mod any;
mod error_details;
mod http_body;

pub(super) use any::{make_readable, make_writable, restore_empty, restore_json};
pub(super) use error_details::add_error_details;
pub(super) use http_body::{is_http_body, read_http_body, write_http_body};

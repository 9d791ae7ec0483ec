//! Messages that every client over REST reads: `google.protobuf.Any`, and the details of errors.

mod any;
mod error_details;

pub(super) use any::{make_readable, make_writable, restore_empty, restore_json};
pub(super) use error_details::add_error_details;

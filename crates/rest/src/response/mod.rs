//! gRPC responses made of HTTP responses.

mod array;
mod failure;
mod http_body;
mod json;
mod stream;

pub(super) use failure::read_failure;
pub(super) use http_body::HttpBytes;
pub(super) use json::Reading;
pub use stream::RestBody;
pub(super) use stream::StreamBody;

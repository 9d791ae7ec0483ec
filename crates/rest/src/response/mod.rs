//! gRPC responses made of HTTP responses.

mod array;
mod body;
mod failure;
mod gzip;
mod http_body;
mod json;
mod stream;

pub use body::RestBody;
pub(super) use failure::read_failure;
pub(super) use http_body::HttpBytes;
pub(super) use json::Reading;
pub(super) use stream::StreamBody;

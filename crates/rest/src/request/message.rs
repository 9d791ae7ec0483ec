//! The message of a gRPC request.

use crate::problem::refused;
use bytes::{Buf as _, Bytes};
use gax_retry::Code;
use http_body_util::BodyExt as _;
use tonic::Status;
use tonic::body::Body;

/// Reads the one message of a request, without its prefix.
pub(crate) async fn read_message(body: Body) -> Result<Bytes, Status> {
    let mut frames = body.collect().await?.to_bytes();
    let prefix = frames.split_to(frames.len().min(5));
    let (compressed, length) = match *prefix {
        [compressed, a, b, c, d] => (compressed, u32::from_be_bytes([a, b, c, d])),
        _ => return Err(refused(Code::Internal, "the request has no message")),
    };
    if compressed != 0 {
        return Err(refused(
            Code::Unimplemented,
            "the request is compressed, which REST does not support: remove send_compressed",
        ));
    }
    if usize::try_from(length) != Ok(frames.remaining()) {
        return Err(refused(Code::Internal, "the request is not one message"));
    }
    Ok(frames)
}

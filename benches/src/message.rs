//! The messages that are sent: one string each, so that a message of any length is two copies at most.

use crate::asset::{ListAssetsRequest, ListAssetsResponse};
use bytes::{BufMut, Bytes, BytesMut};
use prost::Message;

/// The path of the RPC that everything is measured with.
pub const PATH: &str = "/google.cloud.asset.v1.AssetService/ListAssets";

/// The usual length of a message on the wire, in bytes.
pub const SMALL: usize = 128;

/// A large message: what fits into a mebibyte with the prefix before it.
pub const LARGE: usize = 1024 * 1024 - 5;

/// A request that is `length` bytes long on the wire.
#[must_use]
pub fn request(length: usize) -> ListAssetsRequest {
    sized(length, |text| ListAssetsRequest { parent: "x".repeat(text), ..ListAssetsRequest::default() })
}

/// A response that is `length` bytes long on the wire.
#[must_use]
pub fn response(length: usize) -> ListAssetsResponse {
    sized(length, |text| ListAssetsResponse {
        next_page_token: "x".repeat(text),
        ..ListAssetsResponse::default()
    })
}

/// A message with its prefix, as it goes over the wire.
#[must_use]
pub fn framed(message: &impl Message) -> Bytes {
    let mut buffer = BytesMut::new();
    buffer.put_u8(0);
    buffer.put_u32(u32::try_from(message.encoded_len()).unwrap_or(u32::MAX));
    buffer.put(message.encode_to_vec().as_slice());
    buffer.freeze()
}

/// The text is shorter than the message by its tag and its length, of which a longer text has more bytes.
fn sized<M: Message>(length: usize, make: impl Fn(usize) -> M) -> M {
    let fits = |text: &usize| make(*text).encoded_len() == length;
    let text = (2..=6).map(|overhead| length.saturating_sub(overhead)).find(fits);
    make(text.unwrap_or(length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_the_length_that_was_asked_for() {
        for length in [SMALL, LARGE] {
            assert_eq!(request(length).encoded_len(), length);
            assert_eq!(response(length).encoded_len(), length);
            assert_eq!(framed(&request(length)).len(), length + 5);
        }
    }
}

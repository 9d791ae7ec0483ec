//! The messages that are sent.

use crate::bench::Payload;
use bytes::{BufMut, Bytes, BytesMut};
use prost::Message;

/// The path of the RPC that everything is measured with.
pub const PATH: &str = "/bench.v1.Echo/Send";

/// The usual length of a message on the wire, in bytes.
pub const SMALL: usize = 128;

/// The length of what is in front of a message.
pub const PREFIX: usize = 5;

/// A large message: a mebibyte of data, with their tag and length.
pub const LARGE: usize = 1024 * 1024 + 4;

/// A message that is `length` bytes long on the wire.
#[must_use]
pub fn payload(length: usize) -> Payload {
    let made = |data: usize| Payload { data: vec![b'x'; data] };
    // The data are shorter than the message by their tag and their length, of which longer ones have more bytes.
    let fits = |data: &usize| made(*data).encoded_len() == length;
    let data = (2..=6).map(|overhead| length.saturating_sub(overhead)).find(fits);
    made(data.unwrap_or(length))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_the_length_that_was_asked_for() {
        for length in [SMALL, LARGE] {
            assert_eq!(payload(length).encoded_len(), length);
            assert_eq!(framed(&payload(length)).len(), length + PREFIX);
        }
    }
}

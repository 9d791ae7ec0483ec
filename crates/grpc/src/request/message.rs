//! Messages as bytes: encoded once, sent by each attempt, and decoded when the caller reads them.

use bytes::{Buf, Bytes};
use grpc::core::{RecvMessage, SendMessage};

/// The encoded message of a request.
pub(crate) struct Encoded(pub(crate) Bytes);

impl SendMessage for Encoded {
    fn encode(&self) -> Result<Box<dyn Buf + Send + Sync>, String> {
        Ok(Box::new(self.0.clone()))
    }
}

/// The encoded message of a response.
#[derive(Default)]
pub(crate) struct Undecoded(pub(crate) Bytes);

impl RecvMessage for Undecoded {
    fn decode(&mut self, data: &mut dyn Buf) -> Result<(), String> {
        self.0 = data.copy_to_bytes(data.remaining());
        Ok(())
    }
}

/// The bytes of a message that a caller sends.
///
/// # Errors
///
/// The error of the message's own encoder.
pub(crate) fn encoded(message: &dyn SendMessage) -> Result<Bytes, String> {
    let mut data = message.encode()?;
    Ok(data.copy_to_bytes(data.remaining()))
}

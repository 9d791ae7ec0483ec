//! A message on the wire.

/// A gRPC message as it is on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WireMessage {
    pub(super) sequence: u64,
    pub(super) size: u64,
    pub(super) is_compressed: bool,
}

impl WireMessage {
    /// Its place among the messages that its attempt has sent, or received; the first is 0.
    #[must_use]
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// How many bytes it has, without the five bytes that gRPC puts before it. Of a compressed one the bytes that go over
    /// the wire.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Whether it is compressed.
    #[must_use]
    pub fn is_compressed(&self) -> bool {
        self.is_compressed
    }
}

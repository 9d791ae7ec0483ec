//! HTTP/2 frames as bytes.

use std::io;
use tokio::io::{AsyncRead, AsyncReadExt as _};

pub(super) const DATA: u8 = 0;
pub(super) const HEADERS: u8 = 1;
pub(super) const RST_STREAM: u8 = 3;
pub(super) const SETTINGS: u8 = 4;
pub(super) const PING: u8 = 6;
pub(crate) const GOAWAY: u8 = 7;
pub(super) const WINDOW_UPDATE: u8 = 8;
pub(super) const CONTINUATION: u8 = 9;

pub(super) const ACK: u8 = 1;
pub(super) const END_STREAM: u8 = 1;
pub(super) const END_HEADERS: u8 = 4;

pub(super) const MAX_CONCURRENT_STREAMS: u16 = 3;
pub(super) const INITIAL_WINDOW_SIZE: u16 = 4;

/// The reason of a `GOAWAY` or reset: the client asks too much.
pub(super) const ENHANCE_YOUR_CALM: u32 = 11;
/// The stream is no longer needed.
pub(super) const CANCEL: u32 = 8;

/// The first bytes of a client's connection have this length.
pub(super) const PREFACE: usize = 24;

/// A frame.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) kind: u8,
    pub(super) flags: u8,
    pub(super) stream: u32,
    pub(super) payload: Vec<u8>,
}

impl Frame {
    pub(super) async fn read(io: &mut (impl AsyncRead + Unpin)) -> io::Result<Self> {
        let mut head = [0; 9];
        io.read_exact(&mut head).await?;
        let [a, b, c, kind, flags, stream @ ..] = head;
        let length = u32::from_be_bytes([0, a, b, c]);
        let mut payload = vec![0; usize::try_from(length).unwrap_or_default()];
        io.read_exact(&mut payload).await?;
        Ok(Self { kind, flags, stream: u32::from_be_bytes(stream) & (u32::MAX >> 1), payload })
    }

    pub(super) fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// The bytes as they are sent.
    pub(super) fn bytes(&self) -> Vec<u8> {
        frame(self.kind, self.flags, self.stream, &self.payload)
    }
}

/// The bytes of a frame.
pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let [_, a, b, c] = u32::try_from(payload.len()).unwrap_or_default().to_be_bytes();
    [&[a, b, c, kind, flags][..], &stream.to_be_bytes(), payload].concat()
}

/// A header, neither indexed nor compressed. Longer names and values than 126 bytes are cut.
pub(super) fn header(name: &str, value: &str) -> Vec<u8> {
    let text = |text: &str| {
        let short = text.as_bytes().get(..126).unwrap_or(text.as_bytes());
        [&[u8::try_from(short.len()).unwrap_or_default()], short].concat()
    };
    [vec![0], text(name), text(value)].concat()
}

/// A setting of a `SETTINGS` frame.
pub(super) fn setting(name: u16, value: u32) -> Vec<u8> {
    [&name.to_be_bytes()[..], &value.to_be_bytes()].concat()
}

/// The payload of a `GOAWAY`.
pub(crate) fn goaway(last_stream: u32, reason: u32, data: &[u8]) -> Vec<u8> {
    [&last_stream.to_be_bytes()[..], &reason.to_be_bytes(), data].concat()
}

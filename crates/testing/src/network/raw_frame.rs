//! Frames and steps of a raw HTTP/2 peer.

use super::frames::{
    CONTINUATION, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, RST_STREAM, frame, goaway, header,
};
use std::time::Duration;

/// Something that a [`RawServer`](super::RawServer) sends, or does, once a request is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RawFrame {
    /// Response headers: HTTP status 200.
    Headers,
    /// Response headers of another HTTP status, of three digits.
    HttpStatus(u16),
    /// Response headers that announce a body of so many bytes, from 0 to 9.
    Announce(u8),
    /// A good reply in full: headers, an empty message, `grpc-status: 0`.
    Good,
    /// A status alone, with this pushback if there is one.
    Status(u8, Option<&'static str>),
    /// A status with any number of pushbacks.
    Pushed {
        /// The status.
        code: u8,
        /// The values of `grpc-retry-pushback-ms`.
        pushbacks: &'static [&'static str],
        /// `true` if it arrives in headers, without anything before it; otherwise in trailers.
        alone: bool,
    },
    /// A status in trailers.
    Trailers(u8),
    /// A whole message of nothing.
    Message,
    /// So many of them in one frame.
    Messages(usize),
    /// A part of a message.
    Data,
    /// The stream is reset for that reason.
    Reset(u32),
    /// The connection ends for that reason. The last stream that was looked at is the request's own, or, if not
    /// `taken`, the previous one.
    GoAway {
        /// The reason.
        reason: u32,
        /// `true` if the request's stream was looked at.
        taken: bool,
    },
    /// The connection is dropped.
    Drop,
    /// Response headers that no HPACK decoder can read.
    Garbage,
    /// Response headers of more bytes than a client takes by default.
    LongHeaders,
    /// Response headers that continue in more frames than a client takes.
    ContinuationFlood,
    /// The server reads nothing more on the connection, not even pings.
    Hang,
    /// Nothing happens for a while.
    Wait(Duration),
    /// Nothing happens before so many bytes of the request's body have come, or its end.
    Read(usize),
    /// Nothing happens before the request's body has ended.
    ReadAll,
}

/// `:status: 200` from HPACK's static table, and `content-type: application/grpc` written out.
const RESPONSE: &[u8] = b"\x88\x00\x0ccontent-type\x10application/grpc";
/// A header that counts for 34 bytes.
const SHORT_HEADER: &[u8] = b"\x00\x01x\x01y";
/// There is no header of index 0.
const INVALID_INDEX: &[u8] = b"\x80";
/// `content-length`, written out, with a value of one byte.
const CONTENT_LENGTH: &[u8] = b"\x00\x0econtent-length\x01";
/// `grpc-status: 0`, written out.
const TRAILERS: &[u8] = b"\x00\x0bgrpc-status\x010";

impl RawFrame {
    /// The bytes of a frame that is sent for a stream; none for anything else.
    pub(super) fn written(self, stream: u32) -> Vec<u8> {
        const LAST: u8 = END_HEADERS | END_STREAM;
        let frame = |kind, flags, payload: &[u8]| frame(kind, flags, stream, payload);
        let status = |code: u8| header("grpc-status", &code.to_string());
        let pushback = |value: &&str| header("grpc-retry-pushback-ms", value);
        match self {
            RawFrame::Headers => frame(HEADERS, END_HEADERS, RESPONSE),
            RawFrame::HttpStatus(status) => {
                frame(HEADERS, END_HEADERS, &header(":status", &status.to_string()))
            }
            RawFrame::Announce(length) => {
                frame(HEADERS, END_HEADERS, &[RESPONSE, CONTENT_LENGTH, &[b'0' + length]].concat())
            }
            RawFrame::Good => {
                let (head, message) = (frame(HEADERS, END_HEADERS, RESPONSE), frame(DATA, 0, &[0; 5]));
                [head, message, frame(HEADERS, LAST, TRAILERS)].concat()
            }
            RawFrame::Status(code, value) => {
                let pushback = value.as_ref().map(pushback).unwrap_or_default();
                frame(HEADERS, LAST, &[RESPONSE, &status(code), &pushback].concat())
            }
            RawFrame::Pushed { code, pushbacks, alone } => {
                let mut headers = if alone { RESPONSE.to_vec() } else { Vec::new() };
                headers.extend(status(code));
                headers.extend(pushbacks.iter().flat_map(pushback));
                frame(HEADERS, LAST, &headers)
            }
            RawFrame::Trailers(code) => frame(HEADERS, LAST, &status(code)),
            RawFrame::Message => frame(DATA, 0, &[0; 5]),
            RawFrame::Messages(count) => frame(DATA, 0, &[0; 5].repeat(count)),
            RawFrame::Data => frame(DATA, 0, &[0, 0, 0, 0, 9, 1]),
            RawFrame::Reset(reason) => frame(RST_STREAM, 0, &reason.to_be_bytes()),
            RawFrame::GoAway { reason, taken } => {
                let last = if taken { stream } else { stream.saturating_sub(2) };
                super::frames::frame(GOAWAY, 0, 0, &goaway(last, reason, &[]))
            }
            RawFrame::Garbage => frame(HEADERS, END_HEADERS, INVALID_INDEX),
            RawFrame::LongHeaders => {
                frame(HEADERS, END_HEADERS, &[RESPONSE, &SHORT_HEADER.repeat(1000)].concat())
            }
            RawFrame::ContinuationFlood => {
                [frame(HEADERS, 0, RESPONSE), frame(CONTINUATION, 0, &[]).repeat(1000)].concat()
            }
            RawFrame::Drop | RawFrame::Hang | RawFrame::Wait(_) | RawFrame::Read(_) | RawFrame::ReadAll => {
                Vec::new()
            }
        }
    }
}

//! Faults of a connection, as plain values.

use bytes::Bytes;
use std::time::Duration;

/// One direction of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a connection has two directions")]
pub enum Direction {
    /// From the client to the server.
    Request,
    /// From the server to the client.
    Response,
}

/// When a fault of a connection begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum When {
    /// With the connection, before its first byte.
    Start,
    /// After exactly that many bytes in that direction.
    Bytes(Direction, u64),
    /// After that many HTTP/2 requests were forwarded, as soon as the head of the last one has been.
    Requests(u32),
    /// That long after the connection was made.
    Time(Duration),
}

/// A fault of one connection, played by a [`FaultProxy`](super::FaultProxy). A connection can have several.
///
/// The proxy reads the frames of connections with a fault of HTTP/2 ([`GoAway`](Self::GoAway) and those below it,
/// [`When::Requests`]), so these have to speak HTTP/2 without TLS.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConnectionFault {
    /// The connection is refused: nothing listens. It lasts until the proxy gets other faults, since a refused connection can't be
    /// counted.
    Refuse,
    /// Both sides are closed in good order. At [`When::Start`], the connection is accepted and closed.
    Close(When),
    /// Both sides are reset: RST over sockets, a plain close over pipes.
    Reset(When),
    /// Everything is acknowledged and nothing is forwarded, in both directions, not even the end. At [`When::Start`], the client
    /// never gets a byte, `SETTINGS` included.
    HalfOpen(When),
    /// Nothing more is read in one direction, so that the sender's buffers fill up.
    Stall {
        /// The direction that stalls.
        direction: Direction,
        /// When it begins.
        when: When,
        /// How long it lasts. `None`: forever.
        time: Option<Duration>,
    },
    /// Everything in one direction is forwarded that much later.
    Delay(Direction, Duration),
    /// One direction forwards that many bytes at a time, with a pause behind each piece.
    Drip {
        /// The slow direction.
        direction: Direction,
        /// The bytes of a piece; 0 is treated as 1.
        bytes: usize,
        /// The pause.
        every: Duration,
    },
    /// The proxy replies to the first bytes of the client with these and closes: a TLS alert, plain text at a TLS port, HTTP/1.1 to
    /// an HTTP/2 client. The server gets nothing.
    Reply(Bytes),
    /// HTTP/2: the server says goodbye. With `NO_ERROR` (0) requests under way end as usual, then the connection is closed. With
    /// any other reason, such as `ENHANCE_YOUR_CALM` (11), it is closed immediately.
    GoAway {
        /// When.
        when: When,
        /// The reason.
        reason: u32,
        /// The debug data, such as `too_many_pings`.
        data: Bytes,
    },
    /// HTTP/2: `MAX_CONCURRENT_STREAMS`. At [`When::Start`] it is in the first `SETTINGS`, later it has a frame for itself.
    StreamLimit(When, u32),
    /// HTTP/2: the window of each stream for what the client sends has that many bytes. It is opened again as bytes arrive.
    Window(u32),
    /// HTTP/2: response data arrives in frames of that many bytes; 0 is treated as 1.
    TinyFrames(usize),
    /// HTTP/2: each stream is ended after a time, as by a proxy's limit: with gRPC status OK, or reset for that reason.
    EndStreams {
        /// The longest duration of a stream.
        after: Duration,
        /// The reason of the reset. `None`: trailers with `grpc-status: 0`.
        reset: Option<u32>,
    },
}

impl ConnectionFault {
    /// When it begins, for those that happen once.
    pub(super) fn when(&self) -> Option<When> {
        match self {
            Self::Close(when)
            | Self::Reset(when)
            | Self::HalfOpen(when)
            | Self::Stall { when, .. }
            | Self::GoAway { when, .. }
            | Self::StreamLimit(when, _) => Some(*when),
            _ => None,
        }
    }

    /// Returns whether the proxy has to read frames.
    pub(super) fn is_http2(&self) -> bool {
        matches!(self.when(), Some(When::Requests(_)))
            || matches!(
                self,
                Self::GoAway { .. }
                    | Self::StreamLimit(..)
                    | Self::Window(_)
                    | Self::TinyFrames(_)
                    | Self::EndStreams { .. }
            )
    }
}

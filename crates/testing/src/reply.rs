//! The replies of a scripted server.

use bytes::{BufMut as _, Bytes, BytesMut};
use gax_retry::Code;
use gax_text::{Escaped, Human};
use h2::Reason;
use http::{HeaderMap, HeaderName, HeaderValue};
use http_body_util::{BodyExt as _, Full};
use prost::Message;
use std::fmt;
use std::future::ready;
use std::sync::Arc;
use std::time::Duration;
use tonic::Status;
use tonic::body::Body;

/// The trailer by which a server says when an attempt may follow.
pub(super) const PUSHBACK: &str = "grpc-retry-pushback-ms";

/// A reply to one request.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Reply {
    /// Read the request, and let the real handler reply.
    Serve,
    /// Let the real handler read and reply, for streams.
    Pass,
    /// A status alone, in the headers.
    Status(Box<Status>),
    /// Headers, and then these things one after another.
    Play(HeaderMap, Vec<BodyPart>),
    /// A reply that is not gRPC: an HTTP status, and headers.
    Http(u16, HeaderMap),
    /// Nothing.
    Hang,
    /// The stream or the connection ends instead of a response.
    Break(Break),
}

/// The end of a stream or connection instead of a response, or in the middle of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Break {
    /// The stream is reset for that reason, a number of HTTP/2 such as 7 for `REFUSED_STREAM`.
    Reset(u32),
    /// The connection is to end, for that reason. The last stream that was looked at is the request's own, or, if not
    /// `taken`, the previous one.
    GoAway {
        /// The reason, a number of HTTP/2 such as 0 for `NO_ERROR`.
        reason: u32,
        /// `true` if the request's stream was looked at.
        taken: bool,
    },
    /// The connection breaks.
    Close,
    /// All connections break, and others are refused for that time.
    Refuse(Duration),
}

impl fmt::Display for Break {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Reset(reason) => write!(f, "RST_STREAM {:?}", Reason::from(reason)),
            Self::GoAway { reason, taken } => {
                let last = if taken { "this" } else { "the previous" };
                write!(f, "GOAWAY {:?} with {last} stream as the last", Reason::from(reason))
            }
            Self::Close => f.write_str("the connection breaks"),
            Self::Refuse(time) => write!(f, "connections are refused for {}", Human(time)),
        }
    }
}

impl std::error::Error for Break {}

impl From<Break> for Status {
    fn from(how: Break) -> Self {
        let mut status = Status::internal(how.to_string());
        status.set_source(Arc::new(how));
        status
    }
}

/// A part of a response's body.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum BodyPart {
    /// Nothing for a while.
    Wait(Duration),
    /// Bytes.
    Data(Bytes),
    /// Trailers, and the end.
    Trailers(HeaderMap),
    /// Nothing any longer.
    Hang,
    /// The stream or the connection ends. What follows a `GOAWAY` is still sent.
    Break(Break),
}

impl BodyPart {
    /// A whole message.
    pub fn message(message: &impl Message) -> Self {
        let mut buffer = BytesMut::new();
        let encoded = message.encode_to_vec();
        buffer.put_u8(0);
        buffer.put_u32(u32::try_from(encoded.len()).unwrap_or(u32::MAX));
        buffer.put_slice(&encoded);
        BodyPart::Data(buffer.freeze())
    }

    /// Trailers of these pairs. What is no header is left out.
    #[must_use]
    pub fn trailers(pairs: &[(&'static str, &str)]) -> Self {
        BodyPart::Trailers(headers(pairs))
    }

    /// The trailers of that status.
    #[must_use]
    pub fn status(status: &Status) -> Self {
        let mut headers = HeaderMap::new();
        // A message that is no header is left out.
        status.add_header(&mut headers).ok();
        BodyPart::Trailers(headers)
    }
}

fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
    let pair = |(name, value): &(&'static str, &str)| {
        Some((HeaderName::from_bytes(name.as_bytes()).ok()?, HeaderValue::from_bytes(value.as_bytes()).ok()?))
    };
    pairs.iter().filter_map(pair).collect()
}

impl Reply {
    /// A status without a message, alone.
    #[must_use]
    pub fn code(code: tonic::Code) -> Self {
        Self::status(Status::new(code, ""))
    }

    /// A status, alone.
    #[must_use]
    pub fn status(status: Status) -> Self {
        Reply::Status(Box::new(status))
    }

    /// `UNAVAILABLE`, alone.
    #[must_use]
    pub fn unavailable() -> Self {
        Self::code(tonic::Code::Unavailable)
    }

    /// `UNAVAILABLE`, alone, with a pushback of so many milliseconds; a negative number means never.
    #[must_use]
    pub fn pushback(milliseconds: i32) -> Self {
        let mut status = Status::new(tonic::Code::Unavailable, "");
        status.metadata_mut().insert(PUSHBACK, milliseconds.into());
        Self::status(status)
    }

    /// Headers, and nothing after them.
    #[must_use]
    pub fn stall() -> Self {
        Self::play([BodyPart::Hang])
    }

    /// Headers and what follows.
    #[must_use]
    pub fn play(beats: impl Into<Vec<BodyPart>>) -> Self {
        Reply::Play(HeaderMap::new(), beats.into())
    }

    /// Headers of its own and what follows. Pairs that are no header are left out.
    #[must_use]
    pub fn play_with(pairs: &[(&'static str, &str)], beats: impl Into<Vec<BodyPart>>) -> Self {
        Reply::Play(headers(pairs), beats.into())
    }

    /// A stream of these messages, and a good end.
    ///
    /// # Examples
    ///
    /// A stream that breaks off after two messages, and continues when it is asked for again:
    ///
    /// ```
    /// use tonic::Status;
    /// use gax_testing::{Reply, Script};
    ///
    /// let script = Script::new().on("Watch", [
    ///     Reply::messages_then_status(&[1_u64, 2], &Status::unavailable("down")),
    ///     Reply::messages_then_stall(&[3_u64]),
    ///     Reply::messages_then_broken(&[4_u64]),
    ///     Reply::messages(&[6_u64, 7]),
    /// ]);
    /// # drop(script);
    /// ```
    pub fn messages(messages: &[impl Message]) -> Self {
        Self::messages_then(messages, [BodyPart::trailers(&[("grpc-status", "0")])])
    }

    /// A stream of these messages, and that status.
    pub fn messages_then_status(messages: &[impl Message], status: &Status) -> Self {
        Self::messages_then(messages, [BodyPart::status(status)])
    }

    /// A stream of these messages, and nothing after them.
    pub fn messages_then_stall(messages: &[impl Message]) -> Self {
        Self::messages_then(messages, [BodyPart::Hang])
    }

    /// A stream of these messages, and then a frame that is none of gRPC: no client can read it.
    pub fn messages_then_broken(messages: &[impl Message]) -> Self {
        // Messages are compressed or not: there is no third kind.
        Self::messages_then(messages, [BodyPart::Data(Bytes::from_static(&[7, 0, 0, 0, 0])), BodyPart::Hang])
    }

    /// A stream of these messages, and then those things: other waits, data, your own trailers.
    pub fn messages_then(messages: &[impl Message], then: impl IntoIterator<Item = BodyPart>) -> Self {
        Self::play(messages.iter().map(BodyPart::message).chain(then).collect::<Vec<_>>())
    }

    /// A reply that is not gRPC. What is no header is left out.
    #[must_use]
    pub fn http(status: u16, pairs: &[(&'static str, &str)]) -> Self {
        Reply::Http(status, headers(pairs))
    }

    /// Returns whether it says that the server has not looked at the request: a client may then send that again unasked.
    #[must_use]
    pub fn is_unprocessed(&self) -> bool {
        let refused = u32::from(Reason::REFUSED_STREAM);
        match self {
            Reply::Break(Break::GoAway { taken, .. }) => !taken,
            Reply::Break(Break::Reset(reason)) => *reason == refused,
            _ => false,
        }
    }

    /// Returns whether the call has what it wants.
    #[must_use]
    pub fn is_good(&self) -> bool {
        match self {
            Reply::Serve | Reply::Pass => true,
            Reply::Play(_, beats) => {
                matches!(beats.last(), Some(BodyPart::Trailers(trailers)) if is_ok(trailers))
            }
            _ => false,
        }
    }

    /// The message and a good end.
    pub fn message(message: &impl Message) -> Self {
        Self::play([BodyPart::message(message), BodyPart::trailers(&[("grpc-status", "0")])])
    }
}

fn is_ok(trailers: &HeaderMap) -> bool {
    trailers.get("grpc-status").is_some_and(|status| status == "0")
}

impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = |number: i32| Code::from_wire(number);
        match self {
            Reply::Serve | Reply::Pass => f.write_str("OK"),
            Reply::Status(status) => {
                write!(f, "{}", code(status.code().into()))?;
                match status.metadata().get(PUSHBACK).map(|pushback| pushback.to_str().unwrap_or("?")) {
                    Some(pushback) => write!(f, ", pushback {}", Escaped(pushback)),
                    None => Ok(()),
                }
            }
            Reply::Http(status, _) => write!(f, "HTTP {status}"),
            Reply::Hang => f.write_str("no reply"),
            Reply::Play(_, beats) => {
                f.write_str("headers")?;
                match beats.iter().filter(|beat| matches!(beat, BodyPart::Data(_))).count() {
                    0 => {}
                    1 => f.write_str(", 1 message")?,
                    messages => write!(f, ", {messages} messages")?,
                }
                match beats.last() {
                    Some(BodyPart::Trailers(trailers)) => {
                        let status =
                            trailers.get("grpc-status").and_then(|status| status.to_str().ok()?.parse().ok());
                        write!(f, ", {}", status.map_or(Code::Unknown, code))
                    }
                    Some(BodyPart::Break(how)) => write!(f, ", {how}"),
                    Some(_) => f.write_str(", then nothing"),
                    None => Ok(()),
                }
            }
            Reply::Break(how) => how.fmt(f),
        }
    }
}

/// The body of a good response.
pub(super) fn message_and_status(message: Bytes) -> Body {
    let trailers = headers(&[("grpc-status", "0")]);
    Body::new(Full::new(message).with_trailers(ready(Some(Ok(trailers)))))
}

//! What a scripted server replies.

use bytes::{BufMut, Bytes, BytesMut};
use http::{HeaderMap, HeaderName, HeaderValue};
use prost::Message;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tonic::Status;

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
    Play(HeaderMap, Vec<Beat>),
    /// A reply that is no gRPC: an HTTP status, and headers.
    Http(u16, HeaderMap),
    /// Nothing.
    Hang,
}

/// A part of a response's body.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Beat {
    /// Nothing for a while.
    Wait(Duration),
    /// Bytes.
    Data(Bytes),
    /// Trailers, and the end.
    Trailers(HeaderMap),
    /// Nothing any more.
    Hang,
}

impl Beat {
    /// A whole message.
    pub fn message(message: &impl Message) -> Self {
        let mut buffer = BytesMut::new();
        buffer.put_u8(0);
        buffer.put_u32(u32::try_from(message.encoded_len()).unwrap());
        message.encode(&mut buffer).unwrap();
        Beat::Data(buffer.freeze())
    }

    /// Trailers of these pairs.
    #[must_use]
    pub fn trailers(pairs: &[(&'static str, &str)]) -> Self {
        Beat::Trailers(headers(pairs))
    }

    /// The trailers of that status.
    #[must_use]
    pub fn status(status: &Status) -> Self {
        let mut headers = HeaderMap::new();
        status.add_header(&mut headers).unwrap();
        Beat::Trailers(headers)
    }
}

fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
    let pair = |(name, value): &(&'static str, &str)| {
        (HeaderName::from_static(name), HeaderValue::from_bytes(value.as_bytes()).unwrap())
    };
    pairs.iter().map(pair).collect()
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

    /// Headers and what follows.
    #[must_use]
    pub fn play(beats: impl Into<Vec<Beat>>) -> Self {
        Reply::Play(HeaderMap::new(), beats.into())
    }

    /// The same with headers of its own.
    #[must_use]
    pub fn play_with(pairs: &[(&'static str, &str)], beats: impl Into<Vec<Beat>>) -> Self {
        Reply::Play(headers(pairs), beats.into())
    }

    /// A reply that is no gRPC.
    #[must_use]
    pub fn http(status: u16, pairs: &[(&'static str, &str)]) -> Self {
        Reply::Http(status, headers(pairs))
    }

    /// The message and a good end.
    pub fn message(message: &impl Message) -> Self {
        Self::play([Beat::message(message), Beat::trailers(&[("grpc-status", "0")])])
    }
}

/// Replies in the order of the requests; the last one again for all that follow.
#[derive(Debug, Clone)]
pub struct Script {
    steps: Arc<Mutex<VecDeque<(Duration, Reply)>>>,
    last: (Duration, Reply),
}

impl Script {
    /// The same reply to everything.
    #[must_use]
    pub fn always(reply: Reply) -> Self {
        Self { steps: Arc::default(), last: (Duration::ZERO, reply) }
    }

    /// These replies, each after its delay; from then on the real handler replies.
    #[must_use]
    pub fn of(steps: impl IntoIterator<Item = (Duration, Reply)>) -> Self {
        let steps = steps.into_iter().collect();
        Self { steps: Arc::new(Mutex::new(steps)), last: (Duration::ZERO, Reply::Serve) }
    }

    /// These replies at once; from then on the real handler replies.
    #[must_use]
    pub fn at_once(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self::of(replies.into_iter().map(|reply| (Duration::ZERO, reply)))
    }

    /// The same, but that reply from then on.
    #[must_use]
    pub fn then_always(self, after: Duration, reply: Reply) -> Self {
        Self { last: (after, reply), ..self }
    }

    pub(crate) fn next(&self) -> (Duration, Reply) {
        let step = self.steps.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        step.unwrap_or_else(|| self.last.clone())
    }
}

//! What a scripted server answers.

use bytes::{BufMut, Bytes, BytesMut};
use http::{HeaderMap, HeaderName, HeaderValue};
use prost::Message;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tonic::Status;

/// An answer to one request.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Answer {
    /// Read the request, and let the real handler answer.
    Serve,
    /// Let the real handler read and answer, for streams.
    Pass,
    /// A status alone, in the headers.
    Status(Box<Status>),
    /// Headers, and then these things one after another.
    Play(HeaderMap, Vec<Beat>),
    /// An answer that is no gRPC: an HTTP status, and headers.
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

impl Answer {
    /// A status without a message, alone.
    #[must_use]
    pub fn code(code: tonic::Code) -> Self {
        Self::status(Status::new(code, ""))
    }

    /// A status, alone.
    #[must_use]
    pub fn status(status: Status) -> Self {
        Answer::Status(Box::new(status))
    }

    /// `UNAVAILABLE`, alone.
    #[must_use]
    pub fn unavailable() -> Self {
        Self::code(tonic::Code::Unavailable)
    }

    /// Headers and what follows.
    #[must_use]
    pub fn play(beats: impl Into<Vec<Beat>>) -> Self {
        Answer::Play(HeaderMap::new(), beats.into())
    }

    /// The same with headers of its own.
    #[must_use]
    pub fn play_with(pairs: &[(&'static str, &str)], beats: impl Into<Vec<Beat>>) -> Self {
        Answer::Play(headers(pairs), beats.into())
    }

    /// An answer that is no gRPC.
    #[must_use]
    pub fn http(status: u16, pairs: &[(&'static str, &str)]) -> Self {
        Answer::Http(status, headers(pairs))
    }

    /// The message and a good end.
    pub fn message(message: &impl Message) -> Self {
        Self::play([Beat::message(message), Beat::trailers(&[("grpc-status", "0")])])
    }
}

/// Answers in the order of the requests; the last one again for all that follow.
#[derive(Debug, Clone)]
pub struct Script {
    steps: Arc<Mutex<VecDeque<(Duration, Answer)>>>,
    last: (Duration, Answer),
}

impl Script {
    /// The same answer to everything.
    #[must_use]
    pub fn always(answer: Answer) -> Self {
        Self { steps: Arc::default(), last: (Duration::ZERO, answer) }
    }

    /// These answers, each after its delay; from then on the real handler answers.
    #[must_use]
    pub fn of(steps: impl IntoIterator<Item = (Duration, Answer)>) -> Self {
        let steps = steps.into_iter().collect();
        Self { steps: Arc::new(Mutex::new(steps)), last: (Duration::ZERO, Answer::Serve) }
    }

    /// These answers at once; from then on the real handler answers.
    #[must_use]
    pub fn at_once(answers: impl IntoIterator<Item = Answer>) -> Self {
        Self::of(answers.into_iter().map(|answer| (Duration::ZERO, answer)))
    }

    /// The same, but that answer from then on.
    #[must_use]
    pub fn then_always(self, after: Duration, answer: Answer) -> Self {
        Self { last: (after, answer), ..self }
    }

    pub(crate) fn next(&self) -> (Duration, Answer) {
        let step = self.steps.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        step.unwrap_or_else(|| self.last.clone())
    }
}

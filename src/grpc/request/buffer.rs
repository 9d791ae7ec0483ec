//! A request's body, read before the first attempt.

use bytes::Bytes;
use gax_driver::Note;
use gax_driver::ReplayOptions;
use gax_wire::__private::{FrameBuffer, is_one_message};
use http_body::{Body as HttpBody, Frame};
use std::borrow::Cow;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use tonic::Status;
use tonic::body::Body;

/// A body, and what has been read of it.
#[derive(Debug)]
pub(super) struct RequestBuffer {
    body: Body,
    read: FrameBuffer,
    wanted: Wanted,
    has_ended: bool,
}

/// The part of a body that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// The whole of it: the RPC is known to take one message, which is waited for.
    Message,
    /// As much as is there: the kind of the RPC is unknown.
    Available,
    /// The first message of a stream, which is waited for.
    FirstMessage,
}

/// The nature of a body, as reading has shown it.
pub(super) enum Read {
    /// The whole of it: one message.
    Whole,
    /// There is more, or there may be: it is sent on as it comes.
    Stream(Note),
}

/// A body that is not just one message, read as far as it goes, and what that shows of it.
pub(super) type PartialRead = (RequestBuffer, Poll<Result<Read, Status>>);

/// The result of polling a body.
type Polled = Poll<Option<Result<Frame<Bytes>, Status>>>;

impl RequestBuffer {
    /// The message of a body that is nothing else and all there, as that of tonic's own client. Any other body is taken, and
    /// read as far as it goes.
    #[inline]
    pub(super) fn message_of(
        body: &mut Body,
        is_awaited: bool,
        replay: &ReplayOptions,
    ) -> Result<Bytes, PartialRead> {
        let mut cx = Context::from_waker(Waker::noop());
        let mut first = Pin::new(&mut *body).poll_frame(&mut cx);
        if let Poll::Ready(Some(Ok(frame))) = &mut first
            && let Some(data) = frame.data_mut()
            && (is_awaited || is_one_message(data))
        {
            let second = Pin::new(&mut *body).poll_frame(&mut cx);
            if matches!(second, Poll::Ready(None)) {
                return Ok(std::mem::take(data));
            }
            return Err(Self::of(std::mem::take(body), is_awaited).after([first, second], replay));
        }
        Err(Self::of(std::mem::take(body), is_awaited).after([first], replay))
    }

    /// Reads on after that.
    #[cold]
    fn after<const N: usize>(mut self, polled: [Polled; N], replay: &ReplayOptions) -> PartialRead {
        let max_replay_bytes = replay.max_replay_bytes;
        for frame in polled {
            if let Some(read) = self.take_in(frame, max_replay_bytes) {
                return (self, read);
            }
        }
        let read = self.poll(max_replay_bytes, &mut Context::from_waker(Waker::noop()));
        (self, read)
    }

    /// The body of an RPC that is known to take one message, or of one whose kind is unknown.
    #[inline]
    pub(super) fn of(body: Body, is_awaited: bool) -> Self {
        Self::reading(body, if is_awaited { Wanted::Message } else { Wanted::Available })
    }

    /// The body of an RPC that takes a stream, to be read up to the end of its first message.
    pub(super) fn of_first_message(body: Body) -> Self {
        Self::reading(body, Wanted::FirstMessage)
    }

    #[inline]
    fn reading(body: Body, wanted: Wanted) -> Self {
        Self { body, read: FrameBuffer::default(), wanted, has_ended: false }
    }

    /// Reads on. The one message that an RPC takes is waited for. If the kind is unknown, a body is a stream unless it is
    /// exactly one message, and all there at once.
    pub(super) fn poll(
        &mut self,
        max_replay_bytes: usize,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Read, Status>> {
        loop {
            let frame = Pin::new(&mut self.body).poll_frame(cx);
            if let Some(read) = self.take_in(frame, max_replay_bytes) {
                return read;
            }
        }
    }

    /// Takes what has come of the body; `None`: there is more to read.
    fn take_in(&mut self, frame: Polled, max_replay_bytes: usize) -> Option<Poll<Result<Read, Status>>> {
        const STREAM: Poll<Result<Read, Status>> = Poll::Ready(Ok(Read::Stream(Note::REQUEST_IS_A_STREAM)));
        let frame = match frame {
            Poll::Ready(Some(Ok(frame))) => frame,
            Poll::Ready(Some(Err(status))) => return Some(Poll::Ready(Err(status))),
            Poll::Ready(None) if self.wanted == Wanted::FirstMessage => {
                self.has_ended = true;
                return Some(STREAM);
            }
            Poll::Ready(None) if self.wanted == Wanted::Message || self.read.is_one_message() => {
                return Some(Poll::Ready(Ok(Read::Whole)));
            }
            Poll::Ready(None) => {
                self.has_ended = true;
                return Some(STREAM);
            }
            Poll::Pending if self.wanted != Wanted::Available => return Some(Poll::Pending),
            Poll::Pending => return Some(STREAM),
        };
        let data = frame.into_data().ok()?;
        let is_first = self.read.is_empty();
        self.read.push(data);
        let is_over = match self.wanted {
            Wanted::Message => false,
            Wanted::Available => self.read.has_more_than_a_message(),
            Wanted::FirstMessage => self.read.is_one_message() || self.read.has_more_than_a_message(),
        };
        if is_over {
            return Some(STREAM);
        }
        if !is_first && self.read.len() > max_replay_bytes {
            return Some(Poll::Ready(Ok(Read::Stream(Note::REQUEST_TOO_LARGE_TO_REPLAY))));
        }
        None
    }

    /// All that was read, in one piece.
    pub(super) fn bytes(&self) -> Cow<'_, [u8]> {
        match self.read.first() {
            Some(first) if first.len() == self.read.len() => Cow::Borrowed(first),
            _ => self.read.pieces().collect::<Vec<_>>().concat().into(),
        }
    }

    /// All that was read, as one message.
    pub(super) fn into_message(self) -> Bytes {
        self.read.into_bytes()
    }

    /// The body as if nothing had been read of it.
    pub(super) fn into_body(self) -> Body {
        Body::new(self)
    }
}

impl HttpBody for RequestBuffer {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        match self.read.pop() {
            Some(data) => Poll::Ready(Some(Ok(Frame::data(data)))),
            None if self.has_ended => Poll::Ready(None),
            None => Pin::new(&mut self.body).poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.read.is_empty() && (self.has_ended || self.body.is_end_stream())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    /// The results of polling a body, in this order, and its end.
    struct Script(VecDeque<Polled>);

    impl HttpBody for Script {
        type Data = Bytes;
        type Error = Status;

        fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Polled {
            self.0.pop_front().unwrap_or(Poll::Ready(None))
        }
    }

    fn data(bytes: &'static [u8]) -> Polled {
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(bytes)))))
    }

    const ONE: &[u8] = b"\0\0\0\0\x02ab";
    const HEAD: &[u8] = b"\0\0\0\0\x02";

    /// The nature of a body, of an RPC that is known to take one message or of one that no client knows, and its bytes: those that
    /// were read of it, and the rest.
    fn shown(script: impl IntoIterator<Item = Polled>, is_awaited: bool, max: usize) -> (String, Vec<u8>) {
        let mut body = Body::new(Script(script.into_iter().collect()));
        let replay = ReplayOptions::new().max_replay_bytes(max);
        let (buffer, read) = match RequestBuffer::message_of(&mut body, is_awaited, &replay) {
            Ok(message) => return ("message".to_owned(), message.to_vec()),
            Err(partial) => partial,
        };
        let shown = match read {
            Poll::Ready(Ok(Read::Whole)) => return ("whole".to_owned(), buffer.into_message().to_vec()),
            Poll::Ready(Ok(Read::Stream(note))) => format!("{note:?}"),
            Poll::Ready(Err(status)) => return (status.message().to_owned(), Vec::new()),
            Poll::Pending => "pending".to_owned(),
        };
        let (mut body, mut bytes) = (buffer.into_body(), Vec::new());
        let mut cx = Context::from_waker(Waker::noop());
        while let Poll::Ready(Some(Ok(frame))) = Pin::new(&mut body).poll_frame(&mut cx) {
            bytes.extend_from_slice(frame.data_ref().unwrap());
        }
        (shown, bytes)
    }

    #[test]
    fn a_body_is_one_message_or_a_stream_of_which_nothing_is_lost() {
        const NO_LIMIT: usize = usize::MAX;
        let many: &[u8] = b"\0\0\0\0\x02ab\0\0\0\0\x02ab";
        let is_a_stream = "driver.request_is_a_stream";
        for (script, known, unknown, bytes) in [
            (vec![data(ONE)], "message", "message", ONE),
            (vec![data(HEAD), data(b"ab")], "whole", "whole", ONE),
            (vec![data(ONE), data(ONE)], "whole", is_a_stream, many),
            (vec![data(many)], "message", is_a_stream, many),
            (vec![data(ONE), Poll::Pending], "pending", is_a_stream, ONE),
            (vec![data(HEAD), Poll::Pending, data(b"ab")], "pending", is_a_stream, ONE),
            (vec![Poll::Pending, data(ONE)], "pending", is_a_stream, ONE),
            (vec![], "whole", is_a_stream, b""),
            (vec![data(b""), data(ONE)], "whole", "whole", ONE),
        ] {
            let again = || script.iter().map(copy);
            assert_eq!(shown(again(), true, NO_LIMIT), (known.to_owned(), bytes.to_vec()), "{script:?}");
            assert_eq!(shown(again(), false, NO_LIMIT), (unknown.to_owned(), bytes.to_vec()), "{script:?}");
        }
    }

    /// A frame alone is a message of any length: whether that may be replayed is asked later.
    #[test]
    fn pieces_of_a_message_are_held_up_to_the_limit() {
        let pieces = || [data(HEAD), data(b"a"), data(b"b")];
        assert_eq!(shown(pieces(), true, 7).0, "whole");
        assert_eq!(shown(pieces(), true, 6), ("driver.request_too_large_to_replay".to_owned(), ONE.to_vec()));
        assert_eq!(shown([data(ONE)], true, 6).0, "message");
    }

    #[test]
    fn an_error_is_returned_wherever_it_comes() {
        let broken = || Poll::Ready(Some(Err(Status::internal("broken"))));
        for script in [vec![broken()], vec![data(ONE), broken()], vec![data(HEAD), broken()]] {
            for is_awaited in [true, false] {
                assert_eq!(shown(script.iter().map(copy), is_awaited, usize::MAX).0, "broken", "{script:?}");
            }
        }
    }

    fn copy(polled: &Polled) -> Polled {
        match polled {
            Poll::Ready(Some(Ok(frame))) => {
                Poll::Ready(Some(Ok(Frame::data(frame.data_ref().unwrap().clone()))))
            }
            Poll::Ready(Some(Err(status))) => Poll::Ready(Some(Err(status.clone()))),
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    }
}

//! An attempt in flight: its two streams, each with the future of its current send or receive.

use crate::request::{Encoded, RequestBuffer, Undecoded};
use bytes::Bytes;
use gax_driver::Note;
use gax_driver::protocol::{CommitPoint, Seen};
use grpc::client::{CallOptions, Invoke, RecvStream as _, ResponseStreamItem, SendStream as _};
use grpc::core::{RequestHeaders, ResponseHeaders, Trailers};
use std::pin::Pin;
use std::task::{Context, Poll};

type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// An attempt in flight. Dropping it drops both streams.
pub(crate) struct Attempt<I: Invoke> {
    number: u32,
    stage: Stage<I>,
    /// How many messages it has sent.
    sent: u64,
    /// The headers of its response, until they are handed to the caller.
    pub(crate) headers: Option<ResponseHeaders>,
    /// The first message, until it is known whether the response ends with it.
    pub(crate) message: Option<Bytes>,
    has_headers: bool,
    /// The commit point that it has come to and not reported.
    pub(crate) unreported: Option<CommitPoint>,
    /// How many of its messages the caller has; one that is held is not among them.
    pub(crate) delivered: u64,
}

enum Stage<I: Invoke> {
    /// The transport has not accepted it yet.
    Opening(BoxFuture<(I::SendStream, I::RecvStream)>),
    /// The response comes first: to drop it cancels the call, to drop the request only ends the request.
    Open { receiving: Receiving<I::RecvStream>, sending: Sending<I::SendStream> },
}

enum Sending<S> {
    Idle(Box<S>),
    Busy(BoxFuture<(Box<S>, Result<(), ()>)>),
    /// The whole request is sent, or the stream accepts no more.
    Over,
}

enum Receiving<R> {
    Idle(Box<R>),
    Busy(BoxFuture<(Box<R>, Undecoded, ResponseStreamItem)>),
    Over,
}

/// A part of a response, as an attempt receives it.
pub(crate) enum Received {
    Headers(ResponseHeaders),
    Message(Bytes),
    Trailers(Trailers),
    /// The stream has ended without trailers.
    Nothing,
}

impl<I: Invoke + Clone + 'static> Attempt<I> {
    pub(crate) fn new(number: u32, invoke: &I, headers: RequestHeaders, options: CallOptions) -> Self {
        let invoke = invoke.clone();
        let opening = async move { invoke.invoke(headers, options).await };
        Self {
            number,
            stage: Stage::Opening(Box::pin(opening)),
            sent: 0,
            headers: None,
            message: None,
            has_headers: false,
            unreported: None,
            delivered: 0,
        }
    }

    /// Sends the messages that the request has so far. Returns the reason if that has committed the operation to this attempt.
    pub(crate) fn send(&mut self, request: &mut RequestBuffer, cx: &mut Context<'_>) -> Option<Note> {
        if let Stage::Opening(opening) = &mut self.stage {
            let Poll::Ready((sender, receiver)) = opening.as_mut().poll(cx) else { return None };
            let (receiving, sending) = (Receiving::Idle(Box::new(receiver)), Sending::Idle(Box::new(sender)));
            self.stage = Stage::Open { receiving, sending };
        }
        let Stage::Open { sending, .. } = &mut self.stage else { return None };
        loop {
            *sending = match std::mem::replace(sending, Sending::Over) {
                Sending::Idle(mut stream) => match request.message(self.sent) {
                    Some((data, options)) => {
                        let (message, options) = (Encoded(data.clone()), options.clone());
                        Sending::Busy(Box::pin(async move {
                            let sent = stream.send(&message, options).await;
                            (stream, sent)
                        }))
                    }
                    None if request.ends_before(self.sent) => return None,
                    None => {
                        *sending = Sending::Idle(stream);
                        return None;
                    }
                },
                Sending::Busy(mut send) => match send.as_mut().poll(cx) {
                    Poll::Pending => {
                        *sending = Sending::Busy(send);
                        return None;
                    }
                    Poll::Ready((stream, Ok(()))) => {
                        self.sent += 1;
                        *sending = Sending::Idle(stream);
                        match request.was_sent(self.number, self.sent) {
                            None => continue,
                            limit => return limit,
                        }
                    }
                    Poll::Ready((_, Err(()))) => {
                        request.refuse(self.number);
                        return None;
                    }
                },
                Sending::Over => return None,
            };
        }
    }

    /// The next part of its response.
    pub(crate) fn receive(&mut self, cx: &mut Context<'_>) -> Poll<Received> {
        let Stage::Open { receiving, .. } = &mut self.stage else { return Poll::Pending };
        loop {
            *receiving = match std::mem::replace(receiving, Receiving::Over) {
                Receiving::Idle(mut stream) => Receiving::Busy(Box::pin(async move {
                    let mut message = Undecoded::default();
                    let item = stream.recv(&mut message).await;
                    (stream, message, item)
                })),
                Receiving::Busy(mut receive) => {
                    let Poll::Ready((stream, message, item)) = receive.as_mut().poll(cx) else {
                        *receiving = Receiving::Busy(receive);
                        return Poll::Pending;
                    };
                    *receiving = Receiving::Idle(stream);
                    return Poll::Ready(match item {
                        ResponseStreamItem::Headers(headers) => {
                            self.has_headers = true;
                            Received::Headers(headers)
                        }
                        ResponseStreamItem::Message => Received::Message(message.0),
                        ResponseStreamItem::Trailers(trailers) => Received::Trailers(trailers),
                        ResponseStreamItem::StreamClosed => Received::Nothing,
                    });
                }
                Receiving::Over => return Poll::Pending,
            };
        }
    }

    /// How much of a response it has received.
    pub(crate) fn seen(&self) -> Seen {
        match (self.delivered, self.has_headers) {
            (0, false) => Seen::Nothing,
            (0, true) => Seen::Headers,
            _ => Seen::Messages { resumable: false },
        }
    }

    /// How many messages of a stream the caller has when it ends.
    pub(crate) fn delivered_at_end(&self) -> u64 {
        if self.delivered == 0 { 0 } else { self.delivered + u64::from(self.message.is_some()) }
    }

    /// Returns whether no part of the request was sent, although there was one to send.
    pub(crate) fn is_unsent(&self, request: &RequestBuffer) -> bool {
        self.sent == 0 && (matches!(self.stage, Stage::Opening(_)) || !request.is_empty())
    }
}

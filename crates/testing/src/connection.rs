//! The server's side of a connection: HTTP/2, with resets, `GOAWAY` and breaks at will.

use super::network::{GOAWAY, Stream, frame, goaway};
use super::reply::Break;
use super::server::GrpcHandler;
use bytes::Bytes;
use gax_driver::__private::Locked;
use h2::server::{Connection, SendResponse};
use h2::{Reason, RecvStream, SendStream};
use http_body::{Body as HttpBody, Frame};
use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::mpsc::UnboundedSender;
use tonic::Status;
use tonic::body::Body;

/// The most bytes of a request's headers, where the number of streams is limited too.
const MAX_HEADERS: u32 = 64 * 1024;

/// The orders of streams to their connection.
#[derive(Debug, Default)]
struct Orders {
    /// A frame of our own, written between those of the library.
    frame: Vec<u8>,
    is_closed: bool,
    waker: Option<Waker>,
}

#[derive(Debug, Clone)]
struct Control {
    orders: Arc<Locked<Orders>>,
    refusals: UnboundedSender<Duration>,
}

impl Control {
    fn order(&self, order: impl FnOnce(&mut Orders)) {
        let waker = self.orders.change(|orders| {
            order(orders);
            orders.waker.take()
        });
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Does what a break says; returns the reason if it resets the stream alone.
    fn carry_out(&self, how: Break, stream: u32) -> Option<Reason> {
        match how {
            Break::Reset(reason) => return Some(Reason::from(reason)),
            Break::GoAway { reason, taken } => {
                let last = if taken { stream } else { stream.saturating_sub(2) };
                let goodbye = frame(GOAWAY, 0, 0, &goaway(last, reason, &[]));
                self.order(|orders| orders.frame.extend(goodbye));
            }
            Break::Close => self.order(|orders| orders.is_closed = true),
            Break::Refuse(time) => {
                // Nobody accepts any longer.
                self.refusals.send(time).ok();
                self.order(|orders| orders.is_closed = true);
            }
        }
        None
    }

    fn is_closed(&self, cx: &Context<'_>) -> bool {
        self.orders.change(|orders| {
            orders.waker = Some(cx.waker().clone());
            orders.is_closed
        })
    }
}

/// Serves a connection to its end, with at most so many streams at a time. What is to be refused for how long is said to
/// `refusals`.
pub(super) async fn serve(
    io: Box<dyn Stream>,
    service: impl GrpcHandler,
    streams: Option<u32>,
    refusals: UnboundedSender<Duration>,
) {
    let control = Control { orders: Arc::default(), refusals };
    let io = Wire { io, control: control.clone(), is_between_frames: true };
    let mut settings = h2::server::Builder::new();
    if let Some(streams) = streams {
        settings.max_concurrent_streams(streams).max_header_list_size(MAX_HEADERS);
    }
    let Ok(mut connection) = settings.handshake(io).await else { return };
    while let Some((request, respond)) = accept(&mut connection, &control).await {
        tokio::spawn(reply(request, respond, service.clone(), control.clone()));
    }
}

/// The next request; `None`: the connection has ended, however it did.
async fn accept(
    connection: &mut Connection<Wire, Bytes>,
    control: &Control,
) -> Option<(http::Request<RecvStream>, SendResponse<Bytes>)> {
    let accepted = poll_fn(|cx| {
        // What was sent before the end goes out first.
        let accepted = connection.poll_accept(cx);
        if control.is_closed(cx) { Poll::Ready(None) } else { accepted }
    });
    accepted.await?.ok()
}

/// Replies to a request, unless its client gives it up before.
async fn reply(
    request: http::Request<RecvStream>,
    mut respond: SendResponse<Bytes>,
    mut service: impl GrpcHandler,
    control: Control,
) {
    let request = request.map(|body| Body::new(Received(body)));
    let mut call = pin!(service.call(request));
    let response = poll_fn(|cx| match call.as_mut().poll(cx) {
        Poll::Ready(Ok(response)) => Poll::Ready(Some(response)),
        Poll::Pending => respond.poll_reset(cx).map(|_| None),
    });
    let Some(response) = response.await else { return };
    let stream = respond.stream_id().as_u32();
    match response.extensions().get() {
        None => send(response, &mut respond, &control).await,
        Some(how) => match control.carry_out(*how, stream) {
            Some(reason) => respond.send_reset(reason),
            None => drop(poll_fn(|cx| respond.poll_reset(cx)).await),
        },
    }
}

async fn send(response: http::Response<Body>, respond: &mut SendResponse<Bytes>, control: &Control) {
    let (parts, body) = response.into_parts();
    let head = http::Response::from_parts(parts, ());
    let Ok(mut stream) = respond.send_response(head, body.is_end_stream()) else { return };
    let mut body = pin!(body);
    loop {
        let frame = poll_fn(|cx| match body.as_mut().poll_frame(cx) {
            Poll::Ready(frame) => Poll::Ready(Some(frame)),
            // The client has given it up.
            Poll::Pending => stream.poll_reset(cx).map(|_| None),
        });
        let frame = frame.await.flatten();
        if let Some(Err(status)) = &frame
            && let Some(how) =
                std::error::Error::source(status).and_then(|source| source.downcast_ref::<Break>())
        {
            match control.carry_out(*how, stream.stream_id().as_u32()) {
                Some(reason) => return stream.send_reset(reason),
                None => continue,
            }
        }
        if !sent(&mut stream, frame) {
            return;
        }
    }
}

/// Sends a part of a response; says whether there may be more.
fn sent(stream: &mut SendStream<Bytes>, frame: Option<Result<Frame<Bytes>, Status>>) -> bool {
    match frame.map(|frame| frame.map(Frame::into_data)) {
        Some(Ok(Ok(data))) => stream.send_data(data, false).is_ok(),
        Some(Ok(Err(frame))) => {
            if let Ok(trailers) = frame.into_trailers() {
                stream.send_trailers(trailers).ok();
            }
            false
        }
        Some(Err(_)) => {
            stream.send_reset(Reason::INTERNAL_ERROR);
            false
        }
        None => {
            stream.send_data(Bytes::new(), true).ok();
            false
        }
    }
}

/// The body of a request.
struct Received(RecvStream);

impl HttpBody for Received {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let broken = |error: h2::Error| Status::cancelled(error.to_string());
        match ready!(self.0.poll_data(cx)) {
            Some(Ok(data)) => {
                self.0.flow_control().release_capacity(data.len()).ok();
                Poll::Ready(Some(Ok(Frame::data(data))))
            }
            Some(Err(error)) => Poll::Ready(Some(Err(broken(error)))),
            None => Poll::Ready(match ready!(self.0.poll_trailers(cx)) {
                Ok(trailers) => trailers.map(|trailers| Ok(Frame::trailers(trailers))),
                Err(error) => Some(Err(broken(error))),
            }),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }
}

/// The connection itself, with room for a frame of our own between two of the library.
struct Wire {
    io: Box<dyn Stream>,
    control: Control,
    /// All that the library has written of a frame has been sent.
    is_between_frames: bool,
}

impl Wire {
    fn write_own(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        while self.is_between_frames {
            let frame = self.control.orders.change(|orders| orders.frame.clone());
            if frame.is_empty() {
                break;
            }
            let Poll::Ready(written) = Pin::new(&mut self.io).poll_write(cx, &frame)? else { break };
            self.control.orders.change(|orders| drop(orders.frame.drain(..written)));
        }
        Ok(())
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.write_own(cx)?;
        Pin::new(&mut self.io).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Wire {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        self.is_between_frames = false;
        Pin::new(&mut self.io).poll_write(cx, data)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.io).poll_flush(cx))?;
        self.is_between_frames = true;
        self.write_own(cx)?;
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}

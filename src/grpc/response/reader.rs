//! A response that arrives.

use crate::grpc::methods::MethodConfig;
use crate::grpc::response::body::ResponseBody;
use crate::grpc::response::open_body::{Incoming, OpenBody, Remainder};
use crate::grpc::status::{Failure, Messages, received};
use crate::note;
use bytes::Bytes;
use gax_driver::Note;
use gax_driver::protocol::AttemptContext;
use gax_retry::operation::CommitPoint;
use gax_retry::{Code, MethodKind};
use gax_wire::__private::{BufferedBody, FrameBuffer};
use http::{HeaderMap, StatusCode};
use http_body::{Body as HttpBody, Frame};
use std::pin::Pin;
use std::task::{Context, Poll};
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::StdError;

/// How much of a response must have arrived before it can be called good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadExtent {
    /// All of it: the RPC replies with one message.
    Whole,
    /// One message: the RPC responds with a stream, which its first message commits.
    FirstMessage,
    /// One message, and its end if that is there already: it is unknown whether the RPC responds with a stream.
    MessageOrWhole,
    /// Its headers, and nothing of it is classified: messages are asked for one by one.
    Nothing,
    /// Its headers: they commit a stream of responses, or the request is a stream that continues meanwhile.
    Head,
}

impl ReadExtent {
    #[inline]
    pub fn of(kind: Option<MethodKind>, commit_point: CommitPoint) -> Self {
        let Some(kind) = kind else { return ReadExtent::MessageOrWhole };
        match commit_point {
            _ if kind.is_unary() => ReadExtent::Whole,
            CommitPoint::Headers => ReadExtent::Head,
            CommitPoint::FirstMessage | CommitPoint::OverLimit => ReadExtent::FirstMessage,
        }
    }

    /// The extent of an RPC that takes a stream. If it replies with one as well, they may take turns, so that nothing
    /// is buffered; a single reply may be, where another attempt can follow it.
    #[cold]
    pub fn of_request_stream(kind: Option<MethodKind>, config: &MethodConfig) -> Self {
        let may_wait =
            config.shared.replay_memory.is_some() && config.policy.commit_point() != CommitPoint::Headers;
        match kind {
            Some(MethodKind::ClientStreaming) if may_wait => ReadExtent::Whole,
            _ => ReadExtent::Head,
        }
    }
}

/// Where a reply goes: to the place of what the future of a call returns, where it stays.
pub(crate) type ReplySlot = Poll<Result<http::Response<ResponseBody>, Status>>;

/// Why a response can't be handed to the caller.
pub enum Fault {
    /// It has a status that is none of success, or none at all.
    Failed(Box<Failure>),
    /// It broke off; behind a whole message, these came before.
    Broke(StdError, Option<Messages>),
    /// No other attempt would read it better.
    Unreadable(Box<Failure>),
}

/// Looks at the head of a response, which may be all there is.
#[inline]
pub(crate) fn check_head<B>(
    response: &mut http::Response<B>,
    context: &mut AttemptContext<'_>,
) -> Result<(), Box<Failure>> {
    match received::code(response.headers()) {
        None if response.status() == StatusCode::OK => Ok(()),
        code => check_status(response.status(), code, response.headers_mut(), context),
    }
}

/// The head of a response has a status, of gRPC or of HTTP.
#[cold]
fn check_status(
    status: StatusCode,
    code: Option<Code>,
    headers: &mut HeaderMap,
    context: &mut AttemptContext<'_>,
) -> Result<(), Box<Failure>> {
    let Some(code) = code else {
        return Err(Box::new(Failure::without_status(status, std::mem::take(headers))));
    };
    sanitize(headers, context);
    if code == Code::Ok {
        return Ok(());
    }
    Err(Box::new(Failure::by_server(code, None, std::mem::take(headers))))
}

/// A response of which nothing but the head has been read.
#[inline]
pub(crate) fn unread<B>(response: http::Response<B>) -> http::Response<ResponseBody>
where
    B: HttpBody<Data = Bytes, Error: Into<StdError>> + Send + 'static,
{
    response.map(|body| ResponseBody::unread(Body::new(body)))
}

/// Reads on until it is known what follows from the response.
#[inline]
pub(crate) fn read(
    response: &mut http::Response<ResponseBody>,
    extent: ReadExtent,
    config: &MethodConfig,
    context: &mut AttemptContext<'_>,
    cx: &mut Context<'_>,
) -> Poll<Result<(), Fault>> {
    if matches!(extent, ReadExtent::Head | ReadExtent::Nothing) {
        if extent == ReadExtent::Head {
            pass_on(response, Note::COMMITTED, context);
        }
        return Poll::Ready(Ok(()));
    }
    loop {
        let BufferedBody { frames, remainder } = &mut response.body_mut().0;
        let Remainder::Open(Incoming::Unread(body)) = remainder else {
            return Poll::Ready(Ok(()));
        };
        let mut polled = Pin::new(body).poll_frame(cx);
        let data = match &mut polled {
            Poll::Ready(Some(Ok(frame))) => frame.data_mut().map(std::mem::take),
            _ => None,
        };
        let Some(data) = data else {
            let Poll::Ready(Some(Ok(frame))) = polled else {
                return stopped(polled, response, extent, context);
            };
            let Ok(mut trailers) = frame.into_trailers() else { continue };
            let is_good = are_good(&mut trailers, context);
            *remainder = Remainder::Trailers(trailers);
            return Poll::Ready(if is_good { Ok(()) } else { Err(failed(response, extent)) });
        };
        // The end of a body without trailers may come as a frame of nothing.
        if data.is_empty() {
            continue;
        }
        context.received(&data);
        frames.push(data);
        if extent == ReadExtent::Whole {
            if frames.has_more_than_a_message() {
                return Poll::Ready(Err(Fault::Unreadable(Box::new(Failure::two_messages()))));
            }
        } else if is_stream(frames, extent) {
            pass_on(response, Note::COMMITTED, context);
            return Poll::Ready(Ok(()));
        }
        if frames.len() > config.max_response_buffer {
            pass_on(response, config.too_large, context);
            return Poll::Ready(Ok(()));
        }
    }
}

/// Reads a response that did not come immediately.
pub(crate) fn read_on(
    response: &mut http::Response<ResponseBody>,
    extent: ReadExtent,
    config: &MethodConfig,
    context: &mut AttemptContext<'_>,
    cx: &mut Context<'_>,
) -> Poll<Result<(), Fault>> {
    read(response, extent, config, context, cx)
}

/// No frame has come: the body has ended, is broken, or there is more to come.
fn stopped(
    polled: Poll<Option<Result<Frame<Bytes>, Status>>>,
    response: &mut http::Response<ResponseBody>,
    extent: ReadExtent,
    context: &mut AttemptContext<'_>,
) -> Poll<Result<(), Fault>> {
    match polled {
        Poll::Ready(Some(Err(status))) => {
            let messages = messages(response, extent);
            Poll::Ready(Err(Fault::Broke(status.into(), messages)))
        }
        Poll::Ready(_) => Poll::Ready(ended(response, extent)),
        Poll::Pending if extent == ReadExtent::MessageOrWhole && response.body().0.frames.has_message() => {
            pass_on(response, Note::COMMITTED, context);
            Poll::Ready(Ok(()))
        }
        Poll::Pending => Poll::Pending,
    }
}

/// The body ended without trailers: fine only if the head had the status.
fn ended(response: &mut http::Response<ResponseBody>, extent: ReadExtent) -> Result<(), Fault> {
    if received::code(response.headers()).is_some() {
        response.body_mut().0.remainder = Remainder::End;
        return Ok(());
    }
    let messages = messages(response, extent);
    let headers = std::mem::take(response.headers_mut());
    let mut failure = Box::new(Failure::without_status(response.status(), headers));
    failure.put_behind(messages);
    Err(Fault::Failed(failure))
}

/// Returns whether that is enough to know that the response is a stream, or to hand it on as one.
fn is_stream(frames: &FrameBuffer, extent: ReadExtent) -> bool {
    match extent {
        ReadExtent::MessageOrWhole => frames.has_more_than_a_message(),
        _ => frames.has_message(),
    }
}

/// The messages of a response before it failed, where a caller could have read a message of it.
#[cold]
fn messages(response: &mut http::Response<ResponseBody>, extent: ReadExtent) -> Option<Messages> {
    if extent != ReadExtent::MessageOrWhole || !response.body().0.frames.has_message() {
        return None;
    }
    let headers = response.headers().clone();
    let messages = std::mem::take(response).map(|body| body.0.frames);
    *response.headers_mut() = headers;
    Some(Box::new(messages))
}

/// Returns whether the trailers that a body ended with have the status of a success.
#[inline]
fn are_good(trailers: &mut HeaderMap, context: &mut AttemptContext<'_>) -> bool {
    let code = received::code(trailers);
    if code.is_some() {
        sanitize(trailers, context);
    }
    code == Some(Code::Ok)
}

/// The trailers that the body ended with have a status that is none of success, or none at all.
#[cold]
fn failed(response: &mut http::Response<ResponseBody>, extent: ReadExtent) -> Fault {
    let trailers = match std::mem::take(&mut response.body_mut().0.remainder) {
        Remainder::Trailers(trailers) => trailers,
        Remainder::End | Remainder::Open(_) | Remainder::Failed(_) => HeaderMap::new(),
    };
    let messages = messages(response, extent);
    let mut headers = std::mem::take(response.headers_mut());
    let mut failure = Box::new(if let Some(code) = received::code(&trailers) {
        Failure::by_server(code, Some(headers), trailers)
    } else {
        headers.extend(trailers);
        Failure::without_status(StatusCode::OK, headers)
    });
    failure.put_behind(messages);
    Fault::Failed(failure)
}

/// The response is sent with its end still to come.
pub fn pass_on(response: &mut http::Response<ResponseBody>, note: Note, context: &mut AttemptContext<'_>) {
    context.note(note);
    let remainder = &mut response.body_mut().0.remainder;
    if let Remainder::Open(Incoming::Unread(body)) = remainder {
        let open = OpenBody::new(std::mem::take(body), context.deadline(), true);
        *remainder = Remainder::Open(Incoming::HandedOn(Box::new(open)));
    }
}

#[inline]
fn sanitize(headers: &mut HeaderMap, context: &mut AttemptContext<'_>) {
    if received::sanitize(headers) {
        context.note(note::MALFORMED_STATUS_DETAILS);
    }
}

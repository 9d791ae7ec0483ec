//! Connections that are opened by a gRPC call, with the request that the strategy says.

use super::codec::{Measured, StreamCodec};
use super::connection::{BodyEnd, Connection, ConnectionEnd};
use super::connections::{Connections, Ending, StrategyOf};
use crate::resumption::{Resumer, StreamResumption};
use gax_driver::Note;
use gax_driver::protocol::AttemptContext;
use gax_retry::Code;
use gax_retry::operation::{AttemptResult, Seen};
use http::HeaderMap;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};
use tonic::Status;
use tonic_gax::__private::{
    AttemptParts, Failure, GrpcProtocol, ReplayableRequest, ResponseBody, ServiceHandle, pass_on, received,
};
use tonic_gax::note;

/// The connections of a call over gRPC, whose messages are read by a codec.
pub struct GrpcConnections<A, Q, C: StreamCodec> {
    codec: C,
    resumer: Resumer<C::Request, C::Response>,
    /// The caller has the headers of a connection: no response can be passed on as it arrives instead of the stream.
    has_head: bool,
    trailers: Option<HeaderMap>,
    /// A response that is passed on as it arrives.
    passed: Option<http::Response<ResponseBody>>,
    base: PhantomData<fn() -> (A, Q)>,
}

impl<A: ServiceHandle, Q: ReplayableRequest, C: StreamCodec> GrpcConnections<A, Q, C> {
    pub fn new(codec: C, resumer: Resumer<C::Request, C::Response>) -> Self {
        Self { codec, resumer, has_head: false, trailers: None, passed: None, base: PhantomData }
    }

    /// The response is passed on as it arrives: the stream can't be resumed any longer.
    fn pass(
        &mut self,
        mut response: http::Response<ResponseBody>,
        note: Note,
        context: &mut AttemptContext<'_>,
    ) {
        pass_on(&mut response, note, context);
        self.passed = Some(response);
    }
}

/// No other attempt would read it better.
fn unreadable<A: ServiceHandle, Q: ReplayableRequest>(
    attempt: &mut AttemptParts<'_, '_, GrpcProtocol<A, Q>>,
    status: Status,
) -> AttemptResult {
    let is_too_long = status.code() == tonic::Code::OutOfRange;
    let note = if is_too_long { note::MESSAGE_ABOVE_DECODING_LIMIT } else { Note::UNREADABLE_RESPONSE };
    attempt.context.note(note);
    attempt.end_with(status)
}

impl<A: ServiceHandle, Q: ReplayableRequest, C: StreamCodec> Connections for GrpcConnections<A, Q, C> {
    type Base = GrpcProtocol<A, Q>;
    type Response = http::Response<ResponseBody>;
    type Strategy = dyn StreamResumption<Request = C::Request, Response = C::Response>;
    type Connection = Box<Connection<C::Response>>;
    type End = ConnectionEnd;
    type Item = C::Response;

    #[inline]
    fn item(message: C::Response) -> C::Response {
        message
    }

    #[inline]
    fn strategy<R>(&mut self, ask: impl FnOnce(&mut StrategyOf<Self>) -> R) -> Result<R, Status> {
        Ok(ask(&mut self.resumer))
    }

    fn open(
        &mut self,
        attempt: &mut AttemptParts<'_, '_, GrpcProtocol<A, Q>>,
        response: http::Response<ResponseBody>,
    ) -> Result<Self::Connection, AttemptResult> {
        if self.codec.can_read(response.headers()) {
            let max_message = self.codec.max_message(attempt.config);
            let is_observed = attempt.context.watches_transfers();
            let opened = Connection::open(response, &self.codec, is_observed, max_message);
            return opened.map(Box::new).map_err(|status| unreadable(attempt, status));
        }
        if self.has_head {
            let problem = "the response is compressed, which its request did not allow";
            return Err(unreadable(attempt, Status::internal(problem)));
        }
        self.pass(response, note::RESUMPTION_UNUSED, attempt.context);
        Err(AttemptResult::done().with_seen(Seen::Messages { resumable: false }))
    }

    /// Those of a later one can't name another compression.
    fn head(&mut self, base: &mut GrpcProtocol<A, Q>, connection: Pin<&mut Self::Connection>) -> HeaderMap {
        if !std::mem::replace(&mut self.has_head, true) {
            base.request_mut().refuse_compression();
        }
        connection.head.clone()
    }

    #[inline]
    fn poll_next(
        &mut self,
        connection: Pin<&mut Self::Connection>,
        context: &mut AttemptContext<'_>,
        cx: &mut Context<'_>,
    ) -> Result<Poll<Result<Measured<C::Response>, ConnectionEnd>>, Status> {
        let connection = connection.get_mut();
        let polled = connection.poll(cx);
        for data in connection.arrived() {
            context.received(&data);
        }
        Ok(polled)
    }

    #[cold]
    fn ended(
        &mut self,
        attempt: &mut AttemptParts<'_, '_, GrpcProtocol<A, Q>>,
        connection: Pin<&mut Self::Connection>,
        end: ConnectionEnd,
    ) -> Result<Ending, Status> {
        let head = || connection.head.clone();
        let (trailers, is_whole) = match end {
            ConnectionEnd::Unreadable(status) => {
                return Ok(Ending::Final(unreadable(attempt, status)));
            }
            ConnectionEnd::Body { end: BodyEnd::Broke(status), .. } => {
                return Ok(Ending::Failed(attempt.broken(status.into(), Seen::Headers), None));
            }
            ConnectionEnd::Body { end: BodyEnd::TooLong(rest), .. } => {
                let mut response = http::Response::new(rest);
                *response.headers_mut() = head();
                self.pass(response, attempt.config.too_large, attempt.context);
                return Ok(Ending::Done);
            }
            ConnectionEnd::Body { end: BodyEnd::WithoutTrailers, is_whole } => (None, is_whole),
            ConnectionEnd::Body { end: BodyEnd::Trailers { trailers, is_malformed }, is_whole } => {
                if is_malformed {
                    attempt.context.note(note::MALFORMED_STATUS_DETAILS);
                }
                (Some(trailers), is_whole)
            }
        };
        let code = received::code(trailers.as_ref().unwrap_or(&connection.head));
        let failure = match (code, trailers) {
            (Some(Code::Ok), _) if !is_whole => {
                let status = Status::internal("the stream ended within a message");
                return Ok(Ending::Final(unreadable(attempt, status)));
            }
            (Some(Code::Ok), trailers) => {
                self.trailers = trailers;
                return Ok(Ending::Done);
            }
            (Some(code), trailers) => Failure::by_server(code, Some(head()), trailers.unwrap_or_default()),
            (None, trailers) => {
                let mut headers = head();
                headers.extend(trailers.unwrap_or_default());
                Failure::without_status(connection.status, headers)
            }
        };
        Ok(Ending::Failed(attempt.failed(Box::new(failure), Seen::Headers), None))
    }

    fn settle(
        &mut self,
        attempt: &mut AttemptParts<'_, '_, GrpcProtocol<A, Q>>,
        result: AttemptResult,
        failure: &Status,
    ) -> Result<AttemptResult, Status> {
        let policy = &attempt.config.policy;
        let (result, next) = self.resumer.settle(policy, result, failure, attempt.context);
        if let Some(next) = next {
            attempt.protocol.request_mut().replace(self.codec.encode(next)?);
        }
        Ok(result)
    }

    fn take_trailers(&mut self) -> Option<HeaderMap> {
        self.trailers.take()
    }

    fn take_passed(&mut self) -> Option<http::Response<ResponseBody>> {
        self.passed.take()
    }
}

//! Connections that are opened by a gRPC call, with the request that the strategy says.

use super::codec::{Measured, StreamCodec};
use super::connection::{Connection, ConnectionEnd};
use super::connections::{Connections, Ending, StrategyOf};
use super::tapped_body::BodyEnd;
use crate::grpc::methods::MethodConfig;
use crate::grpc::protocol::{Failing as _, GrpcProtocol};
use crate::grpc::request::ReplayableRequest;
use crate::grpc::response::{ResponseBody, pass_on};
use crate::grpc::status::{Failure, received};
use crate::grpc::transport::ServiceHandle;
use crate::note;
use crate::resumption::{Resumer, StreamResumption};
use gax_driver::Note;
use gax_driver::protocol::AttemptContext;
use gax_retry::operation::{AttemptResult, Seen};
use gax_retry::{Code, Policy};
use http::HeaderMap;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};
use tonic::Status;

/// The connections of a call over gRPC, whose messages are read by a codec.
pub(crate) struct GrpcConnections<A, Q, C: StreamCodec> {
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
    pub(crate) fn new(codec: C, resumer: Resumer<C::Request, C::Response>) -> Self {
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
    base: &mut GrpcProtocol<A, Q>,
    config: &MethodConfig,
    status: Status,
    context: &mut AttemptContext<'_>,
) -> AttemptResult {
    let is_too_long = status.code() == tonic::Code::OutOfRange;
    context.note(if is_too_long { note::MESSAGE_ABOVE_DECODING_LIMIT } else { Note::UNREADABLE_RESPONSE });
    base.end_with(config, status, context)
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
        base: &mut GrpcProtocol<A, Q>,
        response: http::Response<ResponseBody>,
        config: &MethodConfig,
        context: &mut AttemptContext<'_>,
    ) -> Result<Self::Connection, AttemptResult> {
        if self.codec.can_read(response.headers()) {
            let max_message = self.codec.max_message(config);
            let opened = Connection::open(response, &self.codec, context.watches_transfers(), max_message);
            return opened.map(Box::new).map_err(|status| unreadable(base, config, status, context));
        }
        if self.has_head {
            let problem = "the response is compressed, which its request did not allow";
            return Err(unreadable(base, config, Status::internal(problem), context));
        }
        self.pass(response, note::RESUMPTION_UNUSED, context);
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
        base: &mut GrpcProtocol<A, Q>,
        connection: Pin<&mut Self::Connection>,
        end: ConnectionEnd,
        config: &MethodConfig,
        context: &mut AttemptContext<'_>,
    ) -> Result<Ending, Status> {
        let head = || connection.head.clone();
        let (trailers, is_whole) = match end {
            ConnectionEnd::Unreadable(status) => {
                return Ok(Ending::Final(unreadable(base, config, status, context)));
            }
            ConnectionEnd::Body { end: BodyEnd::Broke(status), .. } => {
                let result = base.broken(config, status.into(), Seen::Headers, context);
                return Ok(Ending::Failed(result, None));
            }
            ConnectionEnd::Body { end: BodyEnd::TooLong(rest), .. } => {
                let mut response = http::Response::new(rest);
                *response.headers_mut() = head();
                self.pass(response, config.too_large, context);
                return Ok(Ending::Done);
            }
            ConnectionEnd::Body { end: BodyEnd::WithoutTrailers, is_whole } => (None, is_whole),
            ConnectionEnd::Body { end: BodyEnd::Trailers { trailers, is_malformed }, is_whole } => {
                if is_malformed {
                    context.note(note::MALFORMED_STATUS_DETAILS);
                }
                (Some(trailers), is_whole)
            }
        };
        let code = received::code(trailers.as_ref().unwrap_or(&connection.head));
        let failure = match (code, trailers) {
            (Some(Code::Ok), _) if !is_whole => {
                let status = Status::internal("the stream ended within a message");
                return Ok(Ending::Final(unreadable(base, config, status, context)));
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
        let result = base.failed(config, Box::new(failure), Seen::Headers, context);
        Ok(Ending::Failed(result, None))
    }

    fn settle(
        &mut self,
        base: &mut GrpcProtocol<A, Q>,
        policy: &Policy,
        result: AttemptResult,
        failure: &Status,
        context: &mut AttemptContext<'_>,
    ) -> Result<AttemptResult, Status> {
        let (result, next) = self.resumer.settle(policy, result, failure, context);
        if let Some(next) = next {
            base.request_mut().replace(self.codec.encode(next)?);
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

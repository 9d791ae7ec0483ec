//! A generated client's inside: a channel, and what all its calls share.

use super::codec::Codec;
use super::streaming::{MessageCall, StreamingCall, Timed};
use super::unary::UnaryCall;
use crate::grpc::{Course, Judge, MethodPlan, Operation, Outgoing, Transport, unsent};
use crate::operation::JitterSeeds;
use crate::settings::{CallOptions, ClientSettings, Limits};
use gax_retry::MethodKind;
use http::Uri;
use http::uri::PathAndQuery;
use prost::Message;
use std::any::TypeId;
use std::sync::Arc;
use tonic::codec::CompressionEncoding;
use tonic::{GrpcMethod, Request, Status};
use tonic_prost::ProstCodec;

/// What a generated client is made of.
#[derive(Debug, Clone)]
pub struct Client<T> {
    channel: T,
    shared: Arc<Shared>,
}

/// What all calls of a client share. Resolved once, when the client is made.
#[derive(Debug, Clone)]
pub(crate) struct Shared {
    methods: Vec<Method>,
    limits: Limits,
    jitter: JitterSeeds,
    pub(crate) codec: Codec,
}

#[derive(Debug, Clone)]
struct Method {
    name: GrpcMethod<'static>,
    uri: Uri,
    path: PathAndQuery,
    kind: MethodKind,
    plan: Arc<MethodPlan>,
}

impl<T> Client<T> {
    /// A client over a channel.
    #[must_use]
    pub fn new(channel: T, settings: ClientSettings) -> Self {
        let ClientSettings { stub, compatibility, limits, jitter } = settings;
        let methods = stub
            .into_calls()
            .map(|(info, call)| Method {
                name: GrpcMethod::new(info.service(), info.name()),
                uri: Uri::from(info.path_and_query()),
                path: info.path_and_query(),
                kind: info.kind(),
                plan: Arc::new(MethodPlan::new(&call, compatibility)),
            })
            .collect();
        let shared = Shared { methods, limits, jitter, codec: Codec::default() };
        Self { channel, shared: Arc::new(shared) }
    }

    /// The same client over another channel.
    #[must_use]
    pub fn map_channel<U>(self, map: impl FnOnce(T) -> U) -> Client<U> {
        Client { channel: map(self.channel), shared: self.shared }
    }

    /// Puts the origin (scheme, authority and, if it has one, a path before the method's) into every request.
    #[must_use]
    pub fn with_origin(self, origin: &Uri) -> Self {
        self.changed(|shared| {
            for method in &mut shared.methods {
                method.uri = at_origin(origin, &method.path);
            }
        })
    }

    /// Compresses every request.
    #[must_use]
    pub fn send_compressed(self, encoding: CompressionEncoding) -> Self {
        self.changed(|shared| shared.codec.send_compressed = Some(encoding))
    }

    /// Lets the server compress its responses so; may be called for several encodings.
    #[must_use]
    pub fn accept_compressed(self, encoding: CompressionEncoding) -> Self {
        self.changed(|shared| shared.codec.accept_compressed.push(encoding))
    }

    /// The longest message that is read, in bytes; 4 MiB unless set.
    #[must_use]
    pub fn max_decoding_message_size(self, limit: usize) -> Self {
        self.changed(|shared| shared.codec.max_decoding = Some(limit))
    }

    /// The longest message that is sent, in bytes; no limit unless set.
    #[must_use]
    pub fn max_encoding_message_size(self, limit: usize) -> Self {
        self.changed(|shared| shared.codec.max_encoding = Some(limit))
    }

    fn changed(mut self, change: impl FnOnce(&mut Shared)) -> Self {
        change(Arc::make_mut(&mut self.shared));
        self
    }
}

/// The URI of a method at an origin.
fn at_origin(origin: &Uri, path: &PathAndQuery) -> Uri {
    let mut parts = origin.clone().into_parts();
    let prefix = origin.path().trim_end_matches('/');
    let path = if prefix.is_empty() { Ok(path.clone()) } else { format!("{prefix}{path}").parse() };
    parts.path_and_query = path.ok();
    Uri::from_parts(parts).unwrap_or_else(|_| origin.clone())
}

impl<T: Transport> Client<T> {
    /// Calls a unary RPC.
    pub fn unary<Req, Res>(&self, index: usize, request: Request<Req>) -> UnaryCall<T, Res>
    where
        Req: Message + Send + Sync + 'static,
        Res: Message + Default + Send + Sync + 'static,
    {
        match self.operation(index, request) {
            Ok(operation) => UnaryCall::new(operation, Arc::clone(&self.shared)),
            Err(status) => {
                let path = self.shared.methods.get(index).map(|method| method.path.clone());
                let path = path.unwrap_or_else(|| PathAndQuery::from_static("/"));
                UnaryCall::failed(unsent(status, path), Arc::clone(&self.shared))
            }
        }
    }

    /// Calls an RPC that answers with a stream.
    pub fn server_streaming<Req, Res>(&self, index: usize, request: Request<Req>) -> StreamingCall<Res>
    where
        Req: Message + Send + Sync + 'static,
        Res: Message + Default + Send + Sync + 'static,
    {
        match self.timed(index, request) {
            Ok((mut grpc, path, request)) => StreamingCall::new(async move {
                grpc.server_streaming(request, path, ProstCodec::default()).await
            }),
            Err(status) => StreamingCall::new(std::future::ready(Err(status))),
        }
    }

    /// Calls an RPC that takes a stream.
    pub fn client_streaming<R, Req, Res>(&self, index: usize, request: Request<R>) -> MessageCall<Res>
    where
        R: tokio_stream::Stream<Item = Req> + Send + 'static,
        Req: Message + Send + Sync + 'static,
        Res: Message + Default + Send + Sync + 'static,
    {
        match self.timed(index, request) {
            Ok((mut grpc, path, request)) => {
                MessageCall::new(
                    async move { grpc.client_streaming(request, path, ProstCodec::default()).await },
                )
            }
            Err(status) => MessageCall::new(std::future::ready(Err(status))),
        }
    }

    /// Calls an RPC that takes a stream and answers with one.
    pub fn streaming<R, Req, Res>(&self, index: usize, request: Request<R>) -> StreamingCall<Res>
    where
        R: tokio_stream::Stream<Item = Req> + Send + 'static,
        Req: Message + Send + Sync + 'static,
        Res: Message + Default + Send + Sync + 'static,
    {
        match self.timed(index, request) {
            Ok((mut grpc, path, request)) => {
                StreamingCall::new(async move { grpc.streaming(request, path, ProstCodec::default()).await })
            }
            Err(status) => StreamingCall::new(std::future::ready(Err(status))),
        }
    }

    fn operation<Req>(&self, index: usize, request: Request<Req>) -> Result<Operation<T>, Status>
    where
        Req: Message + Send + Sync + 'static,
    {
        let method = self.shared.methods.get(index).ok_or_else(unknown_method)?;
        let codec = &self.shared.codec;
        let (metadata, mut extensions, message) = request.into_parts();
        let options = (!extensions.is_empty()).then(|| extensions.remove::<CallOptions>()).flatten();
        let headers = metadata.into_headers();
        let plan = method.plan.for_call(options.as_ref(), crate::grpc::timeout_in(&headers));
        let max_replay = self.shared.limits.max_replay_bytes;
        let outgoing = if codec.is_plain() {
            let body = codec.encode(&message)?;
            let replayable = body.len() <= max_replay;
            let name = (!is_channel::<T>()).then(|| method.name.clone());
            Outgoing::grpc(method.uri.clone(), headers, extensions, name, body).replayable(replayable)
        } else {
            extensions.insert(method.name.clone());
            let metadata = tonic::metadata::MetadataMap::from_headers(headers);
            let request = Request::from_parts(metadata, extensions, message);
            let (mut parts, body) = codec.encode_by_tonic(request, method.path.clone())?;
            parts.uri = method.uri.clone();
            let replayable = body.len() <= max_replay;
            Outgoing::new(parts, body, replayable)
        };
        let jitter = self.shared.jitter.next();
        let course = Course::new(plan, self.limits(), Judge::Whole, outgoing, true, jitter);
        Ok(Operation::new(self.channel.clone(), course))
    }

    /// The limits of an operation: a response that does not fit into the longest message is no use whole.
    fn limits(&self) -> Limits {
        let longest = self.shared.codec.max_decoding().saturating_add(crate::grpc::PREFIX);
        Limits { max_response_buffer: longest, ..self.shared.limits }
    }

    /// tonic's client over a channel that adds the settings' deadline.
    #[expect(clippy::type_complexity, reason = "three things that one call needs, named where they are used")]
    fn timed<M>(
        &self,
        index: usize,
        request: Request<M>,
    ) -> Result<(tonic::client::Grpc<Timed<T>>, PathAndQuery, Request<M>), Status> {
        let method = self.shared.methods.get(index).ok_or_else(unknown_method)?;
        let mut request = request;
        request.extensions_mut().insert(method.name.clone());
        let timed =
            Timed::new(self.channel.clone(), Arc::clone(&method.plan), method.kind, method.uri.clone());
        Ok((self.shared.codec.tonic(timed), method.path.clone(), request))
    }
}

/// Whether nothing lies between a client and the connection that could look for a [`GrpcMethod`]. To put one
/// into a request takes three allocations.
fn is_channel<T: 'static>() -> bool {
    TypeId::of::<T>() == TypeId::of::<tonic::transport::Channel>()
}

fn unknown_method() -> Status {
    Status::internal("the client has no method of that index")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uri(origin: &'static str) -> String {
        at_origin(&Uri::from_static(origin), &PathAndQuery::from_static("/pkg.Service/Method")).to_string()
    }

    #[test]
    fn an_origin_may_have_a_path() {
        assert_eq!(uri("http://host:1"), "http://host:1/pkg.Service/Method");
        assert_eq!(uri("http://host/prefix"), "http://host/prefix/pkg.Service/Method");
        assert_eq!(uri("http://host/prefix/"), "http://host/prefix/pkg.Service/Method");
    }
}

//! A generated client's inside: a channel, and what all its calls share.

use crate::client::codec::Codec;
use crate::client::encoded::{Added, Encoded};
#[cfg(feature = "longrunning")]
use crate::client::lro::LongRunningMethods;
use crate::client::methods::{Method, Methods};
use crate::client::streaming::{ProstStream, ResponseStream, StreamingCall, Timed};
use crate::client::unary::UnaryCall;
use crate::google::X_GOOG_REQUEST_PARAMS;
use crate::settings::ClientSettings;
use bytes::Bytes;
use gax_driver::__private::{earlier, inbound_deadline};
use gax_driver::CallOptions;
use gax_streams::__private::{GrpcConnections, Resumer, StreamCall, StreamProtocol};
use gax_streams::resumption::Resumption;
use http::uri::PathAndQuery;
use http::{Extensions, HeaderMap, Uri};
use prost::Message;
use std::any::{Any, type_name};
use std::fmt;
use std::future::ready;
use std::sync::Arc;
use tokio::time::Instant;
use tonic::codec::CompressionEncoding;
use tonic::metadata::MetadataMap;
use tonic::{Request, Status};
use tonic_gax::__private::{
    GrpcProtocol, LIKE_EXAMPLE, MethodConfig, MethodMatch, OwnService, ReadExtent, TakenBy, not_sent,
};
use tonic_gax::GrpcTransport;
use tonic_gax::take_over::StreamTimeouts;
use tonic_prost::ProstCodec;

/// The inside of a generated client.
#[derive(Clone)]
#[must_use]
pub struct Client<T> {
    pub(super) channel: T,
    pub(super) methods: Methods,
    /// `None`: the service starts no long-running operations.
    #[cfg(feature = "longrunning")]
    pub(super) long_running: Option<Arc<LongRunningMethods>>,
}

// Short: a service may have hundreds of methods.
gax_text::short_debug! {
    self: [T: fmt::Debug] Client<T> { channel: self.channel, methods: self.methods.load().len() }
}

impl<T> Client<T> {
    /// A client over a channel.
    pub fn new<S>(channel: T, settings: ClientSettings<S>) -> Self {
        let settings = settings.config;
        Self {
            channel,
            #[cfg(feature = "longrunning")]
            long_running: LongRunningMethods::new(&settings).map(Arc::new),
            methods: Methods::new(settings),
        }
    }

    /// Puts the client over another channel.
    pub fn map_channel<U>(self, map: impl FnOnce(T) -> U) -> Client<U> {
        Client {
            channel: map(self.channel),
            methods: self.methods,
            #[cfg(feature = "longrunning")]
            long_running: self.long_running,
        }
    }

    /// Puts the origin (scheme, authority and, if it has one, a path before the method's) into every request.
    pub fn with_origin(self, origin: &Uri) -> Self {
        self.changed(|method| method.set_origin(origin))
    }

    /// Compresses every request.
    pub fn send_compressed(self, encoding: CompressionEncoding) -> Self {
        self.with_codec(|codec| codec.send_compressed = Some(encoding))
    }

    /// Lets the server compress its responses so; may be called for several encodings.
    pub fn accept_compressed(self, encoding: CompressionEncoding) -> Self {
        self.with_codec(|codec| codec.accept_compressed.push(encoding))
    }

    /// The longest message that is read, in bytes; 4 MiB unless set.
    pub fn max_decoding_message_size(self, limit: usize) -> Self {
        self.with_codec(|codec| codec.max_decoding = Some(limit))
    }

    /// The longest message that is sent, in bytes; no limit unless set.
    pub fn max_encoding_message_size(self, limit: usize) -> Self {
        self.with_codec(|codec| codec.max_encoding = Some(limit))
    }

    fn with_codec(self, change: impl Fn(&mut Codec)) -> Self {
        self.changed(|method| method.set_codec(&change))
    }

    fn changed(self, change: impl Fn(&mut Method)) -> Self {
        Self {
            channel: self.channel,
            #[cfg(feature = "longrunning")]
            long_running: self.long_running.map(|own| Arc::new(own.changed(&change))),
            methods: self.methods.changed(change),
        }
    }
}

impl<T: GrpcTransport> Client<T> {
    /// Calls a unary RPC.
    pub fn unary<Req, Res>(&self, index: usize, request: Request<Req>) -> UnaryCall<T, Res>
    where
        Req: Message + Send + Sync + 'static,
        Res: Message + Default + Send + Sync + 'static,
    {
        self.unary_until(index, request, None)
    }

    /// Calls a unary RPC, whose operation has ended by that moment.
    #[inline]
    pub(super) fn unary_until<Req, Res>(
        &self,
        index: usize,
        request: Request<Req>,
        deadline: Option<Instant>,
    ) -> UnaryCall<T, Res>
    where
        Req: Message + Send + Sync + 'static,
        Res: Message + Default + Send + Sync + 'static,
    {
        let methods = self.methods.load();
        let Some(method) = methods.get(index) else {
            return UnaryCall::failed(not_sent(unknown_method(), PathAndQuery::from_static("/")));
        };
        match encoded(method, request, deadline) {
            Ok((encoded, config, reports)) => {
                let codec = Arc::clone(&method.codec);
                UnaryCall::new(self.channel.clone(), encoded, config, codec, reports)
            }
            Err(status) => UnaryCall::failed(not_sent(status, LIKE_EXAMPLE.path(method.config.example()))),
        }
    }

    /// Calls an RPC that replies with a stream.
    pub fn server_streaming<Req, Res>(
        &self,
        index: usize,
        request: Request<Req>,
    ) -> StreamingCall<ResponseStream<Res>>
    where
        Req: Message + Send + Sync + 'static,
        Res: Message + Default + Send + Sync + 'static,
    {
        self.with_method(index, |method| {
            let mut request = request;
            let own = resumption_of(request.extensions_mut());
            let options = request.extensions().get::<CallOptions>();
            let is_attempt = options.is_some_and(|options| options.is_attempt);
            if own.is_some() || method.streams_by_itself() && !is_attempt {
                return self.resumed(method, request, own.as_ref());
            }
            if !method.codec.is_plain() {
                let mut headers = std::mem::take(request.metadata_mut()).into_headers();
                add_params(method, &mut headers, || request.get_ref().encode_to_vec());
                *request.metadata_mut() = MetadataMap::from_headers(headers);
            }
            let (mut grpc, path, request) = self.timed(method, request);
            Ok(StreamingCall::plain(async move {
                grpc.server_streaming(request, path, ProstCodec::default()).await
            }))
        })
    }

    /// A call whose stream resumes, or whose caller is watched.
    fn resumed<Req, Res>(
        &self,
        method: &Method,
        request: Request<Req>,
        own: Option<&Resumption>,
    ) -> Result<StreamingCall<ResponseStream<Res>>, Status>
    where
        Req: Message + Send + Sync + 'static,
        Res: Message + Default + Send + Sync + 'static,
    {
        let resumption = own.or(method.resumption.as_ref());
        let strategy = resumption.map(|resumption| {
            resumption.of::<Req, Res>(request.get_ref()).ok_or_else(|| other_types::<Req, Res>(resumption))
        });
        let resumer = Resumer::new(strategy.transpose()?, resumption);
        let (encoded, config, _) = encoded(method, request, None)?;
        let is_endless = resumption.is_some_and(|resumption| resumption.is_endless);
        let config = config.of_long_stream(is_endless, config.timeout);
        let StreamTimeouts { wait, idle, .. } = config.stream;
        let codec = ProstStream::<Req, Res>::new(Codec::clone(&method.codec));
        let base = GrpcProtocol::new(OwnService(self.channel.clone()), encoded, ReadExtent::Nothing);
        let protocol = StreamProtocol::new(base, GrpcConnections::new(codec, resumer), wait);
        Ok(StreamingCall::resumed(StreamCall::new(protocol, config), idle))
    }

    /// Calls an RPC that takes a stream.
    pub fn client_streaming<R, Req, Res>(&self, index: usize, request: Request<R>) -> StreamingCall<Res>
    where
        R: tokio_stream::Stream<Item = Req> + Send + 'static,
        Req: Message + Send + Sync + 'static,
        Res: Message + Default + Send + Sync + 'static,
    {
        self.with_method(index, |method| {
            let (mut grpc, path, request) = self.timed(method, request);
            Ok(StreamingCall::new(async move {
                grpc.client_streaming(request, path, ProstCodec::default()).await
            }))
        })
    }

    /// Calls an RPC that takes a stream and replies with one.
    pub fn streaming<R, Req, Res>(
        &self,
        index: usize,
        request: Request<R>,
    ) -> StreamingCall<ResponseStream<Res>>
    where
        R: tokio_stream::Stream<Item = Req> + Send + 'static,
        Req: Message + Send + Sync + 'static,
        Res: Message + Default + Send + Sync + 'static,
    {
        self.with_method(index, |method| {
            let (mut grpc, path, request) = self.timed(method, request);
            Ok(StreamingCall::plain(
                async move { grpc.streaming(request, path, ProstCodec::default()).await },
            ))
        })
    }

    /// A call of the method of that index, as its settings are now.
    fn with_method<R: Send + 'static>(
        &self,
        index: usize,
        call: impl FnOnce(&Method) -> Result<StreamingCall<R>, Status>,
    ) -> StreamingCall<R> {
        let call = self.methods.load().get(index).ok_or_else(unknown_method).and_then(call);
        call.unwrap_or_else(|status| StreamingCall::new(ready(Err(status))))
    }

    /// tonic's client over a channel that adds the settings' deadline.
    fn timed<M>(
        &self,
        method: &Method,
        mut request: Request<M>,
    ) -> (tonic::client::Grpc<Timed<T>>, PathAndQuery, Request<M>) {
        if let Some(description) = method.config.example().and_then(|example| example.description.clone()) {
            request.extensions_mut().insert(description);
        }
        let called = MethodMatch { config: Arc::clone(&method.config), kind: Some(method.kind) };
        let timed = Timed::new(self.channel.clone(), called);
        (method.codec.tonic(timed), method.path.clone(), request)
    }
}

/// A request of one message as it is sent, by which settings, and whether the report of a success is wanted even if one attempt
/// was enough.
#[inline]
fn encoded<Req>(
    method: &Method,
    request: Request<Req>,
    deadline: Option<Instant>,
) -> Result<(Encoded, Arc<MethodConfig>, bool), Status>
where
    Req: Message + Send + Sync + 'static,
{
    let codec = &method.codec;
    let (metadata, mut extensions, message) = request.into_parts();
    let options = (!extensions.is_empty()).then(|| extensions.remove::<CallOptions>()).flatten();
    let mut headers = metadata.into_headers();
    let config = method.config.of_call(options.as_ref());
    let asked = options.as_ref().and_then(|options| options.report);
    let reports = asked.unwrap_or_else(|| method.config.shared.options.wants_reports());
    if let Some(status) = method.config.headers.refusal(&headers) {
        return Err(status);
    }
    let message = if codec.is_plain() {
        codec.encode(&message)?
    } else {
        let message = Bytes::from(message.encode_to_vec());
        add_params(method, &mut headers, || &message);
        let metadata = MetadataMap::from_headers(headers);
        let request = Request::from_parts(metadata, extensions, message);
        let (parts, message) = codec.encode_by_tonic(request, method.path.clone())?;
        (headers, extensions) = (parts.headers, parts.extensions);
        message
    };
    let config = config.unwrap_or_else(|| Arc::clone(&method.config));
    let counts_attempts = config.headers.counts();
    let added = Added::of(headers, extensions, earlier(inbound_deadline(), deadline), counts_attempts);
    Ok((Encoded::new(message, added), config, reports))
}

/// Adds the parameters of a message that is going to be compressed, unless the caller has.
#[cold]
fn add_params<B: AsRef<[u8]>>(method: &Method, headers: &mut HeaderMap, message: impl FnOnce() -> B) {
    if method.config.headers.name_by_message().is_some() && !headers.contains_key(X_GOOG_REQUEST_PARAMS) {
        let value = method.config.headers.value_by_message(message().as_ref());
        value.and_then(|value| headers.insert(X_GOOG_REQUEST_PARAMS, value));
    }
}

/// The resumption that the caller has given the request.
fn resumption_of(extensions: &mut Extensions) -> Option<Resumption> {
    let TakenBy(take_over) = extensions.remove::<TakenBy>()?;
    (&*take_over as &dyn Any).downcast_ref::<Resumption>().cloned()
}

/// The resumption can't be used.
fn other_types<Q, M>(resumption: &Resumption) -> Status {
    let [request, response] = resumption.type_names();
    let (own_request, own_response) = (type_name::<Q>(), type_name::<M>());
    Status::invalid_argument(format!(
        "the resumption is for {request} and {response}, but the RPC has {own_request} and {own_response}"
    ))
}

fn unknown_method() -> Status {
    Status::internal("the client has no method of that index")
}

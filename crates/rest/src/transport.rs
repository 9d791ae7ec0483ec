//! A transport of generated clients that speaks HTTP and JSON.

use crate::headers::{grpc_headers, http_headers};
use crate::http_service::RestHttpService;
use crate::methods::{Methods, RestMethod};
use crate::options::RestOptions;
use crate::problem::{RestError, broken, refused};
use crate::request::{HttpParts, Unfit};
use crate::response::{HttpBytes, Reading, RestBody, StreamBody, read_failure};
use bytes::{Buf as _, Bytes};
use gax_http::__private::Part;
use gax_retry::Code;
use http::header::CONTENT_TYPE;
use http::{Method, Uri};
use http_body_util::BodyExt as _;
use prost_reflect::{DynamicMessage, FieldDescriptor};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tonic::Status;
use tonic::body::Body;
use tower_service::Service;

/// A transport for generated clients that makes an HTTP request with JSON for each attempt, by the `google.api.http` rule of its
/// RPC.
///
/// It replaces a channel: under a generated client, whose `rest` function creates one, or under any tonic client and a
/// `tonic_gax::RetryLayer`. The transport itself makes no retries.
///
/// * The path has the fields that its template names, the body those that the rule says, the query all others that are set. JSON
///   has lower camel names, enums by name.
/// * Any 2xx is success. Otherwise code, message and details come from a `google.rpc.Status` in the body; without a code there,
///   the HTTP status decides ([`Code::from_http_status`]). `Retry-After` becomes a `google.rpc.RetryInfo`.
/// * A stream of responses is a JSON array, or one object after the other, which are passed on as they arrive. An error may
///   follow.
/// * A connection that fails is `UNAVAILABLE`, a response that can't be read `INTERNAL`, and final; see
///   [`RestOptions::compatibility`].
/// * A call that REST can't express ends before anything is sent: RPCs with a stream of requests or without a rule
///   with `UNIMPLEMENTED`, a request that fits none of the bindings with `INVALID_ARGUMENT`.
///
/// # Cancel safety
///
/// Dropping a call drops the HTTP request.
///
/// # Examples
///
/// ```
/// use gax_rest::{RestError, RestOptions, RestTransport};
/// use hyper_util::client::legacy::Client;
/// use hyper_util::rt::TokioExecutor;
///
/// # fn example(descriptors: &[u8]) -> Result<(), RestError> {
/// let http = Client::builder(TokioExecutor::new()).build_http::<tonic::body::Body>();
/// let options = RestOptions::new().origin(http::Uri::from_static("http://localhost:8080"));
/// let transport = RestTransport::new(http, descriptors, options)?;
/// # drop(transport);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct RestTransport<S> {
    http: S,
    shared: Arc<Shared>,
}

/// The part that clones share.
struct Shared {
    methods: Result<Methods, RestError>,
    options: RestOptions,
}

// Short: what it is set to.
gax_text::short_debug! {
    self: [S: fmt::Debug] RestTransport<S> { http: self.http, options: self.shared.options }
}

impl<S> RestTransport<S> {
    /// A transport for the services of an encoded `FileDescriptorSet` with all imports, as tonic's build script writes it with
    /// `file_descriptor_set_path`. The messages of `google.protobuf` and `google.rpc` need not be there.
    ///
    /// # Errors
    ///
    /// The bytes are no descriptors, a rule can't be used, or the origin has no scheme or no host.
    pub fn new(http: S, descriptors: &[u8], options: RestOptions) -> Result<Self, RestError> {
        options.check()?;
        let methods = Methods::new(descriptors, &options.descriptors)?.with_rules(&options.rules)?;
        Ok(Self::of(http, Ok(methods), options))
    }

    pub(super) fn of(http: S, methods: Result<Methods, RestError>, options: RestOptions) -> Self {
        Self { http, shared: Arc::new(Shared { methods, options }) }
    }
}

impl<S: RestHttpService> Service<http::Request<Body>> for RestTransport<S> {
    type Response = http::Response<RestBody>;
    type Error = Status;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Status>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Status>> {
        let is_java = self.shared.options.is_java();
        self.http.poll_ready(cx).map_err(|error| broken(error.into(), Part::Readiness, is_java))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        // The one that is ready, and not its clone.
        let clone = self.http.clone();
        let http = std::mem::replace(&mut self.http, clone);
        let shared = Arc::clone(&self.shared);
        Box::pin(async move { shared.run(http, request).await })
    }
}

impl Shared {
    async fn run<S: RestHttpService>(
        &self,
        mut http: S,
        request: http::Request<Body>,
    ) -> Result<http::Response<RestBody>, Status> {
        let methods = self.methods.as_ref().map_err(|error| refused(Code::Internal, error.to_string()))?;
        let (parts, body) = request.into_parts();
        let (prefix, method) = method(methods, parts.uri.path())?;
        let message = DynamicMessage::decode(method.input.clone(), read_message(body).await?)
            .map_err(|error| refused(Code::InvalidArgument, format!("the request can't be read: {error}")))?;
        let (verb, transcoded, field) = self.transcode(method, &message)?;
        let mut request = http::Request::new(match transcoded.body {
            Some((ref body, _)) => Body::new(http_body_util::Full::new(body.clone())),
            None => Body::empty(),
        });
        *request.uri_mut() = self.uri(method, &parts.uri, prefix, &transcoded.path_and_query)?;
        let is_overridden = self.options.patch_by_override && verb == Method::PATCH;
        let is_head = verb == Method::HEAD;
        let verb = if is_overridden { Method::POST } else { verb };
        let has_body = transcoded.body.is_some();
        *request.headers_mut() =
            http_headers(parts.headers, &verb, has_body, self.options.gzip, is_overridden);
        if let Some((_, Some(kind))) = transcoded.body {
            request.headers_mut().insert(CONTENT_TYPE, kind);
        }
        *request.method_mut() = verb;
        *request.extensions_mut() = parts.extensions;
        let is_java = self.options.is_java();
        let response = http.call(request).await;
        let response = response.map_err(|error| broken(error.into(), Part::Head, is_java))?;
        let reading = Reading { method: Arc::clone(method), field, is_head, is_java };
        self.response::<S>(methods, response, reading).await
    }

    /// The request of the first binding that fits, and the field that its response is.
    fn transcode(
        &self,
        method: &RestMethod,
        message: &DynamicMessage,
    ) -> Result<(Method, HttpParts, Option<FieldDescriptor>), Status> {
        let name = &method.name;
        let numeric_enums = self.options.numeric_enums.unwrap_or(method.default_origin.is_some());
        let mut why = None;
        // gax-java sends a request that fits none by the first.
        let forced = self.options.is_java().then(|| method.bindings.first()).flatten();
        let bindings = method.bindings.iter().map(|binding| (binding, false));
        for (binding, is_forced) in bindings.chain(forced.map(|binding| (binding, true))) {
            match binding.parts(message, numeric_enums, is_forced) {
                Ok(parts) => return Ok((binding.verb().clone(), parts, binding.response().cloned())),
                Err(Unfit::Path(problem)) => {
                    why.get_or_insert(problem);
                }
                Err(Unfit::Message(problem)) => {
                    let message = format!("the request can't be sent over REST by {name}: {problem}");
                    return Err(refused(Code::InvalidArgument, message));
                }
            }
        }
        Err(match why {
            Some(why) => {
                let message = format!("the request fits no google.api.http binding of {name}: {why}");
                refused(Code::InvalidArgument, message)
            }
            None => refused(
                Code::Unimplemented,
                format!("{name} has no google.api.http rule, so it can't be called over REST"),
            ),
        })
    }

    /// Where the request goes.
    fn uri(&self, method: &RestMethod, own: &Uri, prefix: &str, path: &str) -> Result<Uri, Status> {
        let has_own = own.scheme().is_some() && own.authority().is_some();
        let origin =
            if has_own { None } else { self.options.origin.as_ref().or(method.default_origin.as_ref()) };
        let (scheme, authority, prefix) = match origin {
            Some(origin) => (origin.scheme(), origin.authority(), origin.path().trim_end_matches('/')),
            None => (own.scheme(), own.authority(), prefix),
        };
        let (Some(scheme), Some(authority)) = (scheme, authority) else {
            let message =
                "the request has no origin: set one with RestOptions::origin or the client's with_origin";
            return Err(refused(Code::InvalidArgument, message));
        };
        let built = Uri::builder()
            .scheme(scheme.clone())
            .authority(authority.clone())
            .path_and_query(format!("{prefix}{path}"))
            .build();
        built.map_err(|error| {
            refused(
                Code::InvalidArgument,
                format!("the request has no valid URI by {}: {error}", method.name),
            )
        })
    }

    /// The gRPC response that an HTTP response is.
    async fn response<S: RestHttpService>(
        &self,
        methods: &Methods,
        response: http::Response<S::ResponseBody>,
        reading: Reading,
    ) -> Result<http::Response<RestBody>, Status> {
        let limit = self.options.max_response_bytes;
        let (mut parts, body) = response.into_parts();
        let bytes = HttpBytes::new::<S>(&parts.headers, body, reading.is_java);
        let body = if !parts.status.is_success() {
            let (body, is_java) = (bytes.ok(), reading.is_java);
            let failed = read_failure(parts.status, &parts.headers, body, methods.pool(), is_java).await;
            parts.headers = failed.into_headers(grpc_headers(parts.headers));
            RestBody::default()
        } else if reading.method.streams_responses {
            parts.headers = grpc_headers(parts.headers);
            RestBody::stream(StreamBody::new(bytes?, reading, methods.pool().clone(), limit))
        } else {
            let body = bytes?.read(limit).await?;
            let message = reading.unary(parts.status, parts.headers.get(CONTENT_TYPE), &body)?;
            parts.headers = grpc_headers(parts.headers);
            RestBody::message(message)
        };
        parts.status = http::StatusCode::OK;
        parts.version = http::Version::HTTP_2;
        Ok(http::Response::from_parts(parts, body))
    }
}

/// The RPC of a gRPC path, and what is before it.
fn method<'a, 'b>(methods: &'a Methods, path: &'b str) -> Result<(&'b str, &'a Arc<RestMethod>), Status> {
    let slash = path.rfind('/').and_then(|last| path.get(..last)?.rfind('/'));
    let (prefix, name) = slash.and_then(|slash| path.split_at_checked(slash)).unwrap_or(("", path));
    let name = name.trim_start_matches('/');
    let Some(method) = methods.get(name) else {
        return Err(refused(
            Code::Unimplemented,
            format!("the descriptors of the REST transport have no RPC {name}"),
        ));
    };
    if method.streams_requests {
        return Err(refused(
            Code::Unimplemented,
            format!("{} takes a stream of requests, which REST does not support", method.name),
        ));
    }
    Ok((prefix, method))
}

/// Reads the one message of a request, without its prefix.
async fn read_message(body: Body) -> Result<Bytes, Status> {
    let mut frames = body.collect().await?.to_bytes();
    let prefix = frames.split_to(frames.len().min(5));
    let (compressed, length) = match *prefix {
        [compressed, a, b, c, d] => (compressed, u32::from_be_bytes([a, b, c, d])),
        _ => return Err(refused(Code::Internal, "the request has no message")),
    };
    if compressed != 0 {
        return Err(refused(
            Code::Unimplemented,
            "the request is compressed, which REST does not support: remove send_compressed",
        ));
    }
    if usize::try_from(length) != Ok(frames.remaining()) {
        return Err(refused(Code::Internal, "the request is not one message"));
    }
    Ok(frames)
}

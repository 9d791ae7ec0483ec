//! The services that an operation can run over.

use bytes::Bytes;
use http_body::Body as HttpBody;
use std::any::TypeId;
use std::convert::Infallible;
use tonic::Status;
use tonic::body::Body;
use tonic::client::GrpcService;
use tonic::codegen::StdError;

/// A gRPC service that attempts are sent over: a tonic [`Channel`](tonic::transport::Channel), the same
/// with tower layers or interceptors around it, or any other service of that shape.
///
/// It is implemented for everything that qualifies, so you never implement it yourself. If a service doesn't qualify,
/// it usually isn't `Clone`, which it has to be because each attempt may need its own: put a
/// [buffer](https://docs.rs/tower/latest/tower/buffer/) between it and the client or layer.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't carry the attempts of a gRPC call",
    label = "not a `GrpcTransport`",
    note = "a transport is a `tower::Service<http::Request<tonic::body::Body>>` that is `Clone`, `Send` and `'static`, \
            whose future and response body are `Send`, and whose errors turn into a boxed error",
    note = "to make a service `Clone`, put a `tower::buffer::Buffer` around it"
)]
pub trait GrpcTransport:
    GrpcService<
        Body,
        Error: Into<StdError> + Send + 'static,
        Future: Send,
        ResponseBody: HttpBody<Data = Bytes, Error: Into<StdError>> + Send + 'static,
    > + Clone
    + Send
    + 'static
{
}

#[diagnostic::do_not_recommend]
impl<S> GrpcTransport for S where
    S: GrpcService<
            Body,
            Error: Into<StdError> + Send + 'static,
            Future: Send,
            ResponseBody: HttpBody<Data = Bytes, Error: Into<StdError>> + Send + 'static,
        > + Clone
        + Send
        + 'static
{
}

/// Returns whether a service is tonic's bare channel. Nothing lies below it that could look for anything in a request's extensions.
#[inline]
pub(crate) fn is_bare_channel<S: 'static>() -> bool {
    TypeId::of::<S>() == TypeId::of::<tonic::transport::Channel>()
}

/// Returns whether a connection of our own may lie below a service: its errors come up as they are, or boxed. A link to it in each
/// request takes two allocations.
#[inline]
pub(crate) fn may_have_connections<S: GrpcService<Body, Error: 'static>>() -> bool {
    let error = TypeId::of::<S::Error>();
    let others =
        [TypeId::of::<tonic::transport::Error>(), TypeId::of::<Status>(), TypeId::of::<Infallible>()];
    !others.contains(&error)
}

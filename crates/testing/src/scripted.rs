//! A gRPC service that follows a script.

use super::log::Watch;
use super::network::wait;
use super::server::{Empty, GrpcHandler};
use super::{BodyPart, Break, Log, Reply, Script, Step};
use futures_util::StreamExt as _;
use futures_util::stream::unfold;
use http::{HeaderMap, HeaderValue, StatusCode};
use http_body::Frame;
use http_body_util::{BodyExt as _, Full, StreamBody};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::{Future, pending};
use std::pin::Pin;
use std::task::{Context, Poll};
use tonic::Status;
use tonic::body::Body;
use tonic::server::NamedService;
use tower_service::Service;

/// A service that replies by a script and records requests in a log. Over a server of tonic's own a
/// script's resets and breaks are empty responses: [`VirtualServer`](super::VirtualServer) carries them out.
#[derive(Debug, Clone)]
pub struct Scripted<S> {
    inner: S,
    script: Script,
    log: Log,
}

impl<S> Scripted<S> {
    /// The script around a real service.
    #[must_use]
    pub fn new(inner: S, script: Script, log: Log) -> Self {
        Self { inner, script, log }
    }
}

impl Scripted<Empty> {
    /// The script around a service that replies to everything with an empty message.
    #[must_use]
    pub fn empty(script: Script, log: Log) -> Self {
        Self::new(Empty, script, log)
    }
}

impl<S: NamedService> NamedService for Scripted<S> {
    const NAME: &'static str = S::NAME;
}

type Served = Result<http::Response<Body>, Infallible>;

impl<S: GrpcHandler> Service<http::Request<Body>> for Scripted<S> {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Served> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let (mut watch, Step { after, reply }) =
            self.log.arrive(&self.script, request.uri().path(), request.headers());
        let mut inner = self.inner.clone();
        Box::pin(async move {
            let request = match reply {
                Reply::Pass => request,
                _ => read(request, &watch).await,
            };
            wait(after).await;
            match reply {
                Reply::Serve | Reply::Pass => {
                    let response = inner.call(request).await;
                    watch.replied();
                    response
                }
                Reply::Status(status) => {
                    watch.replied();
                    Ok(status.into_http())
                }
                Reply::Http(status, headers) => {
                    watch.replied();
                    let mut response = http::Response::new(Body::empty());
                    *response.status_mut() =
                        StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
                    *response.headers_mut() = headers;
                    Ok(response)
                }
                Reply::Play(headers, beats) => Ok(played(headers, beats, watch)),
                Reply::Hang => pending().await,
                Reply::Break(how) => {
                    watch.replied();
                    // No response: the code that serves the connection sees the result.
                    let mut response = http::Response::new(Body::empty());
                    response.extensions_mut().insert(how);
                    Ok(response)
                }
            }
        })
    }
}

async fn read(request: http::Request<Body>, watch: &Watch) -> http::Request<Body> {
    let (parts, mut body) = request.into_parts();
    if watch.drops_bodies() {
        while let Some(frame) = body.frame().await {
            if frame.is_err() {
                pending::<()>().await;
            }
        }
        return http::Request::from_parts(parts, Body::empty());
    }
    let bytes = match body.collect().await {
        Ok(body) => body.to_bytes(),
        // The caller is gone, so the reply is dropped.
        Err(_) => pending().await,
    };
    watch.read(bytes.clone());
    http::Request::from_parts(parts, Body::new(Full::new(bytes)))
}

/// A response whose body plays its parts one after the other.
fn played(headers: HeaderMap, beats: Vec<BodyPart>, watch: Watch) -> http::Response<Body> {
    let body = unfold((VecDeque::from(beats), watch), |(mut beats, mut watch)| async move {
        let frame = loop {
            match beats.pop_front() {
                None => {
                    watch.replied();
                    return None;
                }
                Some(BodyPart::Wait(time)) => wait(time).await,
                Some(BodyPart::Data(data)) => break Ok(Frame::data(data)),
                Some(BodyPart::Trailers(trailers)) => {
                    watch.replied();
                    break Ok(Frame::trailers(trailers));
                }
                Some(BodyPart::Hang) => pending().await,
                Some(BodyPart::Break(how)) => {
                    if !matches!(how, Break::GoAway { .. }) {
                        watch.replied();
                    }
                    break Err(Status::from(how));
                }
            }
        };
        Some((frame, (beats, watch)))
    });
    let mut response = http::Response::new(Body::new(StreamBody::new(body.fuse())));
    *response.headers_mut() = headers;
    response.headers_mut().insert("content-type", HeaderValue::from_static("application/grpc"));
    response
}

//! The request of tonic's own client, buffered so that it can be replayed.

use crate::grpc::methods::MethodConfig;
use crate::grpc::request::buffer::{PartialRead, Read, RequestBuffer};
use crate::grpc::request::replayable::{ReplayableRequest, one_frame, shrink, too_large};
use crate::grpc::request::stream::RequestStream;
use crate::grpc::template::{AttemptTimeout, ExtraHeaders, Template, is_described, path_of};
use bytes::Bytes;
use gax_driver::Note;
use gax_retry::MethodKind;
use gax_retry::operation::Replayable;
use http::uri::PathAndQuery;
use http::{HeaderName, HeaderValue};
use std::task::{Context, Poll, Waker, ready};
use tonic::Status;
use tonic::body::Body;

/// How responses may be compressed.
const ACCEPT_ENCODING: HeaderName = HeaderName::from_static("grpc-accept-encoding");

/// A request that came through the layer.
#[derive(Debug)]
pub struct CapturedRequest {
    message: Bytes,
    source: Source,
}

/// The source that attempts are written from.
#[derive(Debug)]
enum Source {
    /// A message.
    Message(Template),
    /// A stream, of which each attempt is sent what was sent before.
    Stream(Box<Streamed>),
    /// A request that has yet to be read.
    Unread(Box<Unread>),
    /// A stream, which is sent as it comes, once.
    Once(Box<Once>),
}

/// A stream of requests that can be sent again.
#[derive(Debug)]
struct Streamed {
    template: Template,
    stream: RequestStream,
}

/// A request whose body has not come to its end.
#[derive(Debug)]
struct Unread {
    request: http::Request<Body>,
    extra: Option<ExtraHeaders>,
    buffer: RequestBuffer,
    /// `true` if it is known to be a stream, of which the first message is wanted.
    is_stream: bool,
}

/// A request that can't be sent again.
#[derive(Debug)]
struct Once {
    path: PathAndQuery,
    is_described: bool,
    note: Note,
    request: Option<http::Request<Body>>,
}

impl CapturedRequest {
    /// Keeps of a request what it takes to send it again, if it can be. `extra` has the headers that it has in addition to those
    /// of its method's example; `None`: it is not like that.
    ///
    /// # Errors
    ///
    /// Its body can't be read.
    #[inline]
    pub fn of(
        request: &mut http::Request<Body>,
        extra: Option<ExtraHeaders>,
        kind: Option<MethodKind>,
        config: &MethodConfig,
    ) -> Result<Self, Status> {
        if kind.is_some_and(MethodKind::streams_requests) {
            if config.headers.name_by_message().is_some() {
                return Self::first_message(request, extra, config);
            }
            return Ok(Self::stream(request, extra, Note::REQUEST_IS_A_STREAM, config));
        }
        match RequestBuffer::message_of(request.body_mut(), kind.is_some(), &config.shared.replay) {
            Ok(message) => Ok(Self::of_message(request, extra, message)),
            Err(partial) => Self::read_in_part(request, extra, partial, config),
        }
    }

    #[inline]
    fn of_message(request: &http::Request<Body>, extra: Option<ExtraHeaders>, message: Bytes) -> Self {
        Self { message, source: Source::Message(Template::of(request, extra)) }
    }

    /// A request whose body is not just one message that is all there: it may be a stream, or not be there yet.
    #[cold]
    fn read_in_part(
        request: &mut http::Request<Body>,
        extra: Option<ExtraHeaders>,
        (buffer, read): PartialRead,
        config: &MethodConfig,
    ) -> Result<Self, Status> {
        Ok(match read {
            Poll::Ready(Ok(Read::Whole)) => Self::of_message(request, extra, buffer.into_message()),
            Poll::Ready(Ok(Read::Stream(note))) => {
                *request.body_mut() = buffer.into_body();
                Self::stream(request, extra, note, config)
            }
            Poll::Ready(Err(status)) => return Err(status),
            // More is to come: it is read when the operation is polled.
            Poll::Pending => {
                let unread = Unread { request: std::mem::take(request), extra, buffer, is_stream: false };
                Self { message: Bytes::new(), source: Source::Unread(Box::new(unread)) }
            }
        })
    }

    /// A stream of requests, whose first message says what is in its headers.
    #[cold]
    fn first_message(
        request: &mut http::Request<Body>,
        extra: Option<ExtraHeaders>,
        config: &MethodConfig,
    ) -> Result<Self, Status> {
        let mut buffer = RequestBuffer::of_first_message(std::mem::take(request.body_mut()));
        match buffer.poll(usize::MAX, &mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok(_)) => Ok(Self::after_first(request, extra, buffer, config)),
            Poll::Ready(Err(status)) => Err(status),
            Poll::Pending => {
                let unread = Unread { request: std::mem::take(request), extra, buffer, is_stream: true };
                Ok(Self { message: Bytes::new(), source: Source::Unread(Box::new(unread)) })
            }
        }
    }

    /// A stream of requests whose first message has been read.
    fn after_first(
        request: &mut http::Request<Body>,
        extra: Option<ExtraHeaders>,
        buffer: RequestBuffer,
        config: &MethodConfig,
    ) -> Self {
        let first = buffer.bytes();
        config.headers.write_by_message(request.headers_mut(), Some(&first));
        let extra = extra.map(|extra| {
            let Some(own) = config.headers.name_by_message() else { return extra };
            let is_other = |(name, _): &(HeaderName, HeaderValue)| name != own;
            let values = request.headers().get_all(own).iter();
            let values = values.map(|value| (own.clone(), value.clone()));
            let all: Box<[_]> = extra.into_iter().flatten().filter(is_other).chain(values).collect();
            (!all.is_empty()).then_some(all)
        });
        *request.body_mut() = buffer.into_body();
        Self::stream(request, extra, Note::REQUEST_IS_A_STREAM, config)
    }

    /// A stream of requests. It is buffered as it is sent if that is asked for, and possible by the note.
    #[cold]
    fn stream(
        request: &mut http::Request<Body>,
        extra: Option<ExtraHeaders>,
        note: Note,
        config: &MethodConfig,
    ) -> Self {
        let memory = config.shared.replay_memory.as_ref().filter(|_| note == Note::REQUEST_IS_A_STREAM);
        let Some(memory) = memory else {
            return Self::once(request, note);
        };
        let template = Template::of(request, extra);
        let stream = RequestStream::new(std::mem::take(request.body_mut()), &config.shared.replay, memory);
        let source = Source::Stream(Box::new(Streamed { template, stream }));
        Self { message: Bytes::new(), source }
    }

    /// A request that can't be sent again.
    #[cold]
    fn once(request: &http::Request<Body>, note: Note) -> Self {
        let is_described = is_described(request.extensions());
        let once = Once { path: path_of(request.uri()), is_described, note, request: None };
        Self { message: Bytes::new(), source: Source::Once(Box::new(once)) }
    }

    /// Its message, with the prefix, if it is one.
    pub fn message(&self) -> Option<&Bytes> {
        matches!(self.source, Source::Message(_)).then_some(&self.message)
    }

    /// Returns whether it is sent as it comes.
    #[inline]
    pub fn is_stream(&self) -> bool {
        match &self.source {
            Source::Message(_) => false,
            Source::Stream(_) | Source::Once(_) => true,
            Source::Unread(unread) => unread.is_stream,
        }
    }

    /// Why a request that is not a message is sent once only, if it is.
    #[cold]
    fn note_of_stream(&self) -> Option<Note> {
        match &self.source {
            Source::Message(_) | Source::Unread(_) => None,
            Source::Stream(streamed) => streamed.stream.over_limit(),
            Source::Once(once) => Some(once.note),
        }
    }

    /// The body has been read, or shows itself to be a stream.
    fn read(&mut self, unread: Unread, read: &Read, config: &MethodConfig) {
        let Unread { mut request, extra, buffer, is_stream } = unread;
        if is_stream {
            *self = Self::after_first(&mut request, extra, buffer, config).holding(request);
            return;
        }
        *self = match read {
            Read::Whole => Self::of_message(&request, extra, buffer.into_message()),
            Read::Stream(note) => {
                let once = Self::once(&request, *note);
                *request.body_mut() = buffer.into_body();
                once.holding(request)
            }
        };
    }

    fn holding(mut self, request: http::Request<Body>) -> Self {
        self.put_off(request);
        self
    }
}

impl ReplayableRequest for CapturedRequest {
    fn path(&self, config: &MethodConfig) -> PathAndQuery {
        match &self.source {
            Source::Message(template) => template.path(config.example()),
            Source::Stream(streamed) => streamed.template.path(config.example()),
            Source::Unread(unread) => path_of(unread.request.uri()),
            Source::Once(once) => once.path.clone(),
        }
    }

    fn is_described(&self, config: &MethodConfig) -> bool {
        match &self.source {
            Source::Message(template) => template.is_described(config.example()),
            Source::Stream(streamed) => streamed.template.is_described(config.example()),
            Source::Unread(unread) => is_described(unread.request.extensions()),
            Source::Once(once) => once.is_described,
        }
    }

    #[inline]
    fn is_prepared(&self) -> bool {
        !matches!(self.source, Source::Unread(_))
    }

    fn prepare(&mut self, config: &MethodConfig, cx: &mut Context<'_>) -> Poll<Result<(), Status>> {
        let Source::Unread(unread) = &mut self.source else {
            return Poll::Ready(Ok(()));
        };
        let limit = if unread.is_stream { usize::MAX } else { config.shared.replay.max_replay_bytes };
        let read = ready!(unread.buffer.poll(limit, cx))?;
        let empty = Unread {
            request: http::Request::new(Body::empty()),
            extra: None,
            buffer: RequestBuffer::of(Body::empty(), true),
            is_stream: false,
        };
        let unread = std::mem::replace(&mut **unread, empty);
        self.read(unread, &read, config);
        Poll::Ready(Ok(()))
    }

    #[inline]
    fn write(
        &mut self,
        into: &mut http::Request<Body>,
        config: &MethodConfig,
        attempt: u32,
        timeout: AttemptTimeout,
        is_watched: bool,
    ) {
        let (template, body) = match &mut self.source {
            Source::Message(template) => (&*template, one_frame(&self.message)),
            Source::Stream(streamed) => (&streamed.template, streamed.stream.body(attempt)),
            // Such a request is sent once: the caller's own, which may have had to wait.
            Source::Once(once) => {
                if let Some(request) = once.request.take() {
                    *into = request;
                }
                config.headers.set(into.headers_mut(), attempt, timeout, false);
                return;
            }
            // One that was not read is never sent.
            Source::Unread(_) => return,
        };
        template.write(into, config.example(), &config.headers, attempt, timeout, is_watched);
        let message = (!self.message.is_empty()).then_some(&*self.message);
        config.headers.write_by_message(into.headers_mut(), message);
        *into.body_mut() = body;
    }

    fn replace(&mut self, message: Bytes) {
        self.message = message;
    }

    fn refuse_compression(&mut self) {
        if let Source::Message(template) = &mut self.source {
            template.remove(&ACCEPT_ENCODING);
        }
    }

    fn put_off(&mut self, request: http::Request<Body>) {
        if let Source::Once(once) = &mut self.source {
            once.request = Some(request);
        }
    }

    #[inline]
    fn note(&self, config: &MethodConfig) -> Option<Note> {
        if let Source::Message(_) | Source::Unread(_) = &self.source {
            too_large(&self.message, config)
        } else {
            self.note_of_stream()
        }
    }

    fn replayable(&self, config: &MethodConfig, attempt: u32) -> Replayable {
        match self.committed() {
            Some(committed) if committed == attempt => Replayable::OverLimit,
            _ => self.note(config).is_none().into(),
        }
    }

    #[inline]
    fn watch(&self, attempt: u32, cx: &Context<'_>) -> Option<Note> {
        match &self.source {
            Source::Stream(streamed) => streamed.stream.watch(attempt, cx.waker()),
            _ => None,
        }
    }

    fn committed(&self) -> Option<u32> {
        match &self.source {
            Source::Stream(streamed) => streamed.stream.committed(),
            _ => None,
        }
    }

    fn ended(&self, attempt: u32) {
        if let Source::Stream(streamed) = &self.source {
            streamed.stream.ended(attempt);
        }
    }

    #[inline]
    fn replied(&self, attempt: u32) -> Option<Note> {
        match &self.source {
            Source::Stream(streamed) => {
                streamed.stream.replied(attempt);
                streamed.stream.over_limit()
            }
            _ => None,
        }
    }

    fn error(&self) -> Option<Status> {
        match &self.source {
            Source::Stream(streamed) => streamed.stream.error(),
            _ => None,
        }
    }

    fn shrink(&mut self) {
        shrink(&mut self.message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grpc::methods::SharedState;
    use crate::grpc::template::Inspection;
    use gax_retry::{Compatibility, MethodSettings};
    use http::{HeaderMap, HeaderValue, Method, Uri, Version};
    use std::sync::Arc;
    use tonic::GrpcMethod;

    fn request() -> http::Request<Body> {
        let request = http::Request::post("http://host/pkg.Service/Method")
            .version(Version::HTTP_2)
            .header("te", "trailers")
            .header("content-type", "application/grpc")
            .header("grpc-timeout", "1S")
            .header("x-one", "1")
            .header("x-many", "a")
            .header("x-many", "b")
            .extension(GrpcMethod::new("pkg.Service", "Method"));
        request.body(Body::empty()).unwrap()
    }

    /// A config of one method, whose attempts don't carry their number.
    fn config() -> MethodConfig {
        let shared = Arc::new(SharedState::new(Compatibility::GaxJava));
        MethodConfig::new(&MethodSettings::default(), MethodKind::Unary, shared).of_one_method()
    }

    fn seconds(value: &'static str) -> AttemptTimeout {
        AttemptTimeout::Own(Some(HeaderValue::from_static(value)))
    }

    fn captured(request: &http::Request<Body>, config: &MethodConfig) -> CapturedRequest {
        let extra = Inspection::of(request, config.example.as_ref(), config.headers.counts(), true).extra;
        CapturedRequest::of_message(request, extra, Bytes::from_static(b"body"))
    }

    fn written(
        captured: &mut CapturedRequest,
        config: &MethodConfig,
        attempt: u32,
        timeout: AttemptTimeout,
        is_watched: bool,
    ) -> http::Request<Body> {
        let mut request = http::Request::default();
        captured.write(&mut request, config, attempt, timeout, is_watched);
        request
    }

    fn is_like_the_example(captured: &CapturedRequest) -> bool {
        matches!(captured.source, Source::Message(Template::Example(_)))
    }

    fn described(request: &http::Request<Body>) -> Option<&str> {
        request.extensions().get::<GrpcMethod<'static>>().map(GrpcMethod::method)
    }

    fn sorted(headers: &HeaderMap) -> Vec<(String, String)> {
        let mut list: Vec<_> = headers
            .iter()
            .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
            .collect();
        list.sort();
        list
    }

    /// The first request sets the example that others are compared with; a config for several methods has none.
    #[test]
    fn every_attempt_is_written_alike_but_for_its_timeout() {
        let mut of_several = config();
        of_several.example = None;
        let uris = [
            "http://host/pkg.Service/Method",
            "/pkg.Service/Method",
            "http://HOST/pkg.Service/Method",
            "host:1",
        ];
        for example in uris {
            let config = config();
            let mut first = request();
            *first.uri_mut() = Uri::from_static(example);
            assert!(written_alike(first, &config));
            for uri in uris {
                let mut other = request();
                *other.uri_mut() = Uri::from_static(uri);
                assert_eq!(written_alike(other, &config), uri == example, "{uri}");
                let mut undescribed = http::Request::new(Body::empty());
                *undescribed.uri_mut() = Uri::from_static(uri);
                *undescribed.version_mut() = Version::HTTP_2;
                *undescribed.method_mut() = Method::POST;
                undescribed.headers_mut().insert("te", HeaderValue::from_static("trailers"));
                undescribed
                    .headers_mut()
                    .insert("content-type", HeaderValue::from_static("application/grpc"));
                assert!(!written_alike(undescribed, &config));
                let mut renamed = request();
                *renamed.uri_mut() = Uri::from_static(uri);
                renamed.extensions_mut().insert(GrpcMethod::new("pkg.Service", "Renamed"));
                assert!(!written_alike(renamed, &config));
            }
        }
        assert!(!written_alike(request(), &of_several));
    }

    /// Returns whether the request is like the example.
    fn written_alike(first: http::Request<Body>, config: &MethodConfig) -> bool {
        let mut captured = captured(&first, config);
        let is_like = is_like_the_example(&captured);
        assert_eq!(captured.path(config), path_of(first.uri()));
        let mut first = first;
        captured.write(&mut first, config, 1, seconds("5S"), true);
        let second = written(&mut captured, config, 2, seconds("3S"), true);
        let third = written(&mut captured, config, 3, AttemptTimeout::Own(None), true);
        assert_eq!(first.headers()["grpc-timeout"], "5S");
        assert_eq!(second.headers()["grpc-timeout"], "3S");
        assert!(!third.headers().contains_key("grpc-timeout"));
        for other in [&second, &third] {
            assert_eq!(other.uri().to_string(), first.uri().to_string());
            assert_eq!(other.method(), first.method());
            assert_eq!(other.version(), first.version());
            let mut ours = other.headers().clone();
            let mut theirs = first.headers().clone();
            ours.remove("grpc-timeout");
            theirs.remove("grpc-timeout");
            assert_eq!(sorted(&ours), sorted(&theirs));
            assert_eq!(described(other), described(&first));
        }
        if is_like {
            assert_eq!(described(&written(&mut captured, config, 2, seconds("3S"), false)), None);
        }
        is_like
    }

    #[test]
    fn a_request_that_is_not_of_tonic_is_kept_whole() {
        let mut json = request();
        json.headers_mut().insert("content-type", HeaderValue::from_static("application/grpc+json"));
        let mut old = request();
        *old.version_mut() = Version::HTTP_11;
        let mut get = request();
        *get.method_mut() = Method::GET;
        let mut tagged = request();
        tagged.extensions_mut().insert(7_u32);
        for given in [json, old, get, tagged] {
            let mut captured = captured(&given, &config());
            assert!(!is_like_the_example(&captured));
            for attempt in 1..3 {
                let written = written(&mut captured, &config(), attempt, seconds("1S"), true);
                assert_eq!(sorted(written.headers()), sorted(given.headers()));
                assert_eq!((written.version(), written.method()), (given.version(), given.method()));
                assert_eq!(written.extensions().get::<u32>(), given.extensions().get());
            }
        }
    }

    #[test]
    fn a_stream_that_waits_goes_out_once() {
        let mut captured = CapturedRequest::once(&request(), Note::REQUEST_IS_A_STREAM);
        let mut first = request();
        captured.write(&mut first, &config(), 1, seconds("1S"), true);
        captured.put_off(first);
        let written = written(&mut captured, &config(), 1, seconds("1S"), true);
        assert_eq!(sorted(written.headers()), sorted(request().headers()));
        assert_eq!(captured.path(&config()), "/pkg.Service/Method");
    }
}

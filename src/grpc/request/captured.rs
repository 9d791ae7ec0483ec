//! The request of tonic's own client, buffered so that it can be replayed.

use super::buffer::{Read, RequestBuffer};
use super::own_parts::OwnParts;
use super::replayable::{ReplayableRequest, fill, one_frame, path_of, shrink, too_large};
use super::stream::RequestStream;
use crate::grpc::methods::{AttemptTimeout, MethodPlan, Usual};
use crate::operation::Note;
use bytes::Bytes;
use gax_retry::operation::Replayable;
use http::request::Parts;
use http::uri::PathAndQuery;
use std::task::{Context, Poll, ready};
use tonic::Status;
use tonic::body::Body;

/// A request that came through the layer.
#[derive(Debug)]
pub(crate) struct CapturedRequest {
    message: Bytes,
    source: Source,
}

/// What attempts are written from.
#[derive(Debug)]
enum Source {
    /// A message.
    Message(Template),
    /// A stream, of which each attempt is sent what was sent before.
    Stream(Box<Streamed>),
    /// A request that has yet to be read.
    Unread(Box<Unread>),
    /// A stream, which goes out as it comes, once.
    Once(Box<Once>),
}

/// A request but for its body.
#[derive(Debug)]
enum Template {
    /// Of a tonic client's request: in most cases without an allocation.
    Usual(OwnParts),
    /// Any other request.
    Whole(Box<Parts>),
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
    own: Option<OwnParts>,
    buffer: RequestBuffer,
}

/// A request that can't be sent again.
#[derive(Debug)]
struct Once {
    path: PathAndQuery,
    note: Note,
    request: Option<http::Request<Body>>,
}

impl CapturedRequest {
    /// Keeps of a request, whose body has been read, what it takes to send it again, if it can be.
    #[expect(clippy::inline_always, reason = "it is large to move (bench `speed`, instructions)")]
    #[inline(always)]
    pub(crate) fn new(request: &http::Request<Body>, own: Option<OwnParts>, message: Bytes) -> Self {
        Self { message, source: Source::Message(Template::of(request, own)) }
    }

    /// A stream of requests that is buffered as it is sent.
    #[cold]
    pub(crate) fn stream(
        request: &http::Request<Body>,
        own: Option<OwnParts>,
        stream: RequestStream,
    ) -> Self {
        let streamed = Streamed { template: Template::of(request, own), stream };
        Self { message: Bytes::new(), source: Source::Stream(Box::new(streamed)) }
    }

    /// A request that is read when the operation is polled.
    #[cold]
    pub(crate) fn unread(request: http::Request<Body>, own: Option<OwnParts>, buffer: RequestBuffer) -> Self {
        let unread = Unread { request, own, buffer };
        Self { message: Bytes::new(), source: Source::Unread(Box::new(unread)) }
    }

    /// A request that can't be sent again.
    #[cold]
    pub(crate) fn once(request: &http::Request<Body>, note: Note) -> Self {
        let once = Once { path: path_of(request.uri()), note, request: None };
        Self { message: Bytes::new(), source: Source::Once(Box::new(once)) }
    }

    /// Makes the caller's own request that of the first attempt.
    #[expect(clippy::inline_always, reason = "what it is of is known there (bench `speed`, instructions)")]
    #[inline(always)]
    pub(crate) fn complete(
        &mut self,
        plan: &MethodPlan,
        request: &mut http::Request<Body>,
        timeout: AttemptTimeout,
    ) {
        if let Source::Message(_) = &self.source {
            *request.body_mut() = one_frame(&self.message);
        } else if let Source::Stream(streamed) = &self.source {
            *request.body_mut() = streamed.stream.body(1);
        }
        plan.headers.set(request.headers_mut(), 1, timeout);
    }

    /// Why a request that is no message is sent once only, if it is.
    #[cold]
    fn note_of_stream(&self) -> Option<Note> {
        match &self.source {
            Source::Message(_) | Source::Unread(_) => None,
            Source::Stream(streamed) => streamed.stream.over_limit(),
            Source::Once(once) => Some(once.note),
        }
    }

    /// The body has been read, or shows itself to be a stream.
    fn read(&mut self, unread: Unread, read: &Read) {
        let Unread { mut request, own, buffer } = unread;
        *self = match read {
            Read::Whole => Self::new(&request, own, buffer.into_message()),
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
    fn path(&self, plan: &MethodPlan) -> PathAndQuery {
        match &self.source {
            Source::Message(template) => template.path(plan),
            Source::Stream(streamed) => streamed.template.path(plan),
            Source::Unread(unread) => path_of(unread.request.uri()),
            Source::Once(once) => once.path.clone(),
        }
    }

    fn prepare(&mut self, plan: &MethodPlan, cx: &mut Context<'_>) -> Poll<Result<(), Status>> {
        let Source::Unread(unread) = &mut self.source else {
            return Poll::Ready(Ok(()));
        };
        let read = ready!(unread.buffer.poll(plan.limits.max_replay_bytes, cx))?;
        let empty = Unread {
            request: http::Request::new(Body::empty()),
            own: None,
            buffer: RequestBuffer::of(Body::empty(), true),
        };
        let unread = std::mem::replace(&mut **unread, empty);
        self.read(unread, &read);
        Poll::Ready(Ok(()))
    }

    fn write(
        &mut self,
        plan: &MethodPlan,
        attempt: u32,
        timeout: AttemptTimeout,
        is_watched: bool,
        finish: impl FnOnce(&mut http::Request<Body>),
    ) -> http::Request<Body> {
        let mut request = match &mut self.source {
            Source::Message(template) => {
                template.request(one_frame(&self.message), plan, attempt, timeout, is_watched)
            }
            Source::Stream(streamed) => {
                streamed.template.request(streamed.stream.body(attempt), plan, attempt, timeout, is_watched)
            }
            // Such a request is sent once.
            Source::Once(once) => {
                let mut request = once.request.take().unwrap_or_default();
                plan.headers.set(request.headers_mut(), attempt, timeout);
                request
            }
            // One that was not read is never sent.
            Source::Unread(_) => http::Request::default(),
        };
        finish(&mut request);
        request
    }

    fn put_off(&mut self, request: http::Request<Body>) {
        if let Source::Once(once) = &mut self.source {
            once.request = Some(request);
        }
    }

    #[inline]
    fn note(&self, plan: &MethodPlan) -> Option<Note> {
        if let Source::Message(_) | Source::Unread(_) = &self.source {
            too_large(&self.message, plan)
        } else {
            self.note_of_stream()
        }
    }

    fn replayable(&self, plan: &MethodPlan, attempt: u32) -> Replayable {
        match self.committed() {
            Some(committed) if committed == attempt => Replayable::OverLimit,
            _ => self.note(plan).is_none().into(),
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

impl Template {
    #[inline]
    fn of(request: &http::Request<Body>, own: Option<OwnParts>) -> Self {
        own.map_or_else(|| Template::whole(request), Template::Usual)
    }

    fn path(&self, plan: &MethodPlan) -> PathAndQuery {
        match self {
            Template::Usual(own) => own.path(plan),
            Template::Whole(parts) => path_of(&parts.uri),
        }
    }

    /// The request of the attempt with that number.
    #[inline]
    fn request(
        &self,
        body: Body,
        plan: &MethodPlan,
        attempt: u32,
        timeout: AttemptTimeout,
        is_watched: bool,
    ) -> http::Request<Body> {
        match self {
            Template::Whole(parts) => {
                let mut request = http::Request::from_parts((**parts).clone(), body);
                plan.headers.set(request.headers_mut(), attempt, timeout);
                request
            }
            Template::Usual(own) => {
                let mut request = http::Request::new(body);
                let headers = plan.headers.of_attempt(attempt, timeout);
                let usual = plan.usual.as_ref().and_then(Usual::uri);
                fill(&mut request, usual.cloned().unwrap_or_default(), headers);
                own.write(plan, is_watched, &mut request);
                request
            }
        }
    }

    #[cold]
    fn whole(request: &http::Request<Body>) -> Self {
        let mut whole = http::Request::new(());
        whole.method_mut().clone_from(request.method());
        whole.uri_mut().clone_from(request.uri());
        *whole.version_mut() = request.version();
        whole.headers_mut().clone_from(request.headers());
        whole.extensions_mut().clone_from(request.extensions());
        Template::Whole(Box::new(whole.into_parts().0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grpc::request::{Inspection, Known};
    use crate::operation::JitterSeeds;
    use crate::settings::{BufferLimits, CallSettings};
    use gax_retry::{CodeSet, Compatibility, RetrySettings};
    use http::{HeaderMap, HeaderValue, Method, Uri, Version};
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

    /// A plan of one method. Attempts don't tell their number.
    fn plan() -> MethodPlan {
        let settings = CallSettings::new(RetrySettings::default(), CodeSet::EMPTY);
        let (limits, jitter) = (BufferLimits::default(), JitterSeeds::default());
        MethodPlan::new(&settings, Compatibility::GaxJava, limits, &jitter, None).of_one_method()
    }

    fn seconds(value: &'static str) -> AttemptTimeout {
        AttemptTimeout::Own(Some(HeaderValue::from_static(value)))
    }

    fn captured(request: &http::Request<Body>, plan: &MethodPlan) -> CapturedRequest {
        let inspection = Inspection::at(request, plan, Known { is_usual_uri: false, is_watched: true });
        CapturedRequest::new(request, inspection.own, Bytes::from_static(b"body"))
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

    /// The first request sets the example that others are compared with; a plan for several methods has none.
    #[test]
    fn every_attempt_is_written_alike_but_for_its_timeout() {
        let mut of_several = plan();
        of_several.usual = None;
        let uris = [
            "http://host/pkg.Service/Method",
            "/pkg.Service/Method",
            "http://HOST/pkg.Service/Method",
            "host:1",
        ];
        for example in uris {
            let plan = plan();
            let mut first = request();
            *first.uri_mut() = Uri::from_static(example);
            written_alike(first, &plan);
            for uri in uris {
                let mut other = request();
                *other.uri_mut() = Uri::from_static(uri);
                written_alike(other, &plan);
                let mut undescribed = http::Request::new(Body::empty());
                *undescribed.uri_mut() = Uri::from_static(uri);
                *undescribed.version_mut() = Version::HTTP_2;
                *undescribed.method_mut() = Method::POST;
                undescribed.headers_mut().insert("te", HeaderValue::from_static("trailers"));
                undescribed
                    .headers_mut()
                    .insert("content-type", HeaderValue::from_static("application/grpc"));
                written_alike(undescribed, &plan);
                let mut renamed = request();
                *renamed.uri_mut() = Uri::from_static(uri);
                renamed.extensions_mut().insert(GrpcMethod::new("pkg.Service", "Renamed"));
                written_alike(renamed, &plan);
            }
        }
        written_alike(request(), &of_several);
    }

    fn written_alike(first: http::Request<Body>, plan: &MethodPlan) {
        let mut captured = captured(&first, plan);
        assert!(matches!(captured.source, Source::Message(Template::Usual(_))));
        assert_eq!(captured.path(plan), path_of(first.uri()));
        let mut first = first;
        captured.complete(plan, &mut first, seconds("5S"));
        let second = captured.write(plan, 2, seconds("3S"), true, |_| ());
        let third = captured.write(plan, 3, AttemptTimeout::Own(None), true, |_| ());
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
        assert_eq!(described(&captured.write(plan, 2, seconds("3S"), false, |_| ())), None);
    }

    #[test]
    fn what_is_not_usual_is_kept_whole() {
        let mut json = request();
        json.headers_mut().insert("content-type", HeaderValue::from_static("application/grpc+json"));
        let mut old = request();
        *old.version_mut() = Version::HTTP_11;
        let mut get = request();
        *get.method_mut() = Method::GET;
        let mut tagged = request();
        tagged.extensions_mut().insert(7_u32);
        for given in [json, old, get, tagged] {
            let mut captured = captured(&given, &plan());
            assert!(matches!(captured.source, Source::Message(Template::Whole(_))));
            for attempt in 1..3 {
                let written = captured.write(&plan(), attempt, seconds("1S"), true, |_| ());
                assert_eq!(sorted(written.headers()), sorted(given.headers()));
                assert_eq!((written.version(), written.method()), (given.version(), given.method()));
                assert_eq!(written.extensions().get::<u32>(), given.extensions().get());
            }
        }
    }

    #[test]
    fn a_stream_that_waits_goes_out_once() {
        let mut captured = CapturedRequest::once(&request(), Note::RequestIsAStream);
        let mut first = request();
        captured.complete(&plan(), &mut first, seconds("1S"));
        captured.put_off(first);
        let written = captured.write(&plan(), 1, seconds("1S"), true, |_| ());
        assert_eq!(sorted(written.headers()), sorted(request().headers()));
        assert_eq!(captured.path(&plan()), "/pkg.Service/Method");
    }
}

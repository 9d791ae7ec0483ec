//! A request that can be sent several times.

use crate::request::attempt_body::CutOff;
use crate::request::replay::Replay;
use bytes::Bytes;
use gax_driver::Note;
use gax_retry::{AttemptKind, StartedAttempt};
use gax_wire::__private::BoxError;
use http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use http::request::Parts;
use http::{HeaderValue, Method};
use std::task::{Context, Poll, ready};

/// The parts of a request, kept so that every attempt is written whole.
#[derive(Debug)]
pub(crate) struct ReplayableRequest<B> {
    parts: Parts,
    /// The body that those of attempts are made from; none once a body that can't be replayed is out.
    body: Option<B>,
    /// The body of the next attempt, while it is opened.
    next: Option<B>,
    /// The body is longer than the replay limit.
    too_large: bool,
    /// Its sender makes the request of each attempt.
    is_made_anew: bool,
}

impl<B: Replay> ReplayableRequest<B> {
    pub(crate) fn new(parts: Parts, body: B, max_replay_bytes: usize) -> Self {
        let too_large = body.kept() > max_replay_bytes;
        Self { parts, body: Some(body), next: None, too_large, is_made_anew: false }
    }

    /// The request of the next attempt. The one after it has another request.
    pub(crate) fn made_anew(request: http::Request<B>) -> Self {
        let (parts, body) = request.into_parts();
        Self { parts, body: Some(body), next: None, too_large: false, is_made_anew: true }
    }

    pub(crate) fn parts(&self) -> &Parts {
        &self.parts
    }

    /// The body, if it is in memory.
    pub(crate) fn bytes(&self) -> Option<Bytes> {
        self.body.as_ref().and_then(Replay::bytes)
    }

    /// Returns whether the request can be sent again. Known once it has been sent.
    pub(crate) fn is_replayable(&self) -> bool {
        self.is_made_anew || self.body.is_some()
    }

    /// Why it can't be sent again.
    pub(crate) fn note(&self) -> Note {
        if self.too_large { Note::REQUEST_TOO_LARGE_TO_REPLAY } else { Note::REQUEST_IS_A_STREAM }
    }

    /// Makes and opens the body of the next attempt. If there is none any longer, writing the request says so.
    pub(crate) fn poll_open(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        let body = match &mut self.next {
            Some(body) => body,
            next => match self.body.as_ref().filter(|_| !self.too_large).and_then(Replay::replay) {
                Some(body) => next.insert(body),
                None => return Poll::Ready(Ok(())),
            },
        };
        let opened = ready!(body.poll_open(cx));
        if opened.is_err() {
            self.next = None;
        }
        Poll::Ready(opened)
    }

    /// Releases what was opened for an attempt that was not sent.
    pub(crate) fn close(&mut self) {
        self.next = None;
    }

    /// The request of that attempt, and what ends its body; `None` if that can't be made. Every one but the first carries the
    /// attempt in its extensions.
    pub(crate) fn write(
        &mut self,
        attempt: Option<StartedAttempt>,
    ) -> Option<(http::Request<B>, Option<CutOff>)> {
        let mut body = self.next.take().or_else(|| self.body.take())?;
        let mut cut = body.cut_off();
        let mut request = http::Request::new(body);
        *request.method_mut() = self.parts.method.clone();
        *request.uri_mut() = self.parts.uri.clone();
        *request.version_mut() = self.parts.version;
        *request.headers_mut() = self.parts.headers.clone();
        *request.extensions_mut() = self.parts.extensions.clone();
        if let Some(attempt) = attempt.filter(|attempt| attempt.kind() != AttemptKind::Original) {
            request.extensions_mut().insert(attempt);
        }
        set_content_length(&mut request);
        if let Some(cut) = &mut cut {
            cut.watch_connection(&mut request);
        }
        Some((request, cut))
    }
}

/// A body of known length is announced, also an empty one where the method expects a body: HTTP/1 clients
/// leave that out, and servers reply 411 then.
fn set_content_length<B: http_body::Body>(request: &mut http::Request<B>) {
    let Some(length) = request.body().size_hint().exact() else { return };
    let expects_body = [Method::POST, Method::PUT, Method::PATCH].contains(request.method());
    if (length > 0 || expects_body) && !request.headers().contains_key(TRANSFER_ENCODING) {
        request.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(length));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ReplayBody;
    use http_body_util::Full;

    fn replayable(method: &str, body: ReplayBody, limit: usize) -> ReplayableRequest<ReplayBody> {
        let request =
            http::Request::builder().method(method).uri("http://h/p").header("x-id", "7").extension(3_u8);
        let (parts, body) = request.body(body).unwrap().into_parts();
        ReplayableRequest::new(parts, body, limit)
    }

    fn written(replayable: &mut ReplayableRequest<ReplayBody>) -> Option<http::Request<ReplayBody>> {
        let mut context = Context::from_waker(std::task::Waker::noop());
        assert!(matches!(replayable.poll_open(&mut context), Poll::Ready(Ok(()))));
        let (request, cut) = replayable.write(None)?;
        if let Some(cut) = cut {
            cut.release();
        }
        Some(request)
    }

    fn length(method: &str, body: &'static str) -> Option<String> {
        let request = written(&mut replayable(method, body.into(), 100)).unwrap();
        request.headers().get("content-length").map(|value| value.to_str().unwrap().to_owned())
    }

    #[test]
    fn the_length_of_a_body_is_announced_even_if_it_is_empty() {
        for method in ["POST", "PUT", "PATCH"] {
            assert_eq!(length(method, "").as_deref(), Some("0"), "{method}");
        }
        for method in ["GET", "HEAD", "DELETE"] {
            assert_eq!(length(method, ""), None, "{method}");
        }
        assert_eq!(length("DELETE", "{}").as_deref(), Some("2"));
    }

    #[test]
    fn every_attempt_is_written_alike() {
        let mut replayable = replayable("POST", "body".into(), 4);
        for _ in 0..3 {
            let request = written(&mut replayable).unwrap();
            assert_eq!((request.headers()["x-id"].as_bytes(), request.uri().path()), (&b"7"[..], "/p"));
            assert_eq!(request.extensions().get::<u8>(), Some(&3));
            assert_eq!(request.body().bytes().unwrap(), "body");
            assert!(replayable.is_replayable());
        }
    }

    #[test]
    fn what_is_too_large_or_a_stream_goes_out_once() {
        let stream = ReplayBody::once(Full::new(Bytes::from_static(b"body")));
        for (mut replayable, note) in [
            (replayable("POST", "body".into(), 3), Note::REQUEST_TOO_LARGE_TO_REPLAY),
            (replayable("POST", stream, 100), Note::REQUEST_IS_A_STREAM),
        ] {
            assert!(written(&mut replayable).is_some());
            assert!(!replayable.is_replayable());
            assert_eq!(replayable.note(), note);
            assert!(written(&mut replayable).is_none());
        }
    }
}

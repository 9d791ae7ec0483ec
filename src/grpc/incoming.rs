//! A response that comes in.

use super::answer;
use super::collect::Collected;
use super::course::{Course, Judge, Next};
use super::failure::Failure;
use super::outgoing::Outgoing;
use super::rest::{Rest, Tail};
use crate::operation::Note;
use bytes::Bytes;
use gax_retry::Code;
use http::response::Parts;
use http::{HeaderMap, StatusCode};
use http_body::Body as HttpBody;
use std::pin::Pin;
use std::task::{Context, Poll};
use tonic::body::Body;
use tonic::codegen::StdError;

/// A response whose head is there, and is no error.
#[derive(Debug)]
pub(crate) struct Incoming {
    pub(crate) parts: Parts,
    body: Body,
    pub(crate) collected: Collected,
}

/// What polling the response leads to.
pub(crate) enum Step {
    /// It is good to pass on.
    Good(Tail),
    Bad(Next),
}

impl Incoming {
    /// Looks at the head, which may be all there is; an error leads on to what follows it.
    #[inline]
    pub(crate) fn judged<B>(
        response: http::Response<B>,
        course: &mut Course<impl Outgoing>,
    ) -> Result<Self, Next>
    where
        B: HttpBody<Data = Bytes, Error: Into<StdError>> + Send + 'static,
    {
        let (mut parts, body) = response.into_parts();
        match answer::code(&parts.headers) {
            None if parts.status == StatusCode::OK => {}
            None => return Err(course.failed(Failure::without_status(parts.status, parts.headers))),
            Some(Code::Ok) => course.sanitize(&mut parts.headers),
            Some(code) => {
                course.sanitize(&mut parts.headers);
                return Err(course.failed(Failure::answered(code, None, parts.headers)));
            }
        }
        course.responded();
        Ok(Self { parts, body: Body::new(body), collected: Collected::default() })
    }

    /// Reads on until the response can be judged.
    #[inline]
    pub(crate) fn poll(&mut self, course: &mut Course<impl Outgoing>, cx: &mut Context<'_>) -> Poll<Step> {
        if course.judge() == Judge::Head {
            return Poll::Ready(self.pass_on(Note::Committed, course));
        }
        loop {
            let frame = match Pin::new(&mut self.body).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => frame,
                Poll::Ready(Some(Err(status))) => {
                    return Poll::Ready(Step::Bad(course.broken(status.into(), true)));
                }
                Poll::Ready(None) => return Poll::Ready(self.ended(course)),
                Poll::Pending if course.judge() == Judge::FirstMessage && self.collected.has_message() => {
                    return Poll::Ready(self.pass_on(Note::Committed, course));
                }
                Poll::Pending => return Poll::Pending,
            };
            match frame.into_data() {
                // The end of a body without trailers may come as a frame of nothing.
                Ok(data) if data.is_empty() => {}
                Ok(data) => {
                    let another = course.judge() == Judge::FirstMessage && self.collected.has_message();
                    self.collected.push(data);
                    if another {
                        return Poll::Ready(self.pass_on(Note::Committed, course));
                    }
                    if course.judge() == Judge::Whole && self.collected.has_more_than_a_message() {
                        return Poll::Ready(Step::Bad(course.unreadable(Failure::two_messages())));
                    }
                    if self.collected.len() > course.max_response_buffer() {
                        return Poll::Ready(self.pass_on(Note::ResponseTooLargeToJudge, course));
                    }
                }
                Err(frame) => {
                    if let Ok(trailers) = frame.into_trailers() {
                        return Poll::Ready(self.closed(trailers, course));
                    }
                }
            }
        }
    }

    /// The body ended without trailers: fine only if the head had the status.
    fn ended(&mut self, course: &mut Course<impl Outgoing>) -> Step {
        if answer::code(&self.parts.headers).is_some() {
            return Step::Good(Tail::End);
        }
        let headers = std::mem::take(&mut self.parts.headers);
        Step::Bad(course.failed(Failure::without_status(self.parts.status, headers)))
    }

    #[inline]
    fn closed(&mut self, mut trailers: HeaderMap, course: &mut Course<impl Outgoing>) -> Step {
        let code = answer::code(&trailers);
        if code.is_some() {
            course.sanitize(&mut trailers);
        }
        if code == Some(Code::Ok) {
            return Step::Good(Tail::Trailers(trailers));
        }
        let mut headers = std::mem::take(&mut self.parts.headers);
        let failure = if let Some(code) = code {
            Failure::answered(code, Some(headers), trailers)
        } else {
            headers.extend(trailers);
            Failure::without_status(StatusCode::OK, headers)
        };
        Step::Bad(course.failed(failure))
    }

    /// The response goes out with its end still to come.
    fn pass_on(&mut self, note: Note, course: &mut Course<impl Outgoing>) -> Step {
        course.note(note);
        let body = std::mem::take(&mut self.body);
        Step::Good(Tail::Open(Box::new(Rest::new(body, course.deadline(), true))))
    }
}

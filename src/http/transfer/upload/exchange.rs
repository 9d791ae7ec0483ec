//! The requests of an upload, and what follows from their responses.

use crate::http::transfer::activity::Activity;
use crate::http::transfer::checksum::Sums;
use crate::http::transfer::error::{Failure, TransferErrorKind};
use crate::http::transfer::exchange::{Boxed, Class, End, Ending, Exchange, Incoming, Prepared, Received};
use crate::http::transfer::origin::hide_secrets;
use crate::http::transfer::progress::{TransferProgress, TransferReport};
use crate::http::transfer::protocol::ended_early;
use crate::http::transfer::session::UploadSession;
use crate::http::transfer::upload::parts::UploadParts;
use crate::http::transfer::upload::plan::{Ask, Decision, Plan, Reply, Step};
use bytes::Bytes;
use gax_retry::Code;
use gax_retry::http::HttpFailure;
use http::HeaderMap;
use std::sync::Arc;

/// A program's callback for sessions.
pub(super) type OnSession<'a> = Box<dyn FnMut(&UploadSession) + Send + 'a>;

/// An upload, between its requests.
pub(super) struct UploadExchange<'a> {
    parts: Arc<UploadParts>,
    plan: Plan,
    name: String,
    on_session: Option<OnSession<'a>>,
    /// The response to one request whose precondition did not hold.
    conflict: Option<http::Response<Bytes>>,
}

impl<'a> UploadExchange<'a> {
    pub(super) fn new(parts: &Arc<UploadParts>, plan: Plan, on_session: Option<OnSession<'a>>) -> Self {
        let request = &parts.options.request;
        // Even the path of a session's URI may be a secret.
        let name = if parts.can_start {
            format!("{} {}", request.method, request.uri.path())
        } else {
            "resume an upload".to_owned()
        };
        Self { parts: Arc::clone(parts), plan, name, on_session, conflict: None }
    }

    /// The object that is there may be the one that a request made whose reply was lost.
    fn recognised(&mut self, received: Received) -> Ending {
        let own = self.parts.source.lock().sums().unwrap_or_default();
        let server = server_sums(&received.head.headers, &received.content);
        match self.conflict.take() {
            Some(conflict) if !own.has_common(server) || own.difference(server).is_some() => {
                Ending::last(Code::FailedPrecondition, Failure::status(conflict))
            }
            _ => self.verified(received),
        }
    }

    /// The object that is there before its last byte was sent is the one that another process made of the same session.
    fn early(&mut self, received: Received, size: Option<u64>) -> Ending {
        let own = self.parts.source.lock().sums().unwrap_or_default();
        let server = server_sums(&received.head.headers, &received.content);
        if own.has_common(server) && own.difference(server).is_none() {
            self.plan.done(size);
            return self.verified(received);
        }
        let problem = "the server finished the upload before its last byte was sent";
        Ending::last(Code::Internal, Failure::malformed(problem).with_response(received.into_response()))
    }

    /// Compares what the server says of the object with the source.
    fn verified(&self, received: Received) -> Ending {
        let (sums, size) = {
            let source = self.parts.source.lock();
            (source.sums().unwrap_or_default(), source.size())
        };
        let response = received.into_response();
        let resource = serde_json::from_slice::<serde_json::Value>(response.body()).unwrap_or_default();
        let server = server_sums(response.headers(), response.body());
        let length = resource.get("size").and_then(|size| size.as_str()?.parse().ok().or(size.as_u64()));
        let problem = match sums.difference(server) {
            Some(name) => format!("the {name} of the object on the server is not that of the source"),
            None => match (length, size) {
                (Some(length), Some(size)) if length != size => {
                    format!("the object on the server has {length} bytes, and the source {size}")
                }
                _ => return Ending::Done(Box::new(response)),
            },
        };
        let failure = Failure::new(TransferErrorKind::ChecksumMismatch, problem).with_response(response);
        Ending::last(Code::DataLoss, failure)
    }
}

/// The checksums of the object, by a response's headers or by the resource in it.
fn server_sums(headers: &HeaderMap, content: &[u8]) -> Sums {
    let resource = serde_json::from_slice(content).unwrap_or_default();
    Sums::in_headers(headers).or(Sums::in_resource(&resource))
}

impl<'a> Exchange<'a> for UploadExchange<'a> {
    type Step = Step;

    fn name(&self) -> &str {
        &self.name
    }

    fn prepare(&mut self, activity: &Arc<Activity>) -> Boxed<'a, Prepared<Step>> {
        let (parts, activity, ask) = (Arc::clone(&self.parts), Arc::clone(activity), self.plan.next());
        if let Ask::Send { .. } = ask {
            self.plan.sends();
        }
        Box::pin(async move {
            match ask {
                Ask::Single => parts.single(&activity).await,
                Ask::Look => parts.look(&activity),
                Ask::Start => parts.start(&activity),
                Ask::Query => parts.query(&activity),
                Ask::Send { from } => parts.send(from, &activity).await,
            }
        })
    }

    fn read(
        &mut self,
        step: Step,
        mut head: http::response::Parts,
        mut body: Incoming,
    ) -> Boxed<'a, Received> {
        let parts = Arc::clone(&self.parts);
        Box::pin(async move {
            let (content, end) = body.collect().await;
            let is_whole = matches!(end, End::Whole);
            let done = match parts.reply(step, &head) {
                Reply::Started => parts.started(&head.headers).await,
                Reply::Finished if is_whole => {
                    body.release_request();
                    parts.source.hash_to_end().await
                }
                _ => Ok(()),
            };
            if head.status.is_success() {
                body.release_request();
            }
            let end = done.map_or_else(End::Failed, |()| end);
            hide_secrets(&mut head.headers);
            Received { head, content, end }
        })
    }

    fn received(&mut self, step: Step, received: Received) -> Ending {
        let reply = self.parts.reply(step, &received.head);
        let end = match received.end {
            End::Failed(failure) => return Ending::last(Code::FailedPrecondition, failure),
            end => end,
        };
        let received = Received { end: End::Whole, ..received };
        // Any other response is whole with its head.
        if reply == Reply::Finished
            && let Some(early) = ended_early(end, false)
        {
            self.plan.lost(Some(step));
            return early;
        }
        let (size, lowest) = {
            let source = self.parts.source.lock();
            (source.size(), source.lowest())
        };
        if let (Reply::Started, Some(on_session), Some(session)) =
            (reply, &mut self.on_session, self.parts.session())
        {
            on_session(&session);
        }
        let status = received.head.status.as_u16();
        let class = Class::As(HttpFailure::Status(status));
        let response = |kind, problem: &'static str, received: Received| {
            Failure::new(kind, problem).with_response(received.into_response())
        };
        match self.plan.replied(step, reply, size, lowest) {
            Decision::Done if step == Step::Look => self.recognised(received),
            Decision::Done => self.verified(received),
            Decision::Early => self.early(received, size),
            Decision::NotDone { progress } => {
                if reply == Reply::Conflict {
                    self.conflict = Some(received.into_response());
                }
                if let Reply::Persisted(bytes) = reply {
                    self.parts.source.lock().drop_before(bytes);
                }
                Ending::NotDone { progress }
            }
            Decision::NothingPersisted => {
                let failure = response(
                    TransferErrorKind::Status,
                    "the server kept nothing of what it was sent",
                    received,
                );
                Ending::Failed { failure, class: Class::Always(Code::Unavailable), progress: false }
            }
            Decision::Anew => {
                self.parts.set_session(None);
                let failure = Failure::status(received.into_response());
                Ending::Failed { failure, class: Class::Always(Code::NotFound), progress: false }
            }
            Decision::NoWayBack => {
                let problem = "the server has lost bytes that the source can't read again";
                let failure = response(TransferErrorKind::Source, problem, received);
                Ending::last(Code::DataLoss, failure)
            }
            Decision::Cancelled => {
                self.parts.set_session(None);
                let failure = response(TransferErrorKind::Cancelled, "the upload was cancelled", received);
                Ending::last(Code::Cancelled, failure)
            }
            Decision::Failed => {
                Ending::Failed { failure: Failure::status(received.into_response()), class, progress: false }
            }
            Decision::Recoverable => {
                let class = Class::Always(Code::from_http_status(status));
                Ending::Failed { failure: Failure::status(received.into_response()), class, progress: false }
            }
            Decision::Refused => {
                Ending::last(Code::from_http_status(status), Failure::status(received.into_response()))
            }
            Decision::Malformed(problem) => {
                Ending::last(Code::Internal, response(TransferErrorKind::Malformed, problem, received))
            }
        }
    }

    fn lost(&mut self, step: Option<Step>) -> (bool, Option<Failure>) {
        self.plan.lost(step);
        let mut source = self.parts.source.lock();
        source.lend();
        (false, source.take_problem())
    }

    fn progress(&self, in_flight: &Activity) -> TransferProgress {
        let total = self.parts.source.lock().size();
        let bytes = self.plan.persisted().saturating_add(in_flight.bytes());
        let bytes = total.map_or(bytes, |total| bytes.min(total));
        TransferProgress { bytes, total, resumptions: self.plan.resumptions }
    }

    fn summary(&self) -> TransferReport {
        TransferReport { bytes: self.plan.persisted(), resumptions: self.plan.resumptions }
    }
}

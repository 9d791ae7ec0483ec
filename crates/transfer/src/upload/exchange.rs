//! The requests of an upload, and what follows from their responses.

use crate::activity::Activity;
use crate::checksum::ChecksumValues;
use crate::error::{Failure, TransferErrorKind};
use crate::exchange::{Boxed, Class, End, Ending, Exchange, Incoming, Prepared, Received};
use crate::origin::hide_secrets;
use crate::progress::TransferProgress;
use crate::session::UploadSession;
use crate::upload::completion::{Completion, ServerObject};
use crate::upload::parts::UploadParts;
use crate::upload::plan::{Ask, Decision, Plan, Reply, Step};
use gax_driver::Note;
use gax_retry::Code;
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
    note: Option<Note>,
    /// Why it is in doubt whether the object is made.
    doubt: Option<(Code, Failure)>,
}

impl<'a> UploadExchange<'a> {
    pub(super) fn new(
        parts: &Arc<UploadParts>,
        plan: Plan,
        on_session: Option<OnSession<'a>>,
        note: Option<Note>,
    ) -> Self {
        let request = &parts.options.request;
        // Even the path of a session's URI may be a secret.
        let name = if parts.can_start {
            format!("{} {}", request.method, request.uri.path())
        } else {
            "resume an upload".to_owned()
        };
        Self { parts: Arc::clone(parts), plan, name, on_session, note, doubt: None }
    }

    /// How far a response proves the end of the upload, by the object that it describes.
    fn completion(&self, (step, reply): (Step, Reply), object: ServerObject) -> Completion {
        self.parts.completion((step, reply), object, self.plan.coverage(step, self.parts.reach()))
    }

    /// Returns whether a response has proved the end of the upload by a checksum before it broke off.
    fn is_proved(&self, reply: (Step, Reply), headers: &HeaderMap, content: &[u8]) -> bool {
        self.completion(reply, ServerObject::of(headers, content)) == Completion::Verified
    }

    /// The consequence of a response that was read to its end, as far as that matters.
    fn decided(&mut self, step: Step, reply: Reply, received: Received) -> Ending {
        let (mut reach, mut reply, mut unproven) = (self.parts.reach(), reply, None);
        if may_be_last(reply) {
            let object = ServerObject::of(&received.head.headers, &received.content);
            unproven = self.completion((step, reply), object).failure();
            reply = if unproven.is_some() { Reply::Unproven } else { Reply::Finished };
            reach.size = reach.size.or(object.bytes);
        }
        let decision = self.plan.replied(step, reply, reach);
        let response = received.into_response();
        let status = response.status();
        let code = Code::from_http_status(status.as_u16());
        let failed = |failure, class| Ending::Failed { failure, class, progress: false };
        match decision {
            Decision::Done => Ending::Done(Box::new(response)),
            Decision::NotDone { progress } => {
                self.doubt = match (reply, unproven) {
                    (_, Some((code, failure))) => Some((code, failure.with_response(response))),
                    (Reply::Conflict, None) => Some((Code::FailedPrecondition, Failure::status(response))),
                    _ => None,
                };
                if let Reply::Persisted(bytes) = reply {
                    self.parts.source.lock().drop_before(bytes);
                }
                Ending::NotDone { progress }
            }
            Decision::Unproven => {
                let found =
                    unproven.unwrap_or_else(|| (code, Failure::malformed("the response proves nothing")));
                // An object that is another one is no news: why it was looked for is.
                let doubt = self.doubt.take().filter(|_| step == Step::Look);
                let (code, failure) = doubt.unwrap_or((found.0, found.1.with_response(response)));
                failed(failure, Class::Never(code))
            }
            Decision::NothingPersisted => {
                let problem = "the server kept nothing of what it was sent";
                let failure = Failure::new(TransferErrorKind::Status, problem).with_response(response);
                failed(failure, Class::Always(Code::Unavailable))
            }
            Decision::Anew => {
                self.parts.set_session(None);
                failed(Failure::status(response), Class::Always(Code::NotFound))
            }
            Decision::NoWayBack => {
                let problem = "the server has lost bytes that the source can't read again";
                let failure = Failure::new(TransferErrorKind::Source, problem).with_response(response);
                failed(failure, Class::Never(Code::DataLoss))
            }
            Decision::Cancelled => {
                self.parts.set_session(None);
                let failure = Failure::new(TransferErrorKind::Cancelled, "the upload was cancelled");
                failed(failure.with_response(response), Class::Never(Code::Cancelled))
            }
            Decision::Corrupted { anew } => {
                self.parts.set_session(None);
                let problem = "the server rejected the bytes: their checksum is not that of the source";
                let failure =
                    Failure::new(TransferErrorKind::ChecksumMismatch, problem).with_response(response);
                let class = if anew { Class::Always } else { Class::Never };
                failed(failure, class(Code::DataLoss))
            }
            Decision::Failed => failed(Failure::status(response), Class::ByStatus),
            Decision::Recoverable => failed(Failure::status(response), Class::Always(code)),
            Decision::Refused => failed(Failure::status(response), Class::Never(code)),
            Decision::Malformed(problem) => {
                failed(Failure::malformed(problem).with_response(response), Class::Never(Code::Internal))
            }
        }
    }
}

/// Returns whether completion has to be proved by what else a response has.
fn may_be_last(reply: Reply) -> bool {
    matches!(reply, Reply::Finished | Reply::Unproven)
}

impl<'a> Exchange<'a> for UploadExchange<'a> {
    type Step = Step;

    fn name(&self) -> &str {
        &self.name
    }

    fn note(&self) -> Option<Note> {
        self.note
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
                Ask::Query { confirms } => parts.query(confirms, &activity),
                Ask::Send { from } => parts.send(from, &activity).await,
            }
        })
    }

    fn read(&mut self, step: Step, head: http::response::Parts, mut body: Incoming) -> Boxed<'a, Received> {
        let parts = Arc::clone(&self.parts);
        Box::pin(async move {
            let mut received = body.collect(head).await;
            let headers = &received.head.headers;
            let done = match parts.reply(step, &received.head, &received.content) {
                Reply::Started => parts.started(headers).await,
                Reply::Finished => {
                    let has_sums =
                        ServerObject::of(headers, &received.content).sums != ChecksumValues::default();
                    let read = if has_sums { parts.source.hash_to_end().await } else { Ok(()) };
                    read.and_then(|()| parts.source.lock().unchanged())
                }
                _ => Ok(()),
            };
            if received.head.status.is_success() {
                body.release_request();
            }
            if let Err(failure) = done {
                received.end = End::Failed(failure);
            }
            hide_secrets(&mut received.head.headers);
            received
        })
    }

    fn received(&mut self, step: Step, received: Received) -> Ending {
        let reply = self.parts.reply(step, &received.head, &received.content);
        let Received { head, content, end } = received;
        match end {
            End::Failed(failure) => return Ending::last(Code::FailedPrecondition, failure),
            // What has come of it may be proof enough.
            End::Early(why)
                if may_be_last(reply) && !self.is_proved((step, reply), &head.headers, &content) =>
            {
                self.plan.lost(Some(step));
                return Ending::Early { why, progress: false };
            }
            // Any other response is whole with its head.
            End::Early(_) | End::Whole => {}
        }
        let received = Received { head, content, end: End::Whole };
        if let (Reply::Started, Some(on_session), Some(session)) =
            (reply, &mut self.on_session, self.parts.session())
        {
            on_session(&session);
        }
        let ending = self.decided(step, reply, received);
        if let Ending::Failed { failure, .. } = &ending {
            self.parts.failed(failure);
        }
        ending
    }

    fn lost(&mut self, step: Option<Step>) -> (bool, Option<Failure>) {
        self.plan.lost(step);
        let mut source = self.parts.source.lock();
        source.lend();
        (false, source.take_problem())
    }

    fn progress(&self, place: u64) -> TransferProgress {
        let total = self.parts.source.lock().size();
        let bytes = self.plan.persisted().max(place);
        let bytes = total.map_or(bytes, |total| bytes.min(total));
        TransferProgress { bytes, total, resumptions: self.plan.resumptions }
    }
}

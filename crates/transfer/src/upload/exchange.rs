//! The requests of an upload, and what follows from their responses.

use crate::activity::Activity;
use crate::checksum::ChecksumValues;
use crate::error::{Failure, TransferErrorKind as Kind};
use crate::exchange::{Boxed, Class, End, Ending, Exchange, Incoming, Prepared, Received};
use crate::origin::hide_secrets;
use crate::progress::TransferProgress;
use crate::session::UploadSession;
use crate::upload::completion::ServerObject;
use crate::upload::parts::UploadParts;
use crate::upload::plan::{Ask, Decision, Plan, Reply, Step};
use gax_retry::Code;
use std::sync::Arc;

/// A program's callback for sessions.
pub(super) type OnSession<'a> = Box<dyn FnMut(&UploadSession) + Send + 'a>;

/// An upload, between its requests.
pub(super) struct UploadExchange<'a> {
    pub(super) parts: Arc<UploadParts>,
    pub(super) plan: Plan,
    pub(super) on_session: Option<OnSession<'a>>,
    /// Why it is in doubt whether the object is made.
    pub(super) doubt: Option<(Code, Failure)>,
}

impl UploadExchange<'_> {
    /// The consequence of a response that was read to its end, as far as that matters. `unproven`: why it does not prove the end of the
    /// upload, although it may be the last one. `length`: that of the object in it.
    fn decided(
        &mut self,
        step: Step,
        reply: Reply,
        unproven: Option<(Code, Failure)>,
        (length, received): (Option<u64>, Received),
    ) -> Ending {
        let mut reach = self.parts.reach();
        reach.size = reach.size.or(length);
        let decision = self.plan.replied(step, reply, reach);
        let response = received.into_response();
        let code = Code::from_http_status(response.status().as_u16());
        if matches!(decision, Decision::Anew | Decision::Cancelled | Decision::Corrupted { .. }) {
            *self.parts.session.lock() = None;
        }
        let (kind, problem, class) = match decision {
            Decision::Done => return Ending::Done(Box::new(response)),
            Decision::NotDone { progress } => {
                self.doubt = match (reply, unproven) {
                    (_, Some((code, failure))) => Some((code, failure.with_response(response))),
                    (Reply::Conflict, None) => Some((Code::FailedPrecondition, Failure::status(response))),
                    _ => None,
                };
                if let Reply::Persisted(bytes) = reply {
                    self.parts.source.lock().drop_before(bytes);
                }
                return Ending::NotDone { progress };
            }
            Decision::Unproven => {
                let found =
                    unproven.unwrap_or_else(|| (code, Failure::malformed("the response proves nothing")));
                // An object that is another one is no news: why it was looked for is.
                let doubt = self.doubt.take().filter(|_| step == Step::Look);
                let (code, failure) = doubt.unwrap_or((found.0, found.1.with_response(response)));
                return Ending::last(code, failure);
            }
            Decision::NothingPersisted => {
                let problem = "the server kept nothing of what it was sent";
                (Kind::Status, Some(problem), Class::Always(Code::Unavailable))
            }
            Decision::NoWayBack => {
                let problem = "the server has lost bytes that the source can't read again";
                (Kind::Source, Some(problem), Class::Never(Code::DataLoss))
            }
            Decision::Cancelled => {
                (Kind::Cancelled, Some("the upload was cancelled"), Class::Never(Code::Cancelled))
            }
            Decision::Corrupted { anew } => {
                let problem = "the server rejected the bytes: their checksum is not that of the source";
                let class = if anew { Class::Always } else { Class::Never };
                (Kind::ChecksumMismatch, Some(problem), class(Code::DataLoss))
            }
            Decision::Malformed(problem) => (Kind::Malformed, Some(problem), Class::Never(Code::Internal)),
            Decision::Anew => (Kind::Status, None, Class::Always(Code::NotFound)),
            Decision::Failed => (Kind::Status, None, Class::ByStatus),
            Decision::Recoverable => (Kind::Status, None, Class::Always(code)),
            Decision::Refused => (Kind::Status, None, Class::Never(code)),
        };
        let failure = match problem {
            Some(problem) => Failure::new(kind, problem).with_response(response),
            None => Failure::status(response),
        };
        Ending::Failed { failure, class, progress: false }
    }
}

impl<'a> Exchange<'a> for UploadExchange<'a> {
    type Step = Step;

    fn prepare(&mut self, activity: &Arc<Activity>) -> Boxed<'a, Prepared<Step>> {
        let (parts, activity, ask) = (Arc::clone(&self.parts), Arc::clone(activity), self.plan.next());
        if let Ask::Send { .. } = ask {
            self.plan.sends();
        }
        Box::pin(async move {
            match ask {
                Ask::Single => parts.single(&activity).await,
                Ask::Look => parts.look(),
                Ask::Start => parts.start(&activity),
                Ask::Query { confirms } => parts.query(confirms),
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
        // It has to be proved by what else a response has that it is the last.
        let object = matches!(reply, Reply::Finished | Reply::Unproven)
            .then(|| ServerObject::of(&head.headers, &content));
        let coverage = self.plan.coverage(step, self.parts.reach());
        let proof = object.map(|object| self.parts.completion((step, reply), object, coverage));
        match end {
            End::Failed(failure) => return Ending::last(Code::FailedPrecondition, failure),
            // What has come of it may be proof enough: a checksum is.
            End::Early(why) if proof.as_ref().is_some_and(|proof| !matches!(proof, Ok(true))) => {
                self.plan.lost(Some(step));
                return Ending::Early { why, progress: false };
            }
            // Any other response is whole with its head.
            End::Early(_) | End::Whole => {}
        }
        let (reply, unproven) = match proof {
            Some(Ok(_)) => (Reply::Finished, None),
            Some(Err(unproven)) => (Reply::Unproven, Some(unproven)),
            None => (reply, None),
        };
        let received = Received { head, content, end: End::Whole };
        if let (Reply::Started, Some(on_session), Some(session)) =
            (reply, &mut self.on_session, self.parts.session())
        {
            on_session(&session);
        }
        let ending = self.decided(step, reply, unproven, (object.and_then(|object| object.bytes), received));
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

//! What follows from an attempt that brought no whole response.

use super::BoxError;
use super::cause::{Cause, Part, Reach, classify};
use super::course::{Course, Ended, Next};
use super::error::Broken;
use super::replay::Replay;
use crate::operation::{Loss, Note, blame};
use gax_retry::{Code, HttpFailure, StopReason, TransportFailure};
use tokio::time::Instant;

/// A failure that may be that of another request on the same connection.
pub(super) struct Suspect {
    cause: Cause,
    error: BoxError,
    died: Instant,
}

impl<B: Replay, R> Course<B, R> {
    /// The request or its answer broke.
    pub(super) fn broken(&mut self, error: BoxError, part: Part) -> Next<R> {
        let cause = classify(&*error, part);
        #[cfg(feature = "reqwest")]
        let error = super::reqwest::NotBegun::unwrap(error);
        if cause.is_suspect {
            return self.suspected(cause, error);
        }
        if let Some(loss) = self.loss(cause, part, &error)
            && !cause.is_final()
            && self.outgoing.is_replayable()
            && self.resends.allow(loss)
        {
            self.ledger.transparent_retries += 1;
            return Next::Resend;
        }
        self.failed(cause, error)
    }

    /// The response can't be read, or another one on the same connection. A moment shows whether other requests
    /// got the same error.
    #[cold]
    fn suspected(&mut self, cause: Cause, error: BoxError) -> Next<R> {
        let now = self.elapsed();
        let Some(died) = self.clock.and_then(|clock| clock.at(now)) else { return self.failed(cause, error) };
        self.current.end = Some(now);
        blame::died(died);
        self.suspect = Some(Box::new(Suspect { cause, error, died }));
        Next::Wait(self.clock.and_then(|clock| clock.at(now.saturating_add(blame::MOMENT))))
    }

    #[cold]
    pub(super) fn cleared(&mut self, suspect: Suspect) -> Next<R> {
        let Suspect { cause, error, died } = suspect;
        self.failed(if blame::was_alone(died) { Cause::UNREADABLE } else { cause }, error)
    }

    /// The body of the answer stopped coming.
    pub(super) fn stalled(&mut self, error: BoxError) -> Next<R> {
        self.failed(Cause::new(TransportFailure::Timeout, Reach::MaybeSent), error)
    }

    fn failed(&mut self, cause: Cause, source: BoxError) -> Next<R> {
        let failure = cause.failure.map(HttpFailure::Transport);
        if cause == Cause::UNREADABLE {
            self.ledger.note(Note::UnreadableResponse);
        }
        if let Some(problem) = cause.problem {
            self.ledger.note(Note::CannotConnect(problem));
        }
        let broken = Ended::Broken(Broken::Failed { failure: cause.failure, problem: cause.problem, source });
        if cause.reach == Reach::ClientClosed {
            self.http.failures.extend(failure);
            self.record(Code::Unavailable);
            return self.stop(broken, StopReason::ChannelClosed);
        }
        // What no server has carried out may be sent again, whatever it is.
        let repeatable = self.repeatable || (cause.reach.is_unprocessed() && self.http.may_be_retried());
        let repeatable = repeatable && !cause.is_final();
        self.ended(broken, failure, repeatable, None)
    }

    /// How the request was lost, if that is a reason to send it again at once.
    fn loss(&self, cause: Cause, part: Part, error: &BoxError) -> Option<Loss> {
        match cause.reach {
            Reach::NeverSent => Some(Loss::Unsent),
            Reach::Refused => Some(Loss::Refused),
            Reach::MaybeSent => {
                let is_stale = part == Part::Head
                    && cause.failure == Some(TransportFailure::Reset)
                    && self.repeatable
                    && self.http.is_safe()
                    && self.config.connections.remembers(&**error);
                is_stale.then_some(Loss::Stale)
            }
            Reach::Unconnected | Reach::ClientClosed => None,
        }
    }
}

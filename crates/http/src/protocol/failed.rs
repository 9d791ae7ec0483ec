//! The facts of an attempt that brought no whole response.

use crate::config::HttpConfig;
use crate::failure::{BodyNotOpened, Broken, Cause, Connections, Part, classify};
use crate::protocol::http_protocol::{AttemptOutcome, HttpProtocol};
use crate::request::Replay;
use crate::response::EndedEarly;
use gax_driver::Note;
use gax_driver::protocol::AttemptContext;
use gax_retry::http::{HttpFailure, TransportFailure};
use gax_retry::operation::{AttemptResult, Resend, RetryFact};
use gax_wire::__private::{BoxError, Reach};

impl<S, B: Replay, R> HttpProtocol<S, B, R> {
    /// The request or its response broke.
    pub(super) fn broken(
        &mut self,
        config: &HttpConfig,
        error: BoxError,
        part: Part,
        context: &mut AttemptContext<'_>,
    ) -> AttemptResult {
        let mut cause = classify(&*error, part);
        if cause.is_closed_by_us {
            if context.is_alone() {
                cause = Cause::UNREADABLE;
            } else {
                context.note(Note::CONNECTION_CLOSED_FOR_A_RESPONSE);
            }
        }
        if cause.failure == Some(TransportFailure::Timeout) {
            context.note(Note::INNER_TIMEOUT);
        }
        let is_repeatable = self.is_repeatable && self.http.is_safe();
        let resend = resend(cause, part, &error, is_repeatable, &self.client.shared.connections);
        let result = self.lost(config, cause, error, context).with_resend(resend);
        if cause.is_closed_by_us && config.policy.permits(result) {
            return result.with_retry(RetryFact::ClosedByUs);
        }
        result
    }

    /// The body of the response ended early.
    pub fn ended_early(
        &mut self,
        config: &HttpConfig,
        why: EndedEarly,
        context: &mut AttemptContext<'_>,
    ) -> AttemptResult {
        match why {
            EndedEarly::TimedOut => self.timed_out(config, context),
            EndedEarly::Idle(_) => self.stalled(config, why.into_error(), context),
            _ => self.broken(config, why.into_error(), Part::Body, context),
        }
    }

    /// Nothing was sent or received for too long.
    pub(super) fn stalled(
        &mut self,
        config: &HttpConfig,
        error: BoxError,
        context: &mut AttemptContext<'_>,
    ) -> AttemptResult {
        self.lost(config, Cause::new(TransportFailure::Timeout, Reach::MaybeSent), error, context)
    }

    fn lost(
        &mut self,
        config: &HttpConfig,
        cause: Cause,
        source: BoxError,
        context: &mut AttemptContext<'_>,
    ) -> AttemptResult {
        let source = BodyNotOpened::unwrap(source);
        #[cfg(feature = "reqwest")]
        let source = crate::reqwest::FirstHop::unwrap(source);
        if cause == Cause::UNREADABLE {
            context.note(Note::UNREADABLE_RESPONSE);
        }
        if let Some(problem) = cause.problem {
            context.note(problem.note());
        }
        let failure = cause.failure.map(HttpFailure::Transport);
        let broken = Broken::Failed { failure: cause.failure, problem: cause.problem, source };
        let result = self.failed(config, failure, AttemptOutcome::Broken(broken), context);
        // A request that no server has carried out is safe to retry, whatever it is.
        cause.add_to(result, self.http.may_be_retried())
    }
}

/// Returns whether a request that was lost so is sent again silently. `is_repeatable`: it is safe to retry, whatever became of it.
fn resend(
    cause: Cause,
    part: Part,
    error: &BoxError,
    is_repeatable: bool,
    connections: &Connections,
) -> Resend {
    match cause.reach {
        _ if cause.is_final() => Resend::No,
        Reach::NeverSent => Resend::Lost,
        Reach::Refused => Resend::Refused,
        Reach::MaybeSent => {
            let is_stale = part == Part::Head
                && cause.failure == Some(TransportFailure::Reset)
                && is_repeatable
                && connections.remembers(&**error);
            if is_stale { Resend::Stale } else { Resend::No }
        }
        Reach::Unconnected | Reach::ChannelClosed => Resend::No,
    }
}

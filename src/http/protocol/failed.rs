//! The facts of an attempt that brought no whole response.

use crate::http::config::HttpConfig;
use crate::http::failure::{BodyNotOpened, Broken, Cause, Part, classify};
use crate::http::protocol::http_protocol::{AttemptOutcome, HttpProtocol};
use crate::http::request::Replay;
use crate::operation::{AttemptContext, Note};
use crate::transport::{BoxError, Reach, blame};
use gax_retry::{AttemptResult, HttpFailure, Resend, RetryFact, StopReason, TransportFailure};
use std::time::Duration;
use tokio::time::Instant;

/// A failure that may be that of another request on the same connection.
pub(crate) struct Suspect {
    cause: Cause,
    error: BoxError,
    died: Instant,
    ended_at: Duration,
}

impl Suspect {
    /// The response can't be read, or another one on the same connection. A moment shows whether other requests
    /// got the same error.
    ///
    /// # Errors
    ///
    /// Any other error, as it came.
    pub(crate) fn of(error: BoxError, part: Part, current: &AttemptContext<'_>) -> Result<Self, BoxError> {
        let cause = classify(&*error, part);
        if !cause.is_suspect {
            return Err(error);
        }
        let (died, ended_at) = current.clock().now();
        blame::died(died);
        Ok(Self { cause, error, died, ended_at })
    }

    /// When it is known.
    pub(crate) fn until(&self) -> Instant {
        self.died + blame::MOMENT
    }
}

impl<S, B: Replay, R> HttpProtocol<S, B, R> {
    /// The request or its response broke.
    pub(crate) fn broken(
        &mut self,
        config: &HttpConfig,
        error: BoxError,
        part: Part,
        current: &mut AttemptContext<'_>,
    ) -> AttemptResult {
        let cause = classify(&*error, part);
        let resend = if cause.is_final() { Resend::No } else { self.resend(cause, part, &error) };
        self.lost(config, cause, error, current).with_resend(resend)
    }

    /// Whether a suspect's own response could not be read is known now.
    #[cold]
    pub(crate) fn cleared(
        &mut self,
        config: &HttpConfig,
        suspect: Suspect,
        current: &mut AttemptContext<'_>,
    ) -> AttemptResult {
        let Suspect { cause, error, died, ended_at } = suspect;
        let cause = if blame::was_alone(died) { Cause::UNREADABLE } else { cause };
        self.lost(config, cause, error, current).with_end(ended_at)
    }

    /// The body of the response stopped coming.
    pub(crate) fn stalled(
        &mut self,
        config: &HttpConfig,
        error: BoxError,
        current: &mut AttemptContext<'_>,
    ) -> AttemptResult {
        self.lost(config, Cause::new(TransportFailure::Timeout, Reach::MaybeSent), error, current)
    }

    fn lost(
        &mut self,
        config: &HttpConfig,
        cause: Cause,
        source: BoxError,
        current: &mut AttemptContext<'_>,
    ) -> AttemptResult {
        let source = BodyNotOpened::unwrap(source);
        #[cfg(feature = "reqwest")]
        let source = crate::http::failure::FirstHop::unwrap(source);
        if cause == Cause::UNREADABLE {
            current.note(Note::UnreadableResponse);
        }
        if let Some(problem) = cause.problem {
            current.note(Note::CannotConnect(problem));
        }
        let failure = cause.failure.map(HttpFailure::Transport);
        let broken = Broken::Failed { failure: cause.failure, problem: cause.problem, source };
        let result = self.failed(config, failure, AttemptOutcome::Broken(broken), current);
        match cause.reach {
            Reach::ChannelClosed => result.with_retry(RetryFact::No(StopReason::ChannelClosed)),
            _ if cause.is_final() => result.with_retry(RetryFact::No(StopReason::NonRetryable)),
            // A request that no server has carried out is safe to retry, whatever it is.
            reach if self.http.may_be_retried() => result.with_delivery(reach.delivery()),
            _ => result,
        }
    }

    /// Whether a request that was lost so is sent again in silence.
    fn resend(&self, cause: Cause, part: Part, error: &BoxError) -> Resend {
        match cause.reach {
            Reach::NeverSent => Resend::Lost,
            Reach::Refused => Resend::Refused,
            Reach::MaybeSent => {
                let is_stale = part == Part::Head
                    && cause.failure == Some(TransportFailure::Reset)
                    && self.is_repeatable
                    && self.http.is_safe()
                    && self.shared.connections.remembers(&**error);
                if is_stale { Resend::Stale } else { Resend::No }
            }
            Reach::Unconnected | Reach::ChannelClosed => Resend::No,
        }
    }
}

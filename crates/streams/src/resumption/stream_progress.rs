//! How far the messages of an attempt have come, and what follows from each.

use crate::resumption::resumer::{MessageDecision, Resumer};
use crate::resumption::strategy::StreamResumption;
use gax_driver::__private::Clock;
use gax_driver::protocol::{AttemptContext, Step};
use gax_retry::Compatibility;
use gax_retry::operation::{AttemptResult, Seen};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Instant;
use tonic::Status;
use tonic_gax::note;

/// How far the messages of the attempt in flight have come. Of several that compete for an operation none has had a message: they
/// share it.
#[derive(Debug)]
pub(crate) struct StreamProgress {
    pub(crate) wait: WaitTimeout,
    brought: Received,
    /// The messages that the caller got.
    delivered: u64,
    /// They have ended well.
    is_done: bool,
}

/// Later points are greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Received {
    Nothing,
    Headers,
    /// Messages, of which the caller has none.
    Messages,
    /// Messages for the caller.
    Delivered,
}

impl StreamProgress {
    pub(crate) fn new(wait_timeout: Option<Duration>) -> Self {
        let wait = WaitTimeout::new(wait_timeout);
        Self { wait, brought: Received::Nothing, delivered: 0, is_done: false }
    }

    /// The headers of its response have come.
    pub(crate) fn opened(&mut self) {
        self.brought = Received::Headers;
    }

    /// A message has come.
    #[inline]
    pub(crate) fn arrived(&mut self) {
        self.wait.reset();
        self.brought = self.brought.max(Received::Messages);
    }

    #[inline]
    fn deliver<M>(&mut self, message: M, slot: &mut Option<M>) -> Step {
        self.brought = Received::Delivered;
        self.delivered += 1;
        *slot = Some(message);
        Step::Yielded
    }

    /// As much as its response counts by those rules, of a stream that can be resumed.
    pub(crate) fn seen(&self, compatibility: Compatibility) -> Seen {
        match self.brought {
            Received::Nothing => Seen::Nothing,
            Received::Delivered => Seen::Messages { resumable: true },
            // Java counts any message as progress, whether the caller gets it or not.
            Received::Messages if compatibility == Compatibility::GaxJava => {
                Seen::Messages { resumable: true }
            }
            Received::Headers | Received::Messages => Seen::Begun,
        }
    }

    /// The attempt has ended. The report has how many messages came with it.
    #[inline]
    pub(crate) fn end(&mut self, context: &mut AttemptContext<'_>) {
        context.ended_after(self.delivered);
        (self.brought, self.delivered, self.is_done) = (Received::Nothing, 0, false);
    }
}

impl<Q, M, S: StreamResumption<Request = Q, Response = M> + ?Sized> Resumer<Q, M, S> {
    /// The step for which no message is read: one that was released goes to the caller, or the last one has.
    #[inline]
    pub(crate) fn next_step(&mut self, progress: &mut StreamProgress, slot: &mut Option<M>) -> Option<Step> {
        match self.released() {
            Some(message) => Some(progress.deliver(message, slot)),
            None => progress.is_done.then(|| Step::Ended(AttemptResult::done())),
        }
    }

    /// The step behind a message of so many bytes. `None`: the next one is read immediately.
    ///
    /// # Errors
    ///
    /// It can't be withheld, and no other attempt would do better.
    #[inline]
    pub(crate) fn step_behind(
        &mut self,
        message: M,
        size: usize,
        progress: &mut StreamProgress,
        context: &mut AttemptContext<'_>,
        cx: &mut Context<'_>,
        slot: &mut Option<M>,
    ) -> Result<Option<Poll<Step>>, Status> {
        match self.take(message, size) {
            MessageDecision::Deliver(message) => Ok(Some(Poll::Ready(progress.deliver(message, slot)))),
            MessageDecision::Kept => Ok(None),
            MessageDecision::KeptForLong => {
                cx.waker().wake_by_ref();
                Ok(Some(Poll::Pending))
            }
            MessageDecision::Full => {
                context.note(note::WITHHELD_TOO_MUCH);
                let problem = "more of the stream was withheld than its resumption allows";
                Err(Status::resource_exhausted(problem))
            }
        }
    }

    /// The messages have ended well: the caller gets all that was withheld.
    pub(crate) fn finish(&mut self, progress: &mut StreamProgress) {
        self.release();
        progress.is_done = true;
    }
}

/// gax-java's wait timeout, exact: it runs while the caller waits for a message, and starts again with each message and each
/// attempt. A message that comes at its end is in time: so the clock has to be past that moment.
#[derive(Debug, Default)]
pub(crate) struct WaitTimeout {
    timeout: Option<Duration>,
    ends_at: Option<Instant>,
}

impl WaitTimeout {
    pub(crate) fn new(timeout: Option<Duration>) -> Self {
        Self { timeout, ends_at: None }
    }

    /// Nobody waits: a message was delivered, or no attempt is in flight.
    #[inline]
    pub(crate) fn reset(&mut self) {
        self.ends_at = None;
    }

    /// The caller waits. If it has done so for too long, this is when that was so, counted from the operation's start.
    #[inline]
    pub(crate) fn over(&mut self, clock: Clock) -> Option<Duration> {
        self.check(clock, self.timeout?)
    }

    fn check(&mut self, clock: Clock, timeout: Duration) -> Option<Duration> {
        let (now, elapsed) = clock.now();
        let Some(end) = self.ends_at else {
            self.ends_at = now.checked_add(timeout);
            return None;
        };
        (now > end).then(|| elapsed.saturating_sub(now.saturating_duration_since(end)))
    }

    /// When to look whether it is over.
    #[inline]
    pub(crate) fn due(&self) -> Option<Instant> {
        self.ends_at.and_then(|end| end.checked_add(Duration::from_nanos(1)))
    }
}

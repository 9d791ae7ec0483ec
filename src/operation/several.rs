//! The attempts of a hedged operation: several can be in flight at once.

use super::in_progress::InProgress;
use super::protocol::Protocol;
use gax_retry::operation::{Action, AttemptResult};
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::time::Instant;

/// The attempts in flight, by number.
pub(super) struct Several<A> {
    running: Vec<(u32, Pin<Box<A>>)>,
}

impl<A> Several<A> {
    pub(super) fn of(number: u32, attempt: A) -> Self {
        Self { running: vec![(number, Box::pin(attempt))] }
    }

    pub(super) fn push(&mut self, number: u32, attempt: A) {
        self.running.push((number, Box::pin(attempt)));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    /// Takes an attempt out, to ask what it amounts to or to drop it.
    pub(super) fn take(&mut self, number: u32) -> Option<Pin<Box<A>>> {
        let place = self.running.iter().position(|(other, _)| *other == number)?;
        Some(self.running.remove(place).1)
    }

    /// Goes on with each attempt until one has a fact to report: that it has ended, which takes it out, or `None`,
    /// that it is the operation's, by what has come of its response or gone of its request.
    pub(super) fn poll<P: Protocol<Attempt = A>>(
        &mut self,
        protocol: &mut P,
        plan: &P::Plan,
        progress: &mut InProgress,
        cx: &mut Context<'_>,
        reply: &mut P::Reply,
    ) -> Poll<Option<(u32, AttemptResult)>> {
        let policy = plan.as_ref();
        for place in 0..self.running.len() {
            let Some((number, attempt)) = self.running.get_mut(place) else { break };
            let number = *number;
            let mut current = progress.current_of(policy, number);
            match protocol.poll(plan, attempt.as_mut(), &mut current, cx, reply) {
                Poll::Ready(result) => {
                    self.running.remove(place);
                    return Poll::Ready(Some((number, result)));
                }
                Poll::Pending => {
                    let point = protocol.reached(attempt);
                    if point.is_some_and(|point| progress.committed(policy, number, point))
                        || protocol.is_over_limit(number) && progress.over_limit(number)
                    {
                        return Poll::Ready(None);
                    }
                }
            }
        }
        Poll::Pending
    }

    /// The moment at which the first of them wants to be polled although nothing has happened.
    pub(super) fn due<P: Protocol<Attempt = A>>(&self, protocol: &P) -> Option<Instant> {
        self.running.iter().filter_map(|(_, attempt)| protocol.due(attempt)).min()
    }

    /// One of them has the reply: the others are dropped, which resets their streams.
    pub(super) fn cancel_losers<P: Protocol<Attempt = A>>(
        &mut self,
        plan: &P::Plan,
        progress: &mut InProgress,
    ) {
        while let Action::Cancel(number) = progress.next(plan.as_ref()) {
            self.take(number);
            progress.cancelled(plan.as_ref(), number);
        }
    }
}

//! The attempts in flight.

use super::in_progress::InProgress;
use super::protocol::{Protocol, Step};
use gax_retry::Policy;
use pin_project_lite::pin_project;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::time::Instant;

pin_project! {
    /// The attempts in flight, with their numbers. One lives inside the operation's future; those of a hedged operation are
    /// boxed, from the first, since they can't move and others may follow.
    #[project = AttemptsProj]
    pub(super) enum Attempts<A> {
        None,
        One { number: u32, #[pin] attempt: A },
        Many { attempts: Vec<(u32, Pin<Box<A>>)> },
    }
}

impl<A> Attempts<A> {
    /// The first attempt of an operation by that policy.
    #[inline]
    pub(super) fn first(policy: &Policy, number: u32, attempt: A) -> Self {
        if policy.hedging().is_some() { Self::boxed(number, attempt) } else { Self::One { number, attempt } }
    }

    #[cold]
    fn boxed(number: u32, attempt: A) -> Self {
        Self::Many { attempts: vec![(number, Box::pin(attempt))] }
    }

    pub(super) fn push(mut self: Pin<&mut Self>, policy: &Policy, number: u32, attempt: A) {
        match self.as_mut().project() {
            AttemptsProj::Many { attempts } => attempts.push((number, Box::pin(attempt))),
            AttemptsProj::None | AttemptsProj::One { .. } => self.set(Self::first(policy, number, attempt)),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::None => true,
            Self::One { .. } => false,
            Self::Many { attempts } => attempts.is_empty(),
        }
    }

    /// The attempt of that number, which is in flight.
    pub(super) fn get(self: Pin<&mut Self>, wanted: u32) -> Option<Pin<&mut A>> {
        match self.project() {
            AttemptsProj::One { attempt, .. } => Some(attempt),
            AttemptsProj::Many { attempts } => {
                let (_, attempt) = attempts.iter_mut().find(|(number, _)| *number == wanted)?;
                Some(attempt.as_mut())
            }
            AttemptsProj::None => None,
        }
    }

    /// Drops the attempt of that number, which resets its stream.
    #[expect(clippy::inline_always, reason = "which it is, is known there (bench `speed`, instructions)")]
    #[inline(always)]
    pub(super) fn remove(mut self: Pin<&mut Self>, wanted: u32) {
        match self.as_mut().project() {
            AttemptsProj::One { .. } => self.set(Self::None),
            AttemptsProj::Many { attempts } => attempts.retain(|(number, _)| *number != wanted),
            AttemptsProj::None => {}
        }
    }

    /// Goes on with each attempt until one has something to report.
    #[inline]
    pub(super) fn poll<P: Protocol<Attempt = A>>(
        self: Pin<&mut Self>,
        protocol: &mut P,
        config: &P::Config,
        progress: &mut InProgress,
        cx: &mut Context<'_>,
        slot: &mut P::Slot,
    ) -> Poll<(u32, Step)> {
        let policy = config.as_ref();
        match self.project() {
            AttemptsProj::None => Poll::Pending,
            AttemptsProj::One { number, attempt } => {
                let step = protocol.poll(config, attempt, &mut progress.context(policy, *number), cx, slot);
                step.map(|step| (*number, step))
            }
            AttemptsProj::Many { attempts } => {
                for (number, attempt) in attempts {
                    let mut context = progress.context(policy, *number);
                    if let Poll::Ready(step) = protocol.poll(config, attempt.as_mut(), &mut context, cx, slot)
                    {
                        return Poll::Ready((*number, step));
                    }
                }
                Poll::Pending
            }
        }
    }

    /// The first moment at which one of them wants to be polled although nothing has happened.
    #[inline]
    pub(super) fn due<P: Protocol<Attempt = A>>(&self, protocol: &P) -> Option<Instant> {
        match self {
            Self::None => None,
            Self::One { attempt, .. } => protocol.due(attempt),
            Self::Many { attempts } => attempts.iter().filter_map(|(_, attempt)| protocol.due(attempt)).min(),
        }
    }
}

//! The attempts in flight.

use super::protocol::Protocol;
use pin_project_lite::pin_project;
use std::pin::Pin;
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
    /// The first attempt of an operation that is hedged.
    #[cold]
    pub(super) fn boxed(number: u32, attempt: A) -> Self {
        Self::Many { attempts: vec![(number, Box::pin(attempt))] }
    }

    #[cold]
    pub(super) fn push(mut self: Pin<&mut Self>, number: u32, attempt: A) {
        match self.as_mut().project() {
            AttemptsProj::Many { attempts } => attempts.push((number, Box::pin(attempt))),
            AttemptsProj::None | AttemptsProj::One { .. } => self.set(Self::boxed(number, attempt)),
        }
    }

    /// The attempt at that place, in the order in which they were begun.
    #[inline]
    pub(super) fn nth(self: Pin<&mut Self>, place: usize) -> Option<(u32, Pin<&mut A>)> {
        match self.project() {
            AttemptsProj::One { number, attempt } if place == 0 => Some((*number, attempt)),
            AttemptsProj::Many { attempts } => {
                attempts.get_mut(place).map(|(number, attempt)| (*number, attempt.as_mut()))
            }
            AttemptsProj::None | AttemptsProj::One { .. } => None,
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
    #[inline]
    pub(super) fn remove(mut self: Pin<&mut Self>, wanted: u32) {
        match self.as_mut().project() {
            AttemptsProj::One { .. } => self.set(Self::None),
            AttemptsProj::Many { attempts } => attempts.retain(|(number, _)| *number != wanted),
            AttemptsProj::None => {}
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

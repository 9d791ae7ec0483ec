//! What an operation is made over: a protocol carries attempts out and reports facts.

use super::clock::Clock;
use super::in_progress::{InProgress, Unsendable};
use super::jitter::Jitter;
use super::observe::{Observers, Outgoing, Transport};
use super::report::{Name, Note};
use gax_retry::operation::{AttemptResult, CommitPoint};
use gax_retry::{AttemptKind, Policy, StartedAttempt};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Instant;

/// Translates between an operation and a transport. It decides nothing that is true of every operation: which
/// attempt follows, when, and why there is none, is the [`Operation`]'s to say.
///
/// Requests and failures stay with the protocol; the driver passes on facts and the reply alone. An attempt is a
/// state that is polled, not a future that owns its transport.
pub(crate) trait Protocol {
    /// What the operations of one method share.
    type Plan: AsRef<Policy>;

    /// An attempt in flight.
    type Attempt;

    /// Where a good reply goes.
    ///
    /// A reply is large, and to move it costs more than all that is decided about it. So it is written once, to the
    /// place where the caller wants it, and only facts move (bench `speed`, instructions).
    type Reply;

    /// What its operations run over, as observers are told.
    const TRANSPORT: Transport;

    /// What the operation is called, in its report and by observers.
    fn name(&self, plan: &Self::Plan) -> Name;

    /// Who is told of the operation, asked as it starts.
    fn observers<'a>(&'a self, plan: &'a Self::Plan) -> Option<&'a Observers>;

    /// The time that the caller gives the operation, asked as it starts; `None` means no limit of the caller's.
    #[inline]
    fn bound(&self, _plan: &Self::Plan) -> Option<Duration> {
        None
    }

    /// Where the operation's jitter comes from, asked as it starts.
    fn jitter(&self, plan: &Self::Plan) -> Jitter;

    /// Makes ready what the first attempt needs, on the operation's time: reads the request, above all. Asked
    /// until it is ready; an error is the protocol's to keep.
    #[inline]
    fn prepare(&mut self, _plan: &Self::Plan, _cx: &mut Context<'_>) -> Poll<Result<(), Unsendable>> {
        Poll::Ready(Ok(()))
    }

    /// Starts an attempt.
    fn begin(
        &mut self,
        plan: &Self::Plan,
        started: StartedAttempt,
        current: &mut Current<'_>,
    ) -> Self::Attempt;

    /// Goes on with it until it has ended. If it has a reply, that is in `reply` then; otherwise nothing is.
    fn poll(
        &mut self,
        plan: &Self::Plan,
        attempt: Pin<&mut Self::Attempt>,
        current: &mut Current<'_>,
        cx: &mut Context<'_>,
        reply: &mut Self::Reply,
    ) -> Poll<AttemptResult>;

    /// The attempt has used up its RPC timeout: what that amounts to. `None`: it had none, so that it was not begun.
    fn expire(
        &mut self,
        plan: &Self::Plan,
        attempt: Option<Pin<&mut Self::Attempt>>,
        current: &mut Current<'_>,
    ) -> AttemptResult;

    /// A moment at which the attempt wants to be polled although nothing has happened.
    #[inline]
    fn due(&self, _attempt: &Self::Attempt) -> Option<Instant> {
        None
    }

    /// Whether the request may be sent while an attempt is in flight: whether it can be replayed, and is safe to
    /// repeat.
    #[inline]
    fn is_hedgeable(&self, _plan: &Self::Plan) -> bool {
        true
    }

    /// Whether more of the request was sent with that attempt than is buffered, where hedging has to know.
    #[inline]
    fn is_over_limit(&self, _attempt: u32) -> bool {
        false
    }

    /// How far the response of an attempt in flight has come, where hedging has to know.
    #[inline]
    fn reached(&self, _attempt: &Self::Attempt) -> Option<CommitPoint> {
        None
    }

    /// The failure of the attempt that ended just now is held: the operation ends with it, whatever fails after it, unless an
    /// attempt in flight has a reply. Asked of protocols whose operations can be hedged.
    fn hold(&mut self) {}

    /// The operation is going to wait before its next attempt: lets go of memory that the wait has no use for.
    fn before_wait(&mut self) {}
}

/// An attempt as its operation sees it.
pub(crate) struct Current<'a> {
    progress: &'a mut InProgress,
    policy: &'a Policy,
    number: u32,
}

impl InProgress {
    /// The attempt in flight; of several, the one that was sent last.
    #[inline]
    pub(super) fn current<'a>(&'a mut self, policy: &'a Policy) -> Current<'a> {
        let number = self.number;
        self.current_of(policy, number)
    }

    #[inline]
    pub(super) fn current_of<'a>(&'a mut self, policy: &'a Policy, number: u32) -> Current<'a> {
        Current { progress: self, policy, number }
    }

    #[inline]
    pub(crate) fn send<A>(
        &mut self,
        attempt: StartedAttempt,
        policy: &Policy,
        begin: impl FnOnce(&mut Current<'_>) -> A,
    ) -> A {
        self.sends(attempt);
        begin(&mut self.current(policy))
    }
}

impl Current<'_> {
    /// `None` once the operation has done with it.
    #[inline]
    pub(crate) fn started(&self) -> Option<StartedAttempt> {
        self.progress.started(self.policy, self.number)
    }

    /// Its number in the operation; the first is 1.
    #[inline]
    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    /// Whether it was sent before, and never reached a server.
    pub(crate) fn is_resent(&self) -> bool {
        self.started().is_some_and(|started| started.kind() == AttemptKind::Resend)
    }

    /// The moment at which its time is up.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.clock().at(self.started()?.expires_at()?)
    }

    /// The time since it started.
    pub(crate) fn elapsed(&self) -> Duration {
        let start = self.started().map_or(Duration::ZERO, StartedAttempt::start);
        self.clock().elapsed().saturating_sub(start)
    }

    pub(crate) fn clock(&self) -> Clock {
        self.progress.clock()
    }

    /// Its request is about to go out: what observers want of it, if anything.
    #[inline]
    pub(crate) fn sending(&mut self) -> Option<Box<Outgoing>> {
        self.progress.sending(self.number)
    }

    /// These bytes of its response have come in.
    #[inline]
    pub(crate) fn received(&mut self, data: &[u8]) {
        self.progress.received(self.number, data);
    }

    /// The caller gets the response before its end is known.
    #[inline]
    pub(crate) fn committed(&mut self) {
        self.progress.tell_commit(self.number);
    }

    /// Writes down what the attempts alone don't tell.
    pub(crate) fn note(&mut self, note: Note) {
        self.progress.note(self.policy, note);
    }
}

//! The protocol that an operation is made over: it carries attempts out and reports facts.

use super::clock::{Clock, earlier};
use super::connection_link::LinkTerms;
use super::in_progress::InProgress;
use super::jitter::{Jitter, JitterSeeds};
use super::observe::{Event, Observers, Outgoing, Transport};
use super::report::{Name, Note};
use gax_retry::operation::{AttemptResult, CommitPoint, Stop};
use gax_retry::{AttemptKind, Code, Policy, StartedAttempt};
use http::{Extensions, HeaderMap};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Instant;

/// Translates between an operation and a transport: sends attempts, and reports their results. It doesn't decide what is the
/// same for every operation: the [`Operation`](gax_retry::operation::Operation) decides whether another attempt follows, and
/// when.
///
/// Requests and failures stay with the protocol; the [`Driver`](super::Driver) passes on facts and the reply alone. An attempt is a
/// state that is polled, not a future that owns its transport.
///
/// # Order of calls
///
/// 1. [`start`](Self::start) and [`is_prepared`](Self::is_prepared), once, and [`name`](Self::name) if it is needed;
/// 2. [`prepare`](Self::prepare) until it is ready, only if the protocol was not prepared. No attempt follows an error;
/// 3. for each attempt [`begin`](Self::begin), and [`poll`](Self::poll) until it has [ended](Step::Ended); or, once its time is up,
///    [`expire`](Self::expire) instead of further polls. An attempt without any time expires without having begun. Then
///    [`ending`](Self::ending), unless the attempt was cancelled. If the operation is hedged, the calls for several attempts
///    alternate;
/// 4. [`before_wait`](Self::before_wait) before a wait with no attempt in flight.
///
/// Nothing is called after the reply.
///
/// # Cancel safety
///
/// An attempt that is no longer wanted is dropped: another has won, it has expired, or the caller has dropped the operation.
/// Dropping it must stop its work immediately, without blocking and without losing what later attempts need. The protocol
/// itself is dropped after its attempts.
pub trait Protocol {
    /// The settings that the operations of one method share. A protocol without its own settings takes
    /// [`OperationConfig`](crate::protocol::OperationConfig).
    type Config: AsRef<Policy>;

    /// An attempt in flight. Dropped, it is cancelled.
    type Attempt;

    /// The place of a good reply, or of a message of a stream.
    ///
    /// A reply is large, and to move it costs more than all that is decided about it. So it is written once, to the
    /// place where the caller wants it, and only facts move (bench `speed`, instructions).
    type Slot;

    /// The transport that observers see: what they can expect of it.
    const TRANSPORT: &'static Transport;

    /// `true` if attempts after the first are polls: each is an operation with its own retries, and none is a retry.
    #[doc(hidden)]
    const POLLS: bool = false;

    /// The operation's name, in its report and for observers.
    fn name(&self, config: &Self::Config) -> Name;

    /// Returns whether the number of such names is bounded, whatever observers know of them; asked as it starts.
    fn is_described(&self, _config: &Self::Config) -> bool {
        false
    }

    /// The start of the operation, asked for once.
    fn start<'a>(&'a self, config: &'a Self::Config) -> Start<'a>;

    /// Returns whether the first attempt can be sent as the operation begins. If not, its request is
    /// [prepared](Self::prepare) first.
    #[inline]
    fn is_prepared(&self) -> bool {
        true
    }

    /// Makes ready all that the first attempt needs, on the operation's time: reads the request, above all. Asked
    /// until it is ready; an error is the protocol's to keep.
    #[inline]
    fn prepare(&mut self, _config: &Self::Config, _cx: &mut Context<'_>) -> Poll<Result<(), Unsendable>> {
        Poll::Ready(Ok(()))
    }

    /// Starts an attempt: takes what it needs of the request, and leaves the rest for others. It must not block.
    fn begin(
        &mut self,
        config: &Self::Config,
        started: StartedAttempt,
        context: &mut AttemptContext<'_>,
    ) -> Self::Attempt;

    /// Continues with it until there is something to report. A good reply, or a message, is in `slot` then; otherwise nothing is.
    /// The failure of an attempt is the protocol's to keep. It is not polled again once it has ended.
    fn poll(
        &mut self,
        config: &Self::Config,
        attempt: Pin<&mut Self::Attempt>,
        context: &mut AttemptContext<'_>,
        cx: &mut Context<'_>,
        slot: &mut Self::Slot,
    ) -> Poll<Step>;

    /// The attempt has used up its RPC timeout: the facts of that. `None`: it had none, so that it was not begun. It is dropped
    /// afterwards.
    fn expire(
        &mut self,
        _config: &Self::Config,
        _attempt: Option<Pin<&mut Self::Attempt>>,
        _context: &mut AttemptContext<'_>,
    ) -> AttemptResult {
        AttemptResult::failed(Code::DeadlineExceeded).with_timed_out()
    }

    /// The attempt has ended, in whichever way: the last chance to write something down of it.
    #[inline]
    fn ending(&mut self, _context: &mut AttemptContext<'_>) {}

    /// A moment at which the attempt wants to be polled although nothing has happened.
    #[inline]
    fn due(&self, _attempt: &Self::Attempt) -> Option<Instant> {
        None
    }

    /// Returns whether the request may be sent while an attempt is in flight: whether it can be replayed, and is safe to
    /// repeat.
    #[inline]
    fn is_hedgeable(&self, _config: &Self::Config) -> bool {
        true
    }

    /// The failure of the attempt that ended just now is held: the operation ends with it, whatever fails after it, unless an
    /// attempt in flight has a reply. Asked of protocols whose operations can be hedged.
    fn hold(&mut self) {}

    /// The operation is going to wait before its next attempt: releases memory that the wait has no use for.
    fn before_wait(&mut self) {}
}

/// The start of an operation: its initial data in addition to its policy.
pub struct Start<'a> {
    pub(super) observers: Option<&'a Observers>,
    pub(super) jitter: Jitter,
    pub(super) bound: Option<Duration>,
}

impl<'a> Start<'a> {
    /// These observers are notified of it, and its jitter is the next of these seeds.
    #[inline]
    #[doc(hidden)]
    #[must_use]
    pub fn new(observers: Option<&'a Observers>, seeds: &JitterSeeds) -> Self {
        Self { observers, jitter: seeds.next(), bound: None }
    }

    /// The time that the caller gives the operation; `None` means no limit of the caller's. Of several the shortest counts.
    #[inline]
    #[must_use]
    pub fn within(self, bound: Option<Duration>) -> Self {
        Self { bound: earlier(self.bound, bound), ..self }
    }
}

/// The request can't be made, so there is no attempt. The protocol keeps the error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "protocols make it")]
pub struct Unsendable;

/// Something that an attempt in flight reports.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Step {
    /// A message of a stream is in the slot, and more may follow.
    Yielded,
    /// The attempt has come to that point. It is said once, and only if the attempt would be pending otherwise: what comes in
    /// the same poll as the end is in the result.
    Committed(CommitPoint),
    /// It has ended.
    Ended(AttemptResult),
}

/// Something that a driver has for its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "callers match it whole")]
pub enum Output {
    /// A message of a stream, which is in the slot. The operation continues.
    Item,
    /// The reply, which is in the slot.
    Reply,
    /// Why there is no reply. The failure is with the protocol.
    Failed(Stop),
}

/// The verdict of a reader on a reply: a success or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// It is what the caller has asked for.
    Good,
    /// It can't be read, and no other attempt would change that: the operation has failed with that code.
    Unreadable(Code),
    /// It says that the operation has failed, with that code.
    Failed(Code),
}

/// An attempt as its protocol sees it.
pub struct AttemptContext<'a> {
    progress: &'a mut InProgress,
    policy: &'a Policy,
    number: u32,
}

impl InProgress {
    #[inline]
    pub(super) fn context<'a>(&'a mut self, policy: &'a Policy, number: u32) -> AttemptContext<'a> {
        AttemptContext { progress: self, policy, number }
    }
}

impl AttemptContext<'_> {
    gax_text::getters! { self:
        /// `None` once the operation has done with it.
        #[inline]
        pub started: Option<StartedAttempt> = self.progress.started(self.policy, self.number);

        /// Its number in the operation; the first is 1.
        #[inline]
        pub number: u32 = self.number;

        /// Returns whether no other call shared its connection, so that our own stack can have closed that for its response alone.
        pub is_alone: bool = self.progress.is_alone(self.number);

        #[doc(hidden)]
        pub clock: Clock = self.progress.clock();
    }

    /// Returns whether it was sent before, and never reached a server.
    #[must_use]
    pub fn is_resent(&self) -> bool {
        self.started().is_some_and(|started| started.kind() == AttemptKind::Resend)
    }

    /// The moment at which its time is up.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.clock().at(self.started()?.expires_at()?)
    }

    /// The time since it started.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        let start = self.started().map_or(Duration::ZERO, StartedAttempt::start);
        self.clock().elapsed().saturating_sub(start)
    }

    /// Links its request to the connection that is going to carry it. `unconnected`: its end, if none can be made.
    #[inline]
    #[doc(hidden)]
    pub fn link(
        &mut self,
        extensions: &mut Extensions,
        waits_for_ready: Option<bool>,
        unconnected: AttemptResult,
    ) {
        let retry = (self.number > 1 || self.is_resent())
            .then(|| (self.deadline(), self.started().map_or(Duration::ZERO, StartedAttempt::delay)));
        let outwaits_backoff = self.policy.outwaits_backoff(unconnected);
        let terms = LinkTerms { waits_for_ready, outwaits_backoff, ..LinkTerms::default() };
        extensions.insert(self.progress.link(self.policy, self.number, terms, retry));
    }

    /// It has used up its time without a response: its connection may be dead.
    #[doc(hidden)]
    pub fn expire(&mut self) {
        self.progress.expire_link(self.policy, self.number);
    }

    /// Its request is about to be sent: the wishes of observers, if they have any.
    #[inline]
    #[doc(hidden)]
    pub fn sending(&mut self) -> Option<Box<Outgoing>> {
        self.progress.sending(self.number)
    }

    /// Adds the headers that observers add, in place of those of the same names. Call it when the request is about to be sent:
    /// observers are notified.
    pub fn add_headers(&mut self, headers: &mut HeaderMap) {
        if let Some(mut outgoing) = self.sending() {
            outgoing.add_headers(headers);
        }
    }

    /// Returns whether observers want to know what arrives.
    #[doc(hidden)]
    pub fn watches_transfers(&mut self) -> bool {
        self.progress.watches_transfers()
    }

    /// These bytes of its response have arrived.
    #[inline]
    #[doc(hidden)]
    pub fn received(&mut self, data: &[u8]) {
        self.progress.received(self.number, data);
    }

    /// It ends, and its stream has brought the caller so many messages.
    pub fn ended_after(&mut self, messages: u64) {
        if messages > 0 {
            self.progress.ended_after(self.policy, self.number, messages);
        }
    }

    /// Something has happened to it that only this transport has: observers are notified.
    pub fn event(&mut self, event: &dyn Event) {
        self.progress.event(self.number, event);
    }

    /// Writes down a fact that the attempts alone don't show. Returns whether it is new.
    pub fn note(&mut self, note: Note) -> bool {
        self.progress.note(self.policy, note)
    }
}

gax_text::short_debug! { self: AttemptContext<'_> { number: self.number } }

gax_text::short_debug! { self: Start<'_> { bound: self.bound } }

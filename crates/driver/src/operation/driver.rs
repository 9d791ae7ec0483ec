//! The one driver: it has the clock, the timer and the attempts in flight, carries out the operation's actions, and
//! reports facts to it.
//!
//! ```text
//! operation, action = begin(policy, bound, ready)
//! loop:
//!     match action:
//!         Send(attempt)  -> the protocol begins it
//!         Expire(n)      -> its time begins now if it has waited for a connection in back-off; otherwise the protocol
//!                           says what its time-out amounts to: ended(n, result)
//!         Cancel(n)      -> drop it
//!         Finish(end)    -> return the reply, or why there is none
//!         Wait(moment)   -> poll the attempts in flight:
//!             Ended(result)    -> ended(n, result); a reply that nothing competes with is returned
//!             Committed(point) -> committed(n, point)
//!             Yielded          -> progressed(n); return the item
//!             Pending          -> sleep until the moment, or until one of them wakes the task
//!     action = next()
//! ```

use super::attempts::Attempts;
use super::clock::Clock;
use super::in_progress::InProgress;
use super::inbound::entered;
use super::observe::Observed;
use super::protocol::{AttemptContext, Output, Protocol, Start, Step, Unsendable, Verdict};
use super::report::{Note, OperationReport};
use super::stacked::{self, counted};
use super::timer::Timer;
use gax_retry::operation::{Action, AttemptResult, End, Ready, Stop};
use gax_retry::{Policy, StartedAttempt, StopReason};
use http::Extensions;
use pin_project_lite::pin_project;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

pin_project! {
    /// An operation on its way: the one loop that sends attempts, waits, notifies observers and writes the report. It is polled by
    /// the caller's task, and needs tokio's timer.
    ///
    /// It ends in one of three ways. [`poll_end`](Self::poll_end) does everything if each reply is a success. With
    /// [`poll`](Self::poll), the caller gets the reply and reports its verdict with [`finish`](Self::finish). After a
    /// failure, [`failed`](Self::failed) returns the report.
    ///
    /// # Cancel safety
    ///
    /// Dropping it drops its attempts, and then notifies observers that the operation was cancelled.
    pub struct Driver<P: Protocol> {
        // It is dropped first: servers see its attempts reset before `progress` notifies observers that the operation was
        // cancelled.
        #[pin]
        stage: Stage<P::Attempt>,
        protocol: P,
        config: Arc<P::Config>,
        progress: InProgress,
        timer: Timer,
    }
}

pin_project! {
    #[project = StageProj]
    enum Stage<A> {
        // The operation has not begun.
        Unbegun,
        // Its request is being read, on the operation's time, of which its caller gives so much.
        Preparing { bound: Option<Duration> },
        Running { #[pin] attempts: Attempts<A> },
        // This attempt starts as soon as other tasks have had their turn.
        Held { attempt: StartedAttempt },
        // It has ended without an attempt, which the caller does not know yet.
        Refused { stop: Stop },
        // The caller knows how it ended.
        Finished,
    }
}

/// Why there is no first attempt to be sent now. Unlike a stage it has no place for an attempt, and is small to move.
enum NoAttempt {
    /// The request has to be read first.
    Unprepared {
        bound: Option<Duration>,
    },
    /// The operation has another action.
    Otherwise,
    Refused {
        stop: Stop,
    },
}

impl<A> From<NoAttempt> for Stage<A> {
    fn from(reason: NoAttempt) -> Self {
        match reason {
            NoAttempt::Unprepared { bound } => Self::Preparing { bound },
            NoAttempt::Otherwise => Self::Running { attempts: Attempts::None },
            NoAttempt::Refused { stop } => Self::Refused { stop },
        }
    }
}

impl<A> Stage<A> {
    /// That attempt is in flight, next to others where the operation is hedged.
    #[inline]
    fn run(mut self: Pin<&mut Self>, policy: &Policy, number: u32, attempt: A) {
        if policy.hedging().is_none() {
            self.set(Self::Running { attempts: Attempts::One { number, attempt } });
        } else if let Some(attempts) = self.as_mut().attempts() {
            attempts.push(number, attempt);
        } else {
            self.set(Self::Running { attempts: Attempts::boxed(number, attempt) });
        }
    }

    /// The attempts in flight, of which there are none where the operation does not run.
    fn attempts(self: Pin<&mut Self>) -> Option<Pin<&mut Attempts<A>>> {
        match self.project() {
            StageProj::Running { attempts } => Some(attempts),
            _ => None,
        }
    }
}

impl<P: Protocol> Driver<P> {
    /// An operation that begins when it is first polled.
    #[inline]
    #[must_use]
    pub fn new(protocol: P, config: Arc<P::Config>) -> Self {
        Self { protocol, config, progress: InProgress::new(), timer: Timer::default(), stage: Stage::Unbegun }
    }

    /// Sets whether a success has a report even if one attempt was enough.
    #[inline]
    #[must_use]
    pub fn reporting(mut self, reports: bool) -> Self {
        self.progress.reports = reports;
        self
    }

    /// An operation that begins now rather than when it is first polled. `send` sends its first attempt, unless the operation has
    /// to wait for something first. It is made in one piece, since it is large to move (bench `speed`, instructions).
    #[inline]
    #[doc(hidden)]
    pub fn begun(
        mut protocol: P,
        config: Arc<P::Config>,
        reports: bool,
        bound: Option<Duration>,
        send: impl FnOnce(&mut P, &P::Config, StartedAttempt, &mut AttemptContext<'_>) -> P::Attempt,
    ) -> Self {
        let mut progress = InProgress::new();
        progress.reports = reports;
        let (policy, timer) = ((*config).as_ref(), Timer::default());
        let first = match begin(&mut progress, &mut protocol, &config, |_| bound) {
            Ok(first) => first,
            Err(reason) => return Self { stage: reason.into(), protocol, config, progress, timer },
        };
        let number = first.number();
        let entered = progress.enter(number);
        let attempt = send(&mut protocol, &config, first, &mut progress.context(policy, number));
        drop(entered);
        let attempts = match policy.hedging() {
            None => Attempts::One { number, attempt },
            Some(_) => Attempts::boxed(number, attempt),
        };
        Self { stage: Stage::Running { attempts }, protocol, config, progress, timer }
    }

    /// The protocol, with the failure that it keeps.
    #[must_use]
    pub fn protocol(self: Pin<&mut Self>) -> &mut P {
        self.project().protocol
    }

    gax_text::getters! { self:
        /// The settings that it runs by.
        #[inline]
        pub config: &Arc<P::Config> = &self.config;

        /// Returns whether observers or the caller are notified of the end of an operation that has its reply. Otherwise there is nothing
        /// to [close](Self::close).
        #[inline]
        pub is_watched: bool = self.progress.is_watched();

        /// The operation's clock.
        #[doc(hidden)]
        pub clock: Clock = self.progress.clock();
    }

    /// Returns whether the attempt with the reply may take all the time that the operation has.
    #[doc(hidden)]
    pub fn has_all_the_time(&self) -> bool {
        self.progress.has_all_the_time((*self.config).as_ref())
    }

    #[cfg(test)]
    pub(super) fn is_reported(&self) -> bool {
        self.progress.is_reported()
    }

    /// Continues until the operation has ended, and treats its reply as a success. Returns why it failed, if it did, and
    /// the report.
    pub fn poll_end(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slot: &mut P::Slot,
    ) -> Poll<(Option<Stop>, OperationReport)> {
        loop {
            return match self.as_mut().poll(cx, slot) {
                Poll::Pending => Poll::Pending,
                Poll::Ready(Output::Item) => continue,
                Poll::Ready(Output::Reply) => Poll::Ready((None, self.finish(Verdict::Good))),
                Poll::Ready(Output::Failed(stop)) => Poll::Ready((Some(stop), self.failed(stop))),
            };
        }
    }

    /// Ends an operation whose reply is good. The report, if one is wanted.
    #[inline]
    #[must_use]
    pub fn close(self: Pin<&mut Self>) -> Option<OperationReport> {
        let is_wanted = self.progress.is_reported();
        let report = self.is_watched().then(|| self.finish(Verdict::Good));
        report.filter(|_| is_wanted)
    }

    /// Ends an operation that has its reply, by what the reply is worth. Observers are notified before the report is made.
    #[cold]
    #[must_use]
    pub fn finish(mut self: Pin<&mut Self>, verdict: Verdict) -> OperationReport {
        if let Some(observed) = self.as_mut().project().progress.take_observed() {
            match verdict {
                Verdict::Good => observed.succeeded(),
                Verdict::Unreadable(code) | Verdict::Failed(code) => observed.unusable(code),
            }
        }
        let report = self.report(None);
        match verdict {
            Verdict::Good => report,
            Verdict::Unreadable(code) => report.unreadable(code),
            Verdict::Failed(code) => report.failed(code),
        }
    }

    /// The report of an operation that has failed, for that reason. Its observers are notified as it fails.
    #[must_use]
    pub fn failed(self: Pin<&mut Self>, stop: Stop) -> OperationReport {
        self.report(Some(stop))
    }

    /// From now on, the caller reads the reply itself. The report so far is put into its extensions if one was requested. The
    /// operation, as observers see it, has to be closed when the reply ends.
    #[cold]
    #[doc(hidden)]
    pub fn hand_over(mut self: Pin<&mut Self>, extensions: &mut Extensions) -> Option<Box<Observed>> {
        let observed = self.as_mut().project().progress.take_observed();
        if self.progress.is_reported() {
            extensions.insert(self.report(None));
        }
        observed
    }

    /// Ends an operation whose reply is good. The report is put into its extensions if one was requested: it is large to move
    /// (bench `speed`, instructions).
    #[cold]
    pub fn close_into(self: Pin<&mut Self>, extensions: &mut Extensions) {
        if let Some(observed) = self.hand_over(extensions) {
            observed.succeeded();
        }
    }

    /// The moment that the operation waits for, while no attempt is in flight.
    #[doc(hidden)]
    #[must_use]
    pub fn waits_until(self: Pin<&mut Self>) -> Option<tokio::time::Instant> {
        let this = self.project();
        this.progress.wake_at((**this.config).as_ref(), None)
    }

    /// The facts that were written down.
    #[doc(hidden)]
    pub fn notes(&self) -> &[Note] {
        self.progress.notes()
    }

    /// Writes down a fact that the attempts alone don't show.
    pub fn note(self: Pin<&mut Self>, note: Note) {
        let this = self.project();
        this.progress.note((**this.config).as_ref(), note);
    }

    /// The report of an operation that has ended; `stop` says why it failed.
    fn report(self: Pin<&mut Self>, stop: Option<Stop>) -> OperationReport {
        let this = self.project();
        this.progress.report((**this.config).as_ref(), stop, this.protocol.name(this.config))
    }

    /// Continues until there is something for the caller: an item or the reply, which is in `slot` then, or why there is none.
    /// The failure itself is with the protocol.
    #[inline]
    pub fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>, slot: &mut P::Slot) -> Poll<Output> {
        let mut this = self.project();
        let (protocol, config, progress) = (this.protocol, &**this.config, this.progress);
        let policy = config.as_ref();
        loop {
            if progress.request_has_ended(cx)
                && let Some(stop) = abandon(&mut this.stage.as_mut(), protocol, config, progress)
            {
                return Poll::Ready(Output::Failed(stop));
            }
            // An attempt that is to be sent now, or why there is none; `None`: something has happened.
            let first = match this.stage.as_mut().project() {
                StageProj::Running { mut attempts } => {
                    let mut place = 0;
                    loop {
                        let Some((number, attempt)) = attempts.as_mut().nth(place) else {
                            let wake = progress.wake_at(policy, attempts.due(protocol));
                            if this.timer.poll_at(wake, cx).is_pending() {
                                progress.pended();
                                return Poll::Pending;
                            }
                            break;
                        };
                        let entered = progress.enter(number);
                        let mut context = progress.context(policy, number);
                        let (step, retries) =
                            counted(|| protocol.poll(config, attempt, &mut context, cx, slot));
                        drop(entered);
                        if retries > 0 && !P::POLLS {
                            progress.retried_inside(policy, retries);
                        }
                        match step {
                            Poll::Pending => place += 1,
                            Poll::Ready(Step::Ended(result)) => {
                                attempts.remove(number);
                                if ended(progress, protocol, config, number, result) {
                                    this.stage.set(Stage::Finished);
                                    return Poll::Ready(Output::Reply);
                                }
                                break;
                            }
                            Poll::Ready(Step::Committed(point)) => {
                                progress.committed(policy, number, point);
                                break;
                            }
                            Poll::Ready(Step::Yielded) => {
                                if progress.progressed(policy, number) {
                                    // It is the operation's only attempt from now on.
                                    follow(&mut this.stage.as_mut(), protocol, config, progress);
                                }
                                return Poll::Ready(Output::Item);
                            }
                        }
                    }
                    None
                }
                StageProj::Held { attempt } => {
                    let attempt = *attempt;
                    sends(progress, protocol, config, attempt);
                    Some(Ok(attempt))
                }
                StageProj::Unbegun => Some(begin(progress, protocol, config, |bound| bound)),
                StageProj::Preparing { bound } => {
                    let ready = match protocol.prepare(config, cx) {
                        Poll::Ready(Ok(())) => Ready::Late(progress.elapsed()),
                        Poll::Ready(Err(Unsendable)) => Ready::Never(StopReason::NonRetryable),
                        // Whether there is time for an attempt is decided when it starts.
                        Poll::Pending => match this.timer.poll_at(progress.time_limit(policy, *bound), cx) {
                            Poll::Ready(()) => Ready::Late(progress.elapsed()),
                            Poll::Pending => return Poll::Pending,
                        },
                    };
                    Some(start_late(progress, protocol, config, *bound, ready))
                }
                StageProj::Refused { stop } => {
                    let stop = *stop;
                    this.stage.set(Stage::Finished);
                    return Poll::Ready(Output::Failed(stop));
                }
                StageProj::Finished => return Poll::Pending,
            };
            match first {
                Some(Ok(started)) => {
                    let number = started.number();
                    let attempt = protocol.begin(config, started, &mut progress.context(policy, number));
                    this.stage.as_mut().run(policy, number, attempt);
                }
                Some(Err(reason)) => this.stage.set(reason.into()),
                None => match follow(&mut this.stage.as_mut(), protocol, config, progress) {
                    Then::Poll => {}
                    Then::Yield => {
                        cx.waker().wake_by_ref();
                        return Poll::Pending;
                    }
                    Then::Finish(End::Failure(stop)) => return Poll::Ready(Output::Failed(stop)),
                    Then::Finish(End::Reply(_)) => return Poll::Ready(Output::Reply),
                },
            }
        }
    }
}

gax_text::short_debug! { self: [P: Protocol] Driver<P> { attempts: self.progress.number } }

/// The operation's time runs from now on, and its observers are notified. Gives the first attempt, to be sent now. `bound` makes the
/// caller's time of what the protocol knows of it.
#[inline]
fn begin<P: Protocol>(
    progress: &mut InProgress,
    protocol: &mut P,
    config: &P::Config,
    bound: impl FnOnce(Option<Duration>) -> Option<Duration>,
) -> Result<StartedAttempt, NoAttempt> {
    let policy = config.as_ref();
    let Start { observers, jitter, bound: own } = protocol.start(config);
    let bound = bound(own);
    progress.begin(jitter);
    let is_over = entered().is_some_and(|inbound| progress.work_for(&inbound));
    if let Some(observers) = observers {
        let is_described = protocol.is_described(config);
        progress.observe(policy, observers, protocol.name(config), is_described, P::TRANSPORT);
    }
    let ready = if is_over { Ready::Never(StopReason::Cancelled) } else { Ready::Now };
    // An operation whose options can't work does not wait for its request.
    if !protocol.is_prepared() && !is_over && policy.problem().is_none() {
        return Err(NoAttempt::Unprepared { bound });
    }
    start(progress, protocol, config, bound, ready)
}

/// The operation begins late, or is over before it has begun.
#[cold]
fn start_late<P: Protocol>(
    progress: &mut InProgress,
    protocol: &mut P,
    config: &P::Config,
    bound: Option<Duration>,
    ready: Ready,
) -> Result<StartedAttempt, NoAttempt> {
    start(progress, protocol, config, bound, ready)
}

/// Begins the operation itself, now that it is known whether there is a request.
#[inline]
fn start<P: Protocol>(
    progress: &mut InProgress,
    protocol: &mut P,
    config: &P::Config,
    bound: Option<Duration>,
    ready: Ready,
) -> Result<StartedAttempt, NoAttempt> {
    match progress.start(config.as_ref(), bound, ready) {
        Action::Send(first) => {
            sends(progress, protocol, config, first);
            if first.has_no_time() { Err(NoAttempt::Otherwise) } else { Ok(first) }
        }
        Action::Finish(End::Failure(stop)) => Err(NoAttempt::Refused { stop }),
        Action::Finish(End::Reply(_)) | Action::Wait(_) | Action::Expire(_) | Action::Cancel(_) => {
            Err(NoAttempt::Otherwise)
        }
    }
}

/// Records that an attempt is sent. While it is in flight, no hedge is sent if the request can't be sent a second time.
#[inline]
fn sends<P: Protocol>(progress: &mut InProgress, protocol: &P, config: &P::Config, attempt: StartedAttempt) {
    if config.as_ref().hedging().is_some() && !protocol.is_hedgeable(config) {
        progress.close_hedges();
    }
    if attempt.number() > 1 && !P::POLLS {
        stacked::count();
    }
    progress.sends(attempt);
}

/// An attempt has ended. Returns whether the operation has ended with its reply.
#[inline]
fn ended<P: Protocol>(
    progress: &mut InProgress,
    protocol: &mut P,
    config: &P::Config,
    number: u32,
    result: AttemptResult,
) -> bool {
    protocol.ending(&mut progress.context(config.as_ref(), number));
    let is_over = progress.ended(config.as_ref(), number, result);
    if !is_over && progress.is_held(number) {
        protocol.hold();
    }
    is_over
}

/// The request has ended that the operation's thread works for: its attempts are dropped. The result is the operation's end,
/// unless that is known already.
#[cold]
fn abandon<P: Protocol>(
    stage: &mut Pin<&mut Stage<P::Attempt>>,
    protocol: &mut P,
    config: &P::Config,
    progress: &mut InProgress,
) -> Option<Stop> {
    match stage.as_mut().project() {
        StageProj::Refused { .. } | StageProj::Finished => return None,
        StageProj::Unbegun | StageProj::Preparing { .. } => {
            return match start_late(progress, protocol, config, None, Ready::Never(StopReason::Cancelled)) {
                Err(NoAttempt::Refused { stop }) => {
                    stage.set(Stage::Finished);
                    Some(stop)
                }
                Ok(_) | Err(_) => None,
            };
        }
        StageProj::Running { .. } | StageProj::Held { .. } => progress.cancel(config.as_ref()),
    }
    match follow(stage, protocol, config, progress) {
        Then::Finish(End::Failure(stop)) => Some(stop),
        Then::Poll | Then::Yield | Then::Finish(End::Reply(_)) => None,
    }
}

/// The driver's own next step, after the actions.
enum Then {
    /// Poll the attempts in flight, or wait.
    Poll,
    /// Let other tasks have their turn.
    Yield,
    Finish(End),
}

/// Carries out the operation's actions, now that something has happened.
#[inline]
fn follow<P: Protocol>(
    stage: &mut Pin<&mut Stage<P::Attempt>>,
    protocol: &mut P,
    config: &P::Config,
    progress: &mut InProgress,
) -> Then {
    let policy = config.as_ref();
    loop {
        match progress.next(policy) {
            // It is over before it is sent.
            Action::Send(started) if started.has_no_time() => progress.sends(started),
            Action::Send(attempt) if policy.hedging().is_none() && progress.yields_before(attempt) => {
                stage.set(Stage::Held { attempt });
                return Then::Yield;
            }
            Action::Send(started) => {
                sends(progress, protocol, config, started);
                let number = started.number();
                let attempt = protocol.begin(config, started, &mut progress.context(policy, number));
                stage.as_mut().run(policy, number, attempt);
                // Nothing else is due then: to ask is a look at the clock (bench `speed`, instructions).
                if policy.hedging().is_none() {
                    return Then::Poll;
                }
            }
            Action::Expire(number) if progress.postpones(policy, number) => {}
            Action::Expire(number) => {
                progress.expire_link(policy, number);
                let attempt = stage.as_mut().attempts().and_then(|attempts| attempts.get(number));
                let result = protocol.expire(config, attempt, &mut progress.context(policy, number));
                remove(stage, number);
                ended(progress, protocol, config, number, result);
            }
            Action::Cancel(number) => {
                remove(stage, number);
                progress.cancelled(policy, number);
            }
            Action::Wait(_) => {
                progress.note_withheld_hedges(policy);
                if stage.as_mut().attempts().is_none_or(|attempts| attempts.is_empty()) {
                    protocol.before_wait();
                }
                return Then::Poll;
            }
            Action::Finish(end) => {
                stage.set(Stage::Finished);
                return Then::Finish(end);
            }
        }
    }
}

fn remove<A>(stage: &mut Pin<&mut Stage<A>>, number: u32) {
    if let Some(attempts) = stage.as_mut().attempts() {
        attempts.remove(number);
    }
}

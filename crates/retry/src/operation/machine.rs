//! One operation on its way.

use super::action::FollowUp;
use super::state::State;
use super::{Action, AttemptResult, CommitPoint, End, Outcome, Policy, World};
use crate::jitter::JitterSource;
use crate::nanos::{FOREVER, bounded, nanos_or_forever};
use crate::{NoJitter, StartedAttempt, StopReason};
use std::ops::{Deref, DerefMut};
use std::time::Duration;

/// One operation, as a state machine: it gets facts and returns one action at a time.
///
/// [`begin`](Self::begin) returns the first action. The driver carries out the actions and reports facts: that an
/// attempt [`progressed`](Self::progressed) or [`ended`](Self::ended), that it [`committed`](Self::committed) the
/// operation, that the caller [`cancelled`](Self::cancelled) it. After each fact the driver asks for the
/// [`next`](Self::next) action until one of them is [`Action::Wait`] or [`Action::Finish`]. All times count from the
/// operation's start. An operation stays with the policy that it began with.
///
/// # Examples
///
/// The documentation's second table, by hand:
///
/// ```
/// use gax_retry::jitter::JitterSource;
/// use gax_retry::operation::{Action, AttemptResult, End, Operation, Ready, World};
/// use gax_retry::{Code, NoJitter, Policy, RetrySettings, StopReason};
/// use std::time::Duration;
///
/// struct Clock(Duration, NoJitter);
/// impl World for Clock {
///     fn now(&mut self) -> Duration { self.0 }
///     fn jitter(&mut self) -> &mut dyn JitterSource { &mut self.1 }
/// }
///
/// let ms = Duration::from_millis;
/// let settings = RetrySettings::builder()
///     .initial_retry_delay(ms(200)).retry_delay_multiplier(2.0).max_retry_delay(ms(500))
///     .initial_rpc_timeout(ms(1500)).rpc_timeout_multiplier(2.0).max_rpc_timeout(ms(3000))
///     .total_timeout(ms(5000))
///     .build()?;
/// let policy = Policy::new(&settings, Code::DeadlineExceeded);
///
/// let mut world = Clock(ms(0), NoJitter);
/// let (mut operation, action) = Operation::begin(&policy, None, Ready::Now);
/// let Action::Send(first) = action else { panic!() };
/// assert_eq!(first.rpc_timeout(), Some(ms(1500)));
///
/// world.0 = ms(1500);
/// assert_eq!(operation.next(&policy, &mut world), Action::Expire(1));
/// operation.ended(&policy, 1, AttemptResult::failed(Code::DeadlineExceeded), &mut world);
/// assert_eq!(operation.next(&policy, &mut world), Action::Wait(Some(ms(1700))));
///
/// world.0 = ms(1700);
/// let Action::Send(second) = operation.next(&policy, &mut world) else { panic!() };
/// assert_eq!((second.delay(), second.rpc_timeout()), (ms(200), Some(ms(3000))));
///
/// world.0 = ms(4700);
/// assert_eq!(operation.next(&policy, &mut world), Action::Expire(2));
/// operation.ended(&policy, 2, AttemptResult::failed(Code::DeadlineExceeded), &mut world);
/// let Action::Finish(End::Failure(stop)) = operation.next(&policy, &mut world) else { panic!() };
/// assert_eq!(stop.reason(), StopReason::TotalTimeout);
/// # Ok::<(), gax_retry::SettingsError>(())
/// ```
///
/// # Notes
///
/// The driver may keep notes `N` together with the operation's own state: both are allocated together when an attempt
/// fails. [`with_notes`](Self::with_notes) starts such an operation.
#[derive(Debug, Clone, PartialEq)]
pub struct Operation<N = ()> {
    form: Form<N>,
}

/// How much an operation has to know of itself.
#[derive(Debug, Clone, PartialEq)]
enum Form<N> {
    /// Its first attempt is in flight, or has the reply, and nothing has gone wrong.
    Early {
        /// The caller's own deadline in nanoseconds, or [`FOREVER`].
        bound: u64,
        stage: Stage,
    },
    /// An operation whose first attempt succeeds has no use for this; it is made when something goes wrong, since an
    /// operation is moved about with the future of every call.
    Full(Box<FullState<N>>),
}

#[derive(Debug, Clone, PartialEq)]
struct FullState<N> {
    bound: u64,
    state: State,
    notes: Option<N>,
}

/// The notes of an operation that has ended. To take them out of it would copy them; so they stay, and it isn't used any more.
#[derive(Debug, Clone)]
pub struct Notes<N>(Box<FullState<N>>);

impl<N> Deref for Notes<N> {
    type Target = N;

    fn deref(&self) -> &N {
        self.0.notes.as_ref().expect("an operation has notes before they are taken")
    }
}

impl<N> DerefMut for Notes<N> {
    fn deref_mut(&mut self) -> &mut N {
        self.0.notes.as_mut().expect("an operation has notes before they are taken")
    }
}

/// Notes are equal if their entries are.
impl<N: PartialEq> PartialEq for Notes<N> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

/// How far the first attempt has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// It was sent.
    Sent,
    /// It has delivered a message.
    Progressed,
    /// The operation is committed to it.
    Committed,
    /// It has the reply: the operation has ended.
    Replied,
}

/// When the request of an operation is ready to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a request is ready, was late, or never comes")]
pub enum Ready {
    /// As the operation begins.
    Now,
    /// It had to be read first, on the operation's time, which took that long.
    Late(Duration),
    /// Never: no attempt is made, for that reason.
    Never(StopReason),
}

impl Operation {
    /// Begins an operation, and gives its first action: to send the first attempt, or to finish without one. `bound` is
    /// how much time its caller gives it, whatever the settings say; `None` means no limit of the caller's.
    #[inline]
    #[must_use]
    pub fn begin(policy: &Policy, bound: Option<Duration>, ready: Ready) -> (Self, Action) {
        Self::with_notes(policy, bound, ready)
    }
}

impl<N> Operation<N> {
    /// Like [`begin`](Operation::begin), for a driver that writes down `N`.
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_retry::operation::{Operation, Ready};
    /// use gax_retry::{Code, Policy, RetrySettings};
    ///
    /// let policy = Policy::new(&RetrySettings::default(), Code::Unavailable);
    /// let (mut operation, _) = Operation::<Vec<&str>>::with_notes(&policy, None, Ready::Now);
    /// assert_eq!(operation.notes(), None);
    /// operation.notes_mut(&policy).push("seen");
    /// assert_eq!(*operation.into_notes(&policy), ["seen"]);
    /// ```
    #[inline]
    #[must_use]
    pub fn with_notes(policy: &Policy, bound: Option<Duration>, ready: Ready) -> (Self, Action) {
        let bound = nanos_or_forever(bound);
        if ready == Ready::Now
            && policy.hedging.is_none()
            && let Some(first) = first(policy, bound).filter(|first| !first.has_no_time())
        {
            return (Self { form: Form::Early { bound, stage: Stage::Sent } }, Action::Send(first));
        }
        Self::begin_full(policy, bound, ready)
    }

    /// Something is in the way of the first attempt, or it may not be the only one in flight.
    #[cold]
    fn begin_full(policy: &Policy, bound: u64, ready: Ready) -> (Self, Action) {
        let now = if let Ready::Late(now) = ready { now } else { Duration::ZERO };
        let mut state = State::before_first(policy, now);
        if let Ready::Never(reason) = ready {
            state.stop(reason);
        }
        let action = state.next(policy, bound, &mut Beginning(NoJitter));
        (Self { form: Form::Full(Box::new(FullState { bound, state, notes: None })) }, action)
    }

    /// An attempt that is in flight, that has the reply, or that was cancelled last.
    #[inline]
    #[must_use]
    pub fn attempt(&self, policy: &Policy, number: u32) -> Option<StartedAttempt> {
        match &self.form {
            Form::Full(full) => full.state.in_flight(number),
            Form::Early { bound, .. } => first(policy, *bound).filter(|_| number == 1),
        }
    }

    /// Returns whether that attempt, which is in flight or has the reply, may take all the time that is left: our clock ends the
    /// operation with it, regardless of its code. By gax-java's rules that is so for a caller's deadline alone.
    #[must_use]
    pub fn has_all_the_time(&self, policy: &Policy, number: u32) -> bool {
        self.attempt(policy, number).is_some_and(|attempt| policy.ends_with(attempt, self.bound()))
    }

    gax_text::getters! { self:
        /// Returns whether the attempt that ended last is repeated without being counted.
        pub is_resending: bool = self.state().is_some_and(State::is_resending);

        /// Returns whether our own stack has closed the connection of the attempt that ended last, for one response on it: this
        /// operation's or another one's.
        pub is_closed: bool = self.state().is_some_and(State::is_closed);

        /// Returns whether a hedge was due and the retry budget did not allow it.
        pub has_withheld_hedges: bool = self.state().is_some_and(State::has_withheld_hedges);
    }

    /// The follow-up of the attempt that ended last, before anything else is done.
    pub(super) fn follow_up(&self) -> FollowUp {
        match self.state() {
            Some(state) => state.follow_up(),
            None => FollowUp::End(End::Reply(1)),
        }
    }

    /// The next thing to do.
    #[inline]
    pub fn next(&mut self, policy: &Policy, world: &mut impl World) -> Action {
        if let Form::Early { .. } = self.form {
            match self.wake_at(policy) {
                Some(deadline) if world.now() >= deadline => {}
                deadline => return Action::Wait(deadline),
            }
        }
        let full = self.full(policy);
        full.state.next(policy, full.bound, world)
    }

    /// When [`next`](Self::next) has something new to say although nothing happens meanwhile: the earliest
    /// of the attempts' deadlines, the end of the delay and the next hedge. `None`: only a fact can continue.
    #[inline]
    #[must_use]
    pub fn wake_at(&self, policy: &Policy) -> Option<Duration> {
        match &self.form {
            Form::Full(full) => full.state.wake_at(),
            Form::Early { stage: Stage::Replied, .. } => None,
            Form::Early { bound, .. } => first(policy, *bound)?.expires_at(),
        }
    }

    /// Reports that an attempt has ended. An attempt that was cancelled or never made has no effect. Returns whether
    /// the operation has ended with that attempt's reply and no other attempt is in flight: then there is no next
    /// action.
    #[inline]
    pub fn ended(
        &mut self,
        policy: &Policy,
        attempt: u32,
        result: AttemptResult,
        world: &mut impl World,
    ) -> bool {
        if let Form::Early { stage, .. } = &mut self.form
            && *stage != Stage::Replied
            && attempt == 1
            && result.outcome == Outcome::Done
        {
            policy.succeeded(world);
            *stage = Stage::Replied;
            return true;
        }
        self.ended_otherwise(policy, attempt, result, world)
    }

    /// Out of the way of the good end of an operation's only attempt.
    #[inline(never)]
    fn ended_otherwise(
        &mut self,
        policy: &Policy,
        attempt: u32,
        result: AttemptResult,
        world: &mut impl World,
    ) -> bool {
        let full = self.full(policy);
        full.state.ended(policy, full.bound, attempt, result, world)
    }

    /// Reports that an attempt in flight has delivered a message of a stream, which the caller gets now. A hedged
    /// operation is then committed to that attempt. Returns whether this committed the operation.
    #[inline]
    pub fn progressed(&mut self, policy: &Policy, attempt: u32) -> bool {
        match &mut self.form {
            Form::Full(full) => {
                full.state.progressed(policy, attempt);
                policy.hedging.is_some() && full.state.committed(attempt)
            }
            Form::Early { stage, .. } => {
                if *stage == Stage::Sent && attempt == 1 {
                    *stage = Stage::Progressed;
                }
                false
            }
        }
    }

    /// The fact that an attempt in flight has come to that point. If the policy commits there, the other attempts in
    /// flight are cancelled and no further one is made. Returns whether this committed the operation.
    pub fn committed(&mut self, policy: &Policy, attempt: u32, point: CommitPoint) -> bool {
        if point < policy.commits_at {
            return false;
        }
        match &mut self.form {
            Form::Full(full) => full.state.committed(attempt),
            Form::Early { stage: stage @ (Stage::Sent | Stage::Progressed), .. } if attempt == 1 => {
                *stage = Stage::Committed;
                true
            }
            Form::Early { .. } => false,
        }
    }

    /// The fact that the request can't be sent while an attempt is in flight: no hedge follows.
    pub fn close_hedges(&mut self) {
        if let Form::Full(full) = &mut self.form {
            full.state.close_hedges();
        }
    }

    /// The hedge whose failure is held: the operation ends with it, unless an attempt that is in flight has a reply.
    #[must_use]
    pub fn held(&self) -> Option<u32> {
        self.state()?.held()
    }

    /// The time at which our clock ends the operation, whatever it does; `None`: never.
    #[must_use]
    pub fn limit(&self, policy: &Policy) -> Option<Duration> {
        bounded(policy.rules.clock_limit().min(self.bound()))
    }

    /// The time of that attempt, which is in flight, begins only then: it waited for what its request needs. Returns whether that
    /// is news, and leaves it time.
    #[doc(hidden)]
    pub fn postpone(&mut self, policy: &Policy, attempt: u32, start: Duration) -> bool {
        let limit = self.limit(policy);
        self.full(policy).state.postpone(attempt, start, limit)
    }

    /// The fact that the caller has dropped the operation.
    pub fn cancelled(&mut self, policy: &Policy) {
        self.full(policy).state.cancelled();
    }

    /// The notes of its driver; `None`: it has written nothing down.
    #[inline]
    #[must_use]
    pub fn notes(&self) -> Option<&N> {
        match &self.form {
            Form::Full(full) => full.notes.as_ref(),
            Form::Early { .. } => None,
        }
    }

    /// The notes of its driver, to write down more.
    pub fn notes_mut(&mut self, policy: &Policy) -> &mut N
    where
        N: Default,
    {
        self.full(policy).notes.get_or_insert_default()
    }

    /// The notes of its driver, which outlive it in their place.
    #[must_use]
    pub fn into_notes(mut self, policy: &Policy) -> Notes<N>
    where
        N: Default,
    {
        self.notes_mut(policy);
        match self.form {
            Form::Full(full) => Notes(full),
            Form::Early { .. } => unreachable!("it was made full just now"),
        }
    }

    /// The caller's own deadline in nanoseconds.
    fn bound(&self) -> u64 {
        match &self.form {
            Form::Early { bound, .. } => *bound,
            Form::Full(full) => full.bound,
        }
    }

    /// Everything that has happened so far, if anything has gone wrong.
    fn state(&self) -> Option<&State> {
        match &self.form {
            Form::Early { .. } => None,
            Form::Full(full) => Some(&full.state),
        }
    }

    /// Everything that has happened so far, spelled out.
    #[inline]
    fn full(&mut self, policy: &Policy) -> &mut FullState<N> {
        if let Form::Early { bound, stage } = self.form {
            self.form = Form::Full(after_first(policy, bound, stage));
        }
        match &mut self.form {
            Form::Full(full) => full,
            Form::Early { .. } => unreachable!("it was made full just now"),
        }
    }
}

/// An operation whose first attempt is in flight.
#[cold]
fn after_first<N>(policy: &Policy, bound: u64, reached: Stage) -> Box<FullState<N>> {
    let mut state = match first(policy, bound) {
        Some(first) => State::after_first(policy, first),
        // Of an operation that was given another policy than the one it began with.
        None => State::before_first(policy, Duration::ZERO),
    };
    match reached {
        Stage::Sent => {}
        Stage::Progressed => state.progressed(policy, 1),
        Stage::Committed => drop(state.committed(1)),
        Stage::Replied => state.replied(),
    }
    Box::new(FullState { bound, state, notes: None })
}

/// The world of an operation that begins. It is not asked: the moment of its first attempt is known, and nothing is drawn.
struct Beginning(NoJitter);

impl World for Beginning {
    fn now(&mut self) -> Duration {
        Duration::ZERO
    }

    fn jitter(&mut self) -> &mut dyn JitterSource {
        &mut self.0
    }
}

/// The first attempt as it is sent, or was sent, without delay; `None`: there is no time for it.
#[inline]
fn first(policy: &Policy, bound: u64) -> Option<StartedAttempt> {
    let first = policy.first.ok()?;
    match bound {
        0 => None,
        FOREVER => Some(first),
        bound => Some(first.within(bound)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Code, RetrySettings};

    struct Clock(Duration);

    impl World for Clock {
        fn now(&mut self) -> Duration {
            self.0
        }

        fn jitter(&mut self) -> &mut dyn JitterSource {
            unreachable!("nothing is drawn")
        }
    }

    /// An operation allocates nothing until something goes wrong.
    #[test]
    fn a_first_attempt_that_succeeds_makes_no_full_state() {
        let settings = RetrySettings::logical_timeout(Duration::from_millis(9));
        let policy = Policy::new(&settings, Code::Unavailable);
        let (mut operation, action) = Operation::begin(&policy, None, Ready::Now);
        assert!(matches!(action, Action::Send(_)));
        let mut clock = Clock(Duration::from_millis(8));
        let deadline = Some(Duration::from_millis(9));
        assert_eq!(operation.next(&policy, &mut clock), Action::Wait(deadline));
        assert!(!operation.progressed(&policy, 1));
        assert!(operation.committed(&policy, 1, CommitPoint::FirstMessage));
        assert!(!operation.committed(&policy, 1, CommitPoint::OverLimit));
        assert_eq!(operation.next(&policy, &mut clock), Action::Wait(deadline));
        assert!(operation.ended(&policy, 1, AttemptResult::done(), &mut clock));
        clock.0 = Duration::from_millis(9);
        assert_eq!(operation.next(&policy, &mut clock), Action::Wait(None));
        assert_eq!(operation.state(), None);
    }
}

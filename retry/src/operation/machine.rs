//! One operation on its way.

use super::action::FollowUp;
use super::known::State;
use super::{Action, AttemptResult, CommitPoint, End, Outcome, Policy, World};
use crate::StartedAttempt;
use crate::nanos::{FOREVER, nanos_or_forever};
use std::time::Duration;

/// One operation: facts go in, and [`next`](Self::next) gives one action at a time out.
///
/// The driver carries actions out and reports what has happened: that an attempt [`ended`](Self::ended), that
/// a response was [`committed`](Self::committed), that the caller [`cancelled`](Self::cancelled) the
/// operation. After each fact it asks for actions until one of them is [`Action::Wait`] or [`Action::Finish`].
/// All times count from the operation's start. An operation stays with the policy that it began with.
///
/// # Examples
///
/// The documentation's second table, by hand:
///
/// ```
/// use gax_retry::{Code, NoJitter, Policy, RetrySettings, StopReason};
/// use gax_retry::jitter::JitterSource;
/// use gax_retry::operation::{Action, AttemptResult, End, Operation, World};
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
/// let mut operation = Operation::begin(&policy, None);
/// let Action::Send(first) = operation.next(&policy, &mut world) else { panic!() };
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
/// Whoever drives it may write down `N` beside what the operation knows itself: both are made when something goes wrong,
/// in one allocation. [`with_notes`](Self::with_notes) begins such an operation.
#[derive(Debug, Clone, PartialEq)]
pub struct Operation<N = ()> {
    known: Known<N>,
}

/// What is known of it.
#[derive(Debug, Clone, PartialEq)]
enum Known<N> {
    /// Nothing has gone wrong.
    Early {
        /// The caller's own deadline in nanoseconds, or [`FOREVER`].
        bound: u64,
        stage: Stage,
    },
    /// All that an operation whose first attempt succeeds has no use for; it is made when something goes wrong,
    /// since an operation is moved about with the future of every call.
    Full(Box<FullState<N>>),
}

#[derive(Debug, Clone, PartialEq)]
struct FullState<N> {
    bound: u64,
    state: State,
    notes: Option<N>,
}

impl<N> FullState<N> {
    /// What an operation knows that has come so far without anything going wrong.
    #[cold]
    fn after(policy: &Policy, bound: u64, reached: Stage) -> Box<Self> {
        let state = match (reached, first(policy, bound)) {
            (Stage::First, Some(first)) => State::after_first(policy, first, None),
            (Stage::Committed, Some(first)) => State::after_first(policy, first, Some(1)),
            (Stage::Replied, _) => State::ended_with(policy, End::Reply(1), false),
            (Stage::Finished, _) => State::ended_with(policy, End::Reply(1), true),
            (Stage::Begun | Stage::First | Stage::Committed, _) => {
                State::before_first(policy, Duration::ZERO)
            }
        };
        Box::new(Self { bound, state, notes: None })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Nothing has been sent.
    Begun,
    /// The first attempt is in flight.
    First,
    /// It is in flight, and its response is the operation's.
    Committed,
    /// The first attempt has the reply.
    Replied,
    /// The reply was handed out.
    Finished,
}

impl Operation {
    /// An operation that starts now. `bound` is how much time its caller gives it, whatever the settings
    /// say; `None` means no limit of the caller's.
    #[inline]
    #[must_use]
    pub fn begin(policy: &Policy, bound: Option<Duration>) -> Self {
        Self::with_notes(policy, bound)
    }
}

impl<N> Operation<N> {
    /// The same operation with room for what its driver writes down.
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_retry::{Code, Policy, RetrySettings};
    /// use gax_retry::operation::Operation;
    ///
    /// let policy = Policy::new(&RetrySettings::default(), Code::Unavailable);
    /// let mut operation = Operation::<Vec<&str>>::with_notes(&policy, None);
    /// assert_eq!(operation.notes(), None);
    /// operation.notes_mut(&policy).push("seen");
    /// assert_eq!(operation.take_notes(), Some(vec!["seen"]));
    /// ```
    #[inline]
    #[must_use]
    pub fn with_notes(policy: &Policy, bound: Option<Duration>) -> Self {
        let known = Known::Early { bound: nanos_or_forever(bound), stage: Stage::Begun };
        let mut operation = Self { known };
        if policy.hedging.is_some() {
            operation.full(policy);
        }
        operation
    }

    /// The fact, before the first action, that the first attempt can go out only now: its request had to be read
    /// first.
    pub fn late(&mut self, policy: &Policy, now: Duration) {
        let (bound, notes) = (self.bound(), self.take_notes());
        let state = State::before_first(policy, now);
        self.known = Known::Full(Box::new(FullState { bound, state, notes }));
    }

    /// The fact, before the first action, that the request can't be made.
    pub fn unsendable(&mut self, policy: &Policy) {
        self.full(policy).state.unsendable();
    }

    /// The time at which the operation is over, whatever happens; `None`: no limit of time is set.
    #[must_use]
    pub fn time_limit(&self, policy: &Policy) -> Option<Duration> {
        let limit = policy.rules.time_limit().min(self.bound());
        (limit != FOREVER).then(|| Duration::from_nanos(limit))
    }

    /// An attempt that is in flight; also one that has the reply, and the one that was cancelled last.
    #[inline]
    #[must_use]
    pub fn attempt(&self, policy: &Policy, number: u32) -> Option<StartedAttempt> {
        match &self.known {
            Known::Full(full) => full.state.in_flight(number),
            Known::Early { .. } => self.first(policy).filter(|first| first.number() == number),
        }
    }

    /// Whether that attempt, which is in flight or has the reply, may take all the time that is left: our clock ends the
    /// operation with it, whatever its code. By gax-java's rules that is so for a caller's deadline alone.
    #[must_use]
    pub fn has_all_the_time(&self, policy: &Policy, number: u32) -> bool {
        self.attempt(policy, number).is_some_and(|attempt| policy.ends_with(attempt, self.bound()))
    }

    /// Whether the attempt that ended last is repeated without being counted.
    #[must_use]
    pub fn is_resending(&self) -> bool {
        self.state().is_some_and(State::is_resending)
    }

    /// What comes after the attempt that ended last, before anything else is done.
    pub(super) fn follow_up(&self) -> FollowUp {
        match self.state() {
            Some(state) => state.follow_up(),
            None => FollowUp::End(End::Reply(1)),
        }
    }

    /// The first attempt, to be sent now, where nothing stands in its way and it has time: what [`next`](Self::next)
    /// would say, without the detour. `None`: `next` knows more.
    #[inline]
    pub fn send_first(&mut self, policy: &Policy) -> Option<StartedAttempt> {
        let Known::Early { bound, stage: stage @ Stage::Begun } = &mut self.known else { return None };
        let first = first(policy, *bound).filter(|first| !first.has_no_time())?;
        *stage = Stage::First;
        Some(first)
    }

    /// The next thing to do.
    #[inline]
    pub fn next(&mut self, policy: &Policy, world: &mut impl World) -> Action {
        let stage = match &mut self.known {
            Known::Full(full) => return full.state.next(policy, full.bound, world),
            Known::Early { stage, .. } => stage,
        };
        match *stage {
            Stage::Begun => {
                if let Some(first) = self.send_first(policy) {
                    return Action::Send(first);
                }
            }
            Stage::First | Stage::Committed => match self.wake_at(policy) {
                Some(deadline) if world.now() >= deadline => {}
                deadline => return Action::Wait(deadline),
            },
            Stage::Replied => {
                *stage = Stage::Finished;
                return Action::Finish(End::Reply(1));
            }
            Stage::Finished => return Action::Wait(None),
        }
        let full = self.full(policy);
        full.state.next(policy, full.bound, world)
    }

    /// When [`next`](Self::next) has something new to say although nothing happens meanwhile: the earliest
    /// of the attempts' deadlines, the end of the delay and the next hedge. `None`: only a fact can go on.
    #[inline]
    #[must_use]
    pub fn wake_at(&self, policy: &Policy) -> Option<Duration> {
        match &self.known {
            Known::Full(full) => full.state.wake_at(),
            Known::Early { bound, stage: Stage::First | Stage::Committed } => {
                first(policy, *bound)?.expires_at()
            }
            Known::Early { stage: Stage::Begun | Stage::Replied | Stage::Finished, .. } => None,
        }
    }

    /// The fact that an attempt has ended. One that was cancelled, or never made, changes nothing.
    #[inline]
    pub fn ended(&mut self, policy: &Policy, attempt: u32, result: AttemptResult, world: &mut impl World) {
        if let Known::Early { stage: stage @ (Stage::First | Stage::Committed), .. } = &mut self.known
            && attempt == 1
            && result.outcome == Outcome::Done
        {
            policy.succeeded(world);
            *stage = Stage::Replied;
            return;
        }
        self.ended_otherwise(policy, attempt, result, world);
    }

    /// The same for all but the good end of an operation's only attempt, for which it would be in the way.
    #[inline(never)]
    fn ended_otherwise(
        &mut self,
        policy: &Policy,
        attempt: u32,
        result: AttemptResult,
        world: &mut impl World,
    ) {
        let full = self.full(policy);
        full.state.ended(policy, full.bound, attempt, result, world);
    }

    /// The fact that so much of an attempt's response has come in. If the policy commits there, the other
    /// attempts in flight are cancelled and no further one is made. Returns whether this committed the operation.
    pub fn committed(&mut self, policy: &Policy, attempt: u32, point: CommitPoint) -> bool {
        point >= policy.commits_at && self.commit(attempt)
    }

    /// The fact that more of the request was sent with an attempt than is buffered, so that no other one could be sent
    /// the whole of it (gRFC A6): the others in flight are cancelled and no further one is made. Returns whether this
    /// committed the operation.
    pub fn over_limit(&mut self, attempt: u32) -> bool {
        self.commit(attempt)
    }

    fn commit(&mut self, attempt: u32) -> bool {
        match &mut self.known {
            Known::Full(full) => full.state.committed(attempt),
            Known::Early { stage: stage @ Stage::First, .. } if attempt == 1 => {
                *stage = Stage::Committed;
                true
            }
            Known::Early { .. } => false,
        }
    }

    /// The fact that the request can't be sent while an attempt is in flight: no hedge follows.
    pub fn close_hedges(&mut self) {
        if let Known::Full(full) = &mut self.known {
            full.state.close_hedges();
        }
    }

    /// The hedge whose failure is held: the operation ends with it, unless an attempt that is in flight has a reply.
    #[must_use]
    pub fn held(&self) -> Option<u32> {
        self.state()?.held()
    }

    /// Whether a hedge was due and the retry budget did not allow it.
    #[must_use]
    pub fn has_withheld_hedges(&self) -> bool {
        self.state().is_some_and(State::has_withheld_hedges)
    }

    /// The fact that the caller has dropped the operation.
    pub fn cancelled(&mut self, policy: &Policy) {
        self.full(policy).state.cancelled();
    }

    /// What its driver has written down; `None`: nothing.
    #[inline]
    #[must_use]
    pub fn notes(&self) -> Option<&N> {
        match &self.known {
            Known::Full(full) => full.notes.as_ref(),
            Known::Early { .. } => None,
        }
    }

    /// The same, to write down more.
    pub fn notes_mut(&mut self, policy: &Policy) -> &mut N
    where
        N: Default,
    {
        self.full(policy).notes.get_or_insert_default()
    }

    /// What its driver has written down, which is forgotten here.
    pub fn take_notes(&mut self) -> Option<N> {
        match &mut self.known {
            Known::Full(full) => full.notes.take(),
            Known::Early { .. } => None,
        }
    }

    /// The caller's own deadline in nanoseconds.
    fn bound(&self) -> u64 {
        match &self.known {
            Known::Early { bound, .. } => *bound,
            Known::Full(full) => full.bound,
        }
    }

    /// What has happened so far, if anything has gone wrong.
    fn state(&self) -> Option<&State> {
        match &self.known {
            Known::Early { .. } => None,
            Known::Full(full) => Some(&full.state),
        }
    }

    /// The first attempt as it goes out, or went out, without delay; `None`: there is no time for it.
    #[inline]
    fn first(&self, policy: &Policy) -> Option<StartedAttempt> {
        first(policy, self.bound())
    }

    /// What has happened so far, spelled out.
    #[inline]
    fn full(&mut self, policy: &Policy) -> &mut FullState<N> {
        if let Known::Early { bound, stage } = self.known {
            self.known = Known::Full(FullState::after(policy, bound, stage));
        }
        match &mut self.known {
            Known::Full(full) => full,
            Known::Early { .. } => unreachable!("it was made late just now"),
        }
    }
}

/// The first attempt as it goes out, or went out, without delay; `None`: there is no time for it.
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
    use crate::jitter::JitterSource;
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
        let mut operation = Operation::begin(&policy, None);
        let mut clock = Clock(Duration::ZERO);
        assert!(matches!(operation.next(&policy, &mut clock), Action::Send(_)));
        clock.0 = Duration::from_millis(8);
        let deadline = Some(Duration::from_millis(9));
        assert_eq!(operation.next(&policy, &mut clock), Action::Wait(deadline));
        operation.committed(&policy, 1, CommitPoint::FirstMessage);
        assert_eq!(operation.next(&policy, &mut clock), Action::Wait(deadline));
        operation.ended(&policy, 1, AttemptResult::done(), &mut clock);
        assert_eq!(operation.next(&policy, &mut clock), Action::Finish(End::Reply(1)));
        assert_eq!(operation.next(&policy, &mut clock), Action::Wait(None));
        assert_eq!(operation.state(), None);
    }
}

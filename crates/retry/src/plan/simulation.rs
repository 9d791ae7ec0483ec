//! An operation under a clock that only counts: what plans and estimates run on.

use crate::jitter::JitterSource;
use crate::operation::{Action, AttemptResult, End, Event, Operation, Ready, World};
use crate::{Attempt, AttemptKind, Code, Policy, StartedAttempt};
use std::time::Duration;

/// Runs one operation against attempts that end as a script says, without any waiting.
///
/// An [`AttemptPlan`](crate::AttemptPlan) takes statuses and times. A simulation takes whatever a protocol can report of an
/// attempt: responses of which a part was handed on, polls, and what servers ask for. It notifies an observer as
/// an operation would.
///
/// # Examples
///
/// A stream of responses breaks off after its first message, which commits the operation:
///
/// ```
/// use gax_retry::operation::{AttemptResult, End, Seen};
/// use gax_retry::plan::{Simulated, Simulation};
/// use gax_retry::{Code, NoJitter, Policy, RetrySettings, StopReason};
/// use std::time::Duration;
///
/// let ms = Duration::from_millis;
/// let settings = RetrySettings::builder().initial_retry_delay(ms(100)).max_attempts(3).build()?;
/// let policy = Policy::new(&settings, Code::Unavailable);
/// let (attempts, end) = Simulation::new(&policy, &mut NoJitter).run(|attempt| {
///     let seen = if attempt.number() == 1 { Seen::Nothing } else { Seen::Messages { resumable: false } };
///     (Some(ms(5)), AttemptResult::failed(Code::Unavailable).with_seen(seen))
/// });
/// assert_eq!(attempts.len(), 2);
/// let Simulated::Ended(End::Failure(stop), at) = end else { panic!("{end:?}") };
/// assert_eq!((stop.reason(), at), (StopReason::Committed, ms(110)));
/// # Ok::<(), gax_retry::SettingsError>(())
/// ```
#[must_use]
pub struct Simulation<'a> {
    policy: &'a Policy,
    world: Counted<'a>,
    operation: Operation,
    /// The action that is already known: the first, or the end that nothing else is before.
    known: Option<Action>,
    in_flight: Vec<InFlight>,
    rows: Vec<Attempt>,
    /// How many attempts have ended.
    count: usize,
    /// `true` if their rows are kept.
    keeps_rows: bool,
    observer: Option<&'a mut dyn FnMut(Event)>,
    /// The code of an attempt that has used up its RPC timeout.
    expired: Code,
}

/// How a [simulated](Simulation) operation ended, or why it did not.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "an operation ends, hangs or goes on")]
pub enum Simulated {
    /// It ended then, that way.
    Ended(End, Duration),
    /// These attempts have no deadline and get no response.
    Endless(Vec<StartedAttempt>),
    /// It continues beyond [`Simulation::MAX_ATTEMPTS`]; the last attempt ended then.
    Truncated(Duration),
}

struct Counted<'a> {
    now: Duration,
    jitter: &'a mut dyn JitterSource,
}

impl World for Counted<'_> {
    fn now(&mut self) -> Duration {
        self.now
    }

    fn jitter(&mut self) -> &mut dyn JitterSource {
        self.jitter
    }
}

/// An attempt, when the server ends it, and how.
struct InFlight {
    attempt: StartedAttempt,
    ends_at: Option<Duration>,
    result: AttemptResult,
}

gax_text::short_debug! { self: Simulation<'_> { policy: self.policy } }

impl<'a> Simulation<'a> {
    /// The most attempts that are run; settings with tiny delays can lead to millions.
    pub const MAX_ATTEMPTS: usize = 10_000;

    /// An operation by that policy, which has not begun.
    pub fn new(policy: &'a Policy, jitter: &'a mut dyn JitterSource) -> Self {
        let (operation, first) = Operation::begin(policy, None, Ready::Now);
        Self {
            policy,
            world: Counted { now: Duration::ZERO, jitter },
            operation,
            known: Some(first),
            in_flight: Vec::new(),
            rows: Vec::new(),
            count: 0,
            keeps_rows: true,
            observer: None,
            expired: Code::DeadlineExceeded,
        }
    }

    /// Its caller gives it no more than that, whatever the policy says: no attempt starts after it or runs beyond it. `None`,
    /// as is the default: no such limit.
    pub fn within(self, bound: impl Into<Option<Duration>>) -> Self {
        let (operation, first) = Operation::begin(self.policy, bound.into(), Ready::Now);
        Self { operation, known: Some(first), ..self }
    }

    gax_text::setters! { self:
        /// An attempt that has used up its RPC timeout is treated as if it had failed with that code.
        pub(crate) expiring_as(code: Code) => self.expired = code;

        /// Notifies that observer of every attempt, in their order.
        pub observed_by(observer: &'a mut dyn FnMut(Event)) => self.observer = Some(observer);
    }

    /// Keeps no rows of attempts.
    pub(crate) fn without_rows(self) -> Self {
        Self { keeps_rows: false, ..self }
    }

    /// Runs to the end, and gives all attempts in the order of their numbers. `respond` says of each attempt how long after
    /// its start the server ends it (`None`: never), and how. An end at the attempt's deadline or later comes too late: all
    /// but its code counts, which is `DEADLINE_EXCEEDED` then. A transparent retry is asked about like an attempt.
    pub fn run(
        mut self,
        respond: impl FnMut(StartedAttempt) -> (Option<Duration>, AttemptResult),
    ) -> (Vec<Attempt>, Simulated) {
        let end = self.run_on(respond);
        // Attempts that overlapped are in the order in which they were sent.
        self.rows.sort_by_key(Attempt::number);
        (self.rows, end)
    }

    /// How many attempts there are if each is refused immediately.
    pub(crate) fn count_refused(self) -> usize {
        let mut simulation = self.without_rows();
        let refused = AttemptResult::failed(simulation.policy.usual_refusal());
        simulation.run_on(|_| (Some(Duration::ZERO), refused));
        simulation.count
    }

    /// How many attempts there are, and how they end, if each uses up its RPC timeout and fails so.
    pub(crate) fn run_silent(self, failed: AttemptResult) -> (usize, Simulated) {
        let mut simulation = self.without_rows();
        match simulation.run_on(|_| (None, failed)) {
            end @ Simulated::Endless(_) => (simulation.count + simulation.in_flight.len(), end),
            end => (simulation.count, end),
        }
    }

    fn run_on(
        &mut self,
        mut respond: impl FnMut(StartedAttempt) -> (Option<Duration>, AttemptResult),
    ) -> Simulated {
        loop {
            let next = || self.operation.next(self.policy, &mut self.world);
            match self.known.take().unwrap_or_else(next) {
                Action::Send(attempt) => {
                    self.notify(Event::started(attempt));
                    let (after, result) = respond(attempt);
                    let sent = match attempt.kind() {
                        AttemptKind::Resend => self.world.now,
                        _ => attempt.start(),
                    };
                    let ends_at = after
                        .map(|after| sent.saturating_add(after))
                        .filter(|end| attempt.expires_at().is_none_or(|deadline| *end < deadline));
                    self.in_flight.push(InFlight { attempt, ends_at, result });
                }
                Action::Expire(number) => {
                    let code = self.expired;
                    self.ended(number, |result| result.with_code(code).with_timed_out());
                }
                Action::Cancel(number) => {
                    if let Some(cancelled) = self.take(number) {
                        self.push(self.row(cancelled.attempt, Code::Cancelled));
                        self.notify(Event::cancelled(cancelled.attempt, self.world.now));
                    }
                }
                Action::Wait(until) => {
                    if self.count == Self::MAX_ATTEMPTS {
                        return Simulated::Truncated(self.world.now);
                    }
                    if !self.advance(until) {
                        let mut endless: Vec<_> = self.in_flight.iter().map(|one| one.attempt).collect();
                        endless.sort_by_key(|attempt| attempt.number());
                        return Simulated::Endless(endless);
                    }
                }
                Action::Finish(end) => {
                    return Simulated::Ended(end, self.world.now);
                }
            }
        }
    }

    /// Continues to whatever comes first. Whether anything ever does.
    fn advance(&mut self, until: Option<Duration>) -> bool {
        let ends = self.in_flight.iter().filter_map(|other| Some((other.ends_at?, other.attempt.number())));
        match (ends.min(), until) {
            (Some((at, number)), until) if until.is_none_or(|until| at <= until) => {
                self.world.now = self.world.now.max(at);
                self.ended(number, |result| result);
            }
            (_, Some(until)) => self.world.now = self.world.now.max(until),
            (_, None) => return false,
        }
        true
    }

    fn take(&mut self, number: u32) -> Option<InFlight> {
        let place = self.in_flight.iter().position(|other| other.attempt.number() == number)?;
        Some(self.in_flight.remove(place))
    }

    fn notify(&mut self, event: Event) {
        if let Some(observer) = &mut self.observer {
            observer(event);
        }
    }

    /// The row of an attempt that ends now.
    fn row(&self, attempt: StartedAttempt, code: Code) -> Attempt {
        Attempt::new(attempt, self.world.now, code)
    }

    fn ended(&mut self, number: u32, as_seen: impl FnOnce(AttemptResult) -> AttemptResult) {
        if let Some(InFlight { attempt, result, .. }) = self.take(number) {
            let result = as_seen(result);
            let row = self.row(attempt, result.code());
            if self.operation.ended(self.policy, number, result, &mut self.world) {
                self.known = Some(Action::Finish(End::Reply(number)));
            }
            if let Some(observer) = &mut self.observer {
                Event::ended(self.policy, &self.operation, &row, result, *observer);
            }
            // One that is made again silently gets its row at its end.
            if !self.operation.is_resending() {
                self.push(row);
            }
        }
    }

    fn push(&mut self, row: Attempt) {
        self.count += 1;
        if self.keeps_rows {
            self.rows.push(row);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::{AttemptEnd, Resend};
    use crate::{Hedging, NoJitter, RetrySettings, StopReason};

    const MS: Duration = Duration::from_millis(1);

    /// Number, start and end of each attempt, and its code; the end of the operation, of which an attempt has the reply.
    fn run(policy: &Policy, responses: &[(u32, AttemptResult)]) -> (Vec<(u32, u128, u128, Code)>, u128) {
        let mut responses = responses.iter();
        let (rows, end) = Simulation::new(policy, &mut NoJitter).run(|_| {
            let (after, result) = responses.next().unwrap();
            (Some(*after * MS), *result)
        });
        let Simulated::Ended(End::Reply(_), end) = end else { panic!("{end:?}") };
        let row = |row: &Attempt| (row.number(), row.start().as_millis(), row.end().as_millis(), row.code());
        (rows.iter().map(row).collect(), end.as_millis())
    }

    #[test]
    fn what_is_sent_once_more_is_replied_to_from_then_on() {
        let policy = Policy::new(&RetrySettings::no_retry(1000 * MS), Code::Unavailable);
        let lost = AttemptResult::failed(Code::Unavailable).with_resend(Resend::Lost);
        let run = run(&policy, &[(30, lost), (40, AttemptResult::done())]);
        assert_eq!(run, (vec![(1, 0, 70, Code::Ok)], 70));
    }

    #[test]
    fn attempts_without_a_deadline_are_all_in_flight_for_good() {
        let policy = Policy::new(&RetrySettings::default(), Code::Unavailable)
            .with_hedging(Hedging::new(3).delay(10 * MS).non_fatal_codes([Code::Unavailable]));
        let (rows, end) = Simulation::new(&policy, &mut NoJitter).run(|attempt| {
            (Some(25 * MS).filter(|_| attempt.number() == 2), AttemptResult::failed(Code::Unavailable))
        });
        assert_eq!(rows.iter().map(Attempt::number).collect::<Vec<_>>(), [2]);
        let Simulated::Endless(attempts) = end else { panic!("{end:?}") };
        let starts = attempts.iter().map(|attempt| (attempt.number(), attempt.start()));
        assert_eq!(starts.collect::<Vec<_>>(), [(1, Duration::ZERO), (3, 20 * MS)]);
    }

    #[test]
    fn a_hedge_that_is_due_first_goes_out_first() {
        let hedging = Hedging::new(2).delay(10 * MS);
        let policy =
            Policy::new(&RetrySettings::no_retry(1000 * MS), Code::Unavailable).with_hedging(hedging);
        let done = AttemptResult::done();
        let [lost, won] = [(1, 0, 15, Code::Cancelled), (2, 10, 15, Code::Ok)];
        assert_eq!(run(&policy, &[(30, done), (5, done)]), (vec![lost, won], 15));
        // One that ends as the hedge is due comes first.
        assert_eq!(run(&policy, &[(10, done)]), (vec![(1, 0, 10, Code::Ok)], 10));
    }

    /// Three attempts with 100 ms between them.
    fn retried() -> Policy {
        let settings = RetrySettings::builder().initial_retry_delay(100 * MS).retry_delay_multiplier(1.0);
        Policy::new(&settings.max_attempts(3).build().unwrap(), Code::Unavailable)
    }

    fn refused(_: StartedAttempt) -> (Option<Duration>, AttemptResult) {
        (Some(MS), AttemptResult::failed(Code::Unavailable))
    }

    #[test]
    fn rows_are_kept_unless_nobody_wants_them() {
        let policy = retried();
        let (rows, end) = Simulation::new(&policy, &mut NoJitter).run(refused);
        assert_eq!(rows.len(), 3);
        let (none, same) = Simulation::new(&policy, &mut NoJitter).without_rows().run(refused);
        assert_eq!((none, same), (vec![], end));
    }

    #[test]
    fn a_caller_s_bound_counts_whatever_the_policy_says() {
        let policy = retried();
        for (bound, attempts, reason, end) in
            [(None, 3, StopReason::MaxAttempts, 203), (Some(150 * MS), 2, StopReason::TotalTimeout, 102)]
        {
            let (rows, simulated) = Simulation::new(&policy, &mut NoJitter).within(bound).run(refused);
            let Simulated::Ended(End::Failure(stop), at) = simulated else { panic!("{simulated:?}") };
            assert_eq!((rows.len(), stop.reason(), at), (attempts, reason, end * MS));
        }
    }

    #[test]
    fn observers_are_notified_of_each_attempt_in_order() {
        let events = |policy: &Policy, responses: &[(u32, AttemptResult)]| {
            let (mut events, mut responses) = (Vec::new(), responses.iter());
            let mut observer = |event| events.push(event);
            let (_, end) = Simulation::new(policy, &mut NoJitter).observed_by(&mut observer).run(|_| {
                let (after, result) = responses.next().unwrap();
                (Some(*after * MS), *result)
            });
            assert!(matches!(end, Simulated::Ended(End::Reply(_), _)), "{end:?}");
            let words = events.into_iter().map(|event| match event {
                Event::Started(attempt) => format!("{} started", attempt.number()),
                Event::Ended(attempt, AttemptEnd::Failed(delay)) => {
                    format!("{} failed, {delay:?}", attempt.number())
                }
                Event::Ended(attempt, AttemptEnd::Succeeded) => format!("{} succeeded", attempt.number()),
                Event::Ended(attempt, AttemptEnd::Cancelled) => format!("{} cancelled", attempt.number()),
                other => format!("{other:?}"),
            });
            words.collect::<Vec<_>>()
        };
        let (done, failed) = (AttemptResult::done(), AttemptResult::failed(Code::Unavailable));
        assert_eq!(
            events(&retried(), &[(5, failed), (5, done)]),
            ["1 started", "1 failed, Some(100ms)", "2 started", "2 succeeded"]
        );
        let hedging = Hedging::new(2).delay(10 * MS);
        let hedged =
            Policy::new(&RetrySettings::no_retry(1000 * MS), Code::Unavailable).with_hedging(hedging);
        assert_eq!(
            events(&hedged, &[(30, done), (5, done)]),
            ["1 started", "2 started", "2 succeeded", "1 cancelled"]
        );
    }

    #[test]
    fn it_says_what_it_simulates() {
        let (policy, mut jitter) = (retried(), NoJitter);
        let simulation = Simulation::new(&policy, &mut jitter);
        assert!(format!("{simulation:?}").starts_with("Simulation { policy: Policy {"), "{simulation:?}");
    }
}

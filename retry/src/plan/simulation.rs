//! An operation under a clock that only counts: what plans, estimates and recorded cases run on.

use crate::{
    Action, Attempt, AttemptKind, AttemptResult, Code, End, Event, JitterSource, Operation, Policy,
    StartedAttempt, World,
};
use std::time::Duration;

/// Runs one operation against attempts that end as they are told to.
pub(crate) struct Simulation<'a> {
    policy: &'a Policy,
    world: Counted<'a>,
    operation: Operation,
    in_flight: Vec<InFlight>,
    rows: Vec<Attempt>,
    /// How many attempts have ended.
    count: usize,
    /// Whether their rows are kept.
    keeps_rows: bool,
    observer: Option<&'a mut dyn FnMut(Event)>,
    /// The code of an attempt that has used up its RPC timeout.
    expired: Code,
}

/// How an operation ended, or why it did not.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Simulated {
    /// It ended then, that way.
    Ended(End, Duration),
    /// This attempt has no deadline and gets no response.
    Endless(StartedAttempt),
    /// It goes on beyond [`Simulation::MAX_ATTEMPTS`]; the last attempt ended then.
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

impl<'a> Simulation<'a> {
    /// The most attempts that are run.
    pub(crate) const MAX_ATTEMPTS: usize = 10_000;

    /// `bound` is what the operation's caller gives it.
    pub(crate) fn new(policy: &'a Policy, bound: Option<Duration>, jitter: &'a mut dyn JitterSource) -> Self {
        Self {
            policy,
            world: Counted { now: Duration::ZERO, jitter },
            operation: Operation::begin(policy, bound),
            in_flight: Vec::new(),
            rows: Vec::new(),
            count: 0,
            keeps_rows: true,
            observer: None,
            expired: Code::DeadlineExceeded,
        }
    }

    /// An attempt that has used up its RPC timeout counts as if it had failed with that code.
    pub(crate) fn expiring_as(self, code: Code) -> Self {
        Self { expired: code, ..self }
    }

    /// Keeps no rows of attempts.
    pub(crate) fn without_rows(self) -> Self {
        Self { keeps_rows: false, ..self }
    }

    /// Tells of every attempt what observers are told.
    #[cfg(feature = "conformance")]
    pub(crate) fn observed_by(self, observer: &'a mut dyn FnMut(Event)) -> Self {
        Self { observer: Some(observer), ..self }
    }

    /// Runs to the end. `respond` says of each attempt how long after its start the server ends it (`None`:
    /// never), and how. An end at the attempt's deadline or later comes too late: all but its code counts.
    pub(crate) fn run(
        mut self,
        respond: impl FnMut(StartedAttempt) -> (Option<Duration>, AttemptResult),
    ) -> (Vec<Attempt>, Simulated) {
        let end = self.run_on(respond);
        // Attempts that overlapped stand in the order in which they were sent.
        self.rows.sort_by_key(Attempt::number);
        (self.rows, end)
    }

    /// How many attempts there are if each is refused at once.
    pub(crate) fn count_refused(self) -> usize {
        let mut simulation = self.without_rows();
        let refused = AttemptResult::failed(simulation.policy.usual_refusal());
        simulation.run_on(|_| (Some(Duration::ZERO), refused));
        simulation.count
    }

    fn run_on(
        &mut self,
        mut respond: impl FnMut(StartedAttempt) -> (Option<Duration>, AttemptResult),
    ) -> Simulated {
        loop {
            match self.operation.next(self.policy, &mut self.world) {
                Action::Send(attempt) => {
                    self.tell(Event::started(attempt));
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
                    self.ended(number, |result| result.with_code(code));
                }
                Action::Cancel(number) => {
                    if let Some(cancelled) = self.take(number) {
                        self.push(self.row(cancelled.attempt, Code::Cancelled));
                        self.tell(Event::cancelled(cancelled.attempt, self.world.now));
                    }
                }
                Action::Wait(until) => {
                    if self.count == Self::MAX_ATTEMPTS {
                        return Simulated::Truncated(self.world.now);
                    }
                    if let Some(endless) = self.advance(until) {
                        return Simulated::Endless(endless);
                    }
                }
                Action::Finish(end) => {
                    return Simulated::Ended(end, self.world.now);
                }
            }
        }
    }

    /// Goes on to whatever comes first. If nothing ever does, the attempt that hangs.
    fn advance(&mut self, until: Option<Duration>) -> Option<StartedAttempt> {
        let ends = self.in_flight.iter().filter_map(|other| Some((other.ends_at?, other.attempt.number())));
        match (ends.min(), until) {
            (Some((at, number)), until) if until.is_none_or(|until| at <= until) => {
                self.world.now = self.world.now.max(at);
                self.ended(number, |result| result);
            }
            (_, Some(until)) => self.world.now = self.world.now.max(until),
            (_, None) => return self.in_flight.last().map(|in_flight| in_flight.attempt),
        }
        None
    }

    fn take(&mut self, number: u32) -> Option<InFlight> {
        let place = self.in_flight.iter().position(|other| other.attempt.number() == number)?;
        Some(self.in_flight.remove(place))
    }

    fn tell(&mut self, event: Event) {
        if let Some(observer) = &mut self.observer {
            observer(event);
        }
    }

    /// The row of an attempt that ends now.
    fn row(&self, attempt: StartedAttempt, code: Code) -> Attempt {
        Attempt::new(attempt, attempt.delay(), attempt.start(), self.world.now, code)
    }

    fn ended(&mut self, number: u32, as_seen: impl FnOnce(AttemptResult) -> AttemptResult) {
        if let Some(InFlight { attempt, result, .. }) = self.take(number) {
            let result = as_seen(result);
            let row = self.row(attempt, result.code());
            self.operation.ended(self.policy, number, result, &mut self.world);
            if let Some(observer) = &mut self.observer {
                Event::ended(self.policy, &self.operation, &row, result, *observer);
            }
            // One that is made once more in silence gets its row at its end.
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
    use crate::{Hedging, NoJitter, Resend, RetrySettings};

    const MS: Duration = Duration::from_millis(1);

    /// Number, start and end of each attempt, and its code; the end of the operation, of which an attempt has the reply.
    fn run(policy: &Policy, responses: &[(u32, AttemptResult)]) -> (Vec<(u32, u128, u128, Code)>, u128) {
        let mut responses = responses.iter();
        let (rows, end) = Simulation::new(policy, None, &mut NoJitter).run(|_| {
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
}

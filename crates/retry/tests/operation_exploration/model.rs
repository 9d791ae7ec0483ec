//! One operation on its way, and what is known of it from outside.

use crate::facts::{Fact, How, What};
use crate::subjects::Subject;
use gax_retry::jitter::JitterSource;
use gax_retry::operation::{Action, End, Operation, Outcome, Ready, Resend, World};
use gax_retry::{AttemptKind, Policy, RetryBudget, StartedAttempt, StopReason};
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hasher as _};
use std::time::Duration;

/// More actions than any fact leads to.
const MANY: usize = 40;

/// An operation, and all that its promises are about. Equal ones go on alike.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    operation: Operation,
    /// The action that is known already: the first, or the end that nothing else is before.
    known: Option<Action>,
    now: Duration,
    in_flight: Vec<InFlight>,
    /// The tokens of its budget.
    tokens: u32,
    /// The number of the attempt that was sent last.
    sent: u32,
    /// The attempts since back-off last began, without polls.
    counted: u32,
    polls: u32,
    /// The last start of an attempt.
    started: Duration,
    resends: Resends,
    /// The last fact, as far as the next attempt depends on it.
    ended: Option<(u32, How)>,
    committed: Option<u32>,
    /// A stream was resumed: no hedge follows.
    is_resumed: bool,
    replied: Option<u32>,
    is_cancelled: bool,
    is_finished: bool,
}

#[derive(Debug, Clone, Copy)]
struct InFlight {
    attempt: StartedAttempt,
    is_expired: bool,
}

/// Transparent retries since the last attempt, and in all.
#[derive(Debug, Clone, Copy, Default)]
struct Resends {
    lost: u32,
    stale: u32,
    refused: u32,
}

struct Clock<J> {
    now: Duration,
    jitter: J,
}

impl<J: JitterSource> World for Clock<J> {
    fn now(&mut self) -> Duration {
        self.now
    }

    fn jitter(&mut self) -> &mut dyn JitterSource {
        &mut self.jitter
    }
}

/// A promise that was not kept.
type Kept = Result<(), String>;

macro_rules! promise {
    ($holds:expr, $($message:tt)+) => {
        if !$holds {
            return Err(format!($($message)+));
        }
    };
}

struct Hash(DefaultHasher);

impl std::fmt::Write for Hash {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.0.write(text.as_bytes());
        Ok(())
    }
}

/// How many tokens are left, which a budget tells only by allowing retries or not.
fn left(budget: &RetryBudget, max: u32) -> u32 {
    let mut enough = 0;
    while budget.allows(|| Duration::ZERO) {
        budget.failed();
        enough += 1;
    }
    let mut missing = 0;
    while !budget.allows(|| Duration::ZERO) {
        budget.succeeded(|| Duration::ZERO);
        missing += 1;
    }
    // Draining a budget that had enough leaves it one short.
    if enough > 0 { max / 2 + enough } else { max / 2 + 1 - missing }
}

impl Run {
    pub(crate) fn begin(subject: &Subject) -> Self {
        let (policy, _) = subject.policy(0);
        let ready = subject.late.map_or(Ready::Now, Ready::Late);
        let (operation, first) = Operation::begin(&policy, subject.bound, ready);
        Self {
            operation,
            known: Some(first),
            now: subject.late.unwrap_or_default(),
            in_flight: Vec::new(),
            tokens: subject.tokens_left,
            sent: 0,
            counted: 0,
            polls: 0,
            started: Duration::ZERO,
            resends: Resends::default(),
            ended: None,
            committed: None,
            is_resumed: false,
            replied: None,
            is_cancelled: false,
            is_finished: false,
        }
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.is_finished
    }

    /// A number that stands for the operation and what is known of it.
    pub(crate) fn fingerprint(&self) -> u64 {
        let mut hash = Hash(DefaultHasher::new());
        let _infallible = write!(hash, "{self:?}");
        hash.0.finish()
    }

    /// The facts that can come next: those of attempts for the first and the last one in flight. After the end
    /// they come as late news of the first attempt.
    pub(crate) fn possible(&self, subject: &Subject, facts: &[Fact]) -> Vec<(Fact, Option<u32>)> {
        let (policy, _) = subject.policy(self.tokens);
        let wake = self.operation.wake_at(&policy);
        let first = self.in_flight.first().map(|in_flight| in_flight.attempt.number());
        let last = self.in_flight.last().map(|in_flight| in_flight.attempt.number());
        let late_news = self.is_finished.then_some(1);
        let mut possible = Vec::new();
        for fact in facts.iter().filter(|fact| fact.when.time(self.now, wake).is_some()) {
            match fact.what {
                What::Nothing | What::Cancelled => possible.push((*fact, None)),
                What::Ends(_) | What::Commits(_) => {
                    let second = last.filter(|last| Some(*last) != first);
                    possible.extend(
                        first.or(late_news).into_iter().chain(second).map(|number| (*fact, Some(number))),
                    );
                }
            }
        }
        possible
    }

    /// The fact, and all that the operation does about it.
    pub(crate) fn happens(&mut self, subject: &Subject, fact: Fact, attempt: Option<u32>) -> Kept {
        let (policy, budget) = subject.policy(self.tokens);
        let Some(now) = fact.when.time(self.now, self.operation.wake_at(&policy)) else {
            return Ok(());
        };
        self.now = now;
        let mut clock = Clock { now, jitter: subject.jitter };
        match (fact.what, attempt) {
            (What::Ends(how), Some(number)) => {
                if self.operation.ended(&policy, number, how.result(now), &mut clock) {
                    self.known = Some(Action::Finish(End::Reply(number)));
                }
                self.note(number, how);
            }
            (What::Commits(point), Some(number)) => {
                self.operation.committed(&policy, number, point);
                if point >= subject.commits_at && self.replied.is_none() && !self.is_finished {
                    self.committed.get_or_insert(number);
                }
            }
            (What::Cancelled, _) => {
                self.operation.cancelled(&policy);
                self.is_cancelled |= !self.is_finished && self.replied.is_none();
            }
            (What::Nothing, _) | (_, None) => {}
        }
        self.actions(subject, &policy, &mut clock)?;
        if let (Some(budget), Some(max)) = (budget, subject.tokens) {
            self.tokens = left(&budget, max);
        }
        Ok(())
    }

    /// Takes the actions that the operation begins with.
    pub(crate) fn go_on(&mut self, subject: &Subject) -> Kept {
        let (policy, _) = subject.policy(self.tokens);
        self.actions(subject, &policy, &mut Clock { now: self.now, jitter: subject.jitter })
    }

    /// Takes note of an attempt that has ended.
    fn note(&mut self, number: u32, how: How) {
        let was_in_flight = self.in_flight.iter().any(|in_flight| in_flight.attempt.number() == number);
        self.in_flight.retain(|in_flight| in_flight.attempt.number() != number);
        let has_lost = self.committed.is_some_and(|winner| winner != number);
        if !was_in_flight || has_lost || self.is_finished {
            return;
        }
        if how.result(self.now).outcome() == Outcome::Done {
            self.replied.get_or_insert(number);
        }
        self.ended = Some((number, how));
    }

    /// Takes actions until there are none.
    fn actions(&mut self, subject: &Subject, policy: &Policy, clock: &mut impl World) -> Kept {
        for _ in 0..MANY {
            let action = self.known.take().unwrap_or_else(|| self.operation.next(policy, clock));
            let was_finished = self.is_finished;
            match action {
                Action::Send(attempt) => self.sends(subject, attempt)?,
                Action::Expire(number) => self.expires(number)?,
                Action::Cancel(number) => self.cancels(number)?,
                Action::Finish(end) => self.finishes(end)?,
                Action::Wait(until) => return self.waits(policy, until),
            }
            promise!(!was_finished, "{action:?} after the end");
        }
        Err(format!("more than {MANY} actions follow"))
    }

    fn sends(&mut self, subject: &Subject, attempt: StartedAttempt) -> Kept {
        promise!(!self.is_cancelled, "{attempt:?} is sent although the operation was cancelled");
        promise!(self.replied.is_none(), "{attempt:?} is sent although there is a reply");
        let ended = self.ended.map(|(_, how)| how);
        let resumes = ended == Some(How::Resumable);
        promise!(self.committed.is_none() || resumes, "{attempt:?} is sent after a commit");
        promise!(
            ended != Some(How::OverLimit),
            "{attempt:?} is sent although the request outgrew its buffer"
        );
        promise!(attempt.start() <= self.now, "{attempt:?} starts in the future");
        let is_new = self.in_flight.iter().all(|other| other.attempt.number() != attempt.number());
        promise!(is_new, "{attempt:?} is in flight already");
        match attempt.kind() {
            AttemptKind::Resend => self.sends_again(attempt)?,
            kind => {
                promise!(attempt.number() == self.sent + 1, "{attempt:?} has the wrong number");
                promise!(attempt.start() >= self.started, "{attempt:?} starts before the one before it");
                let fits = match kind {
                    AttemptKind::Original => self.sent == 0,
                    AttemptKind::Hedge => subject.is_hedged && self.sent > 0 && !self.is_resumed,
                    AttemptKind::Resume => resumes,
                    AttemptKind::Poll => ended == Some(How::NotDone),
                    AttemptKind::Retry => {
                        ended.is_some_and(|how| how != How::NotDone)
                            && (!subject.is_hedged || self.is_resumed)
                    }
                    _ => false,
                };
                promise!(fits, "{attempt:?} does not follow from {ended:?}");
                self.sent = attempt.number();
                self.started = attempt.start();
                match kind {
                    // The attempt that broke off counts as the first.
                    AttemptKind::Resume => self.counted = 2,
                    AttemptKind::Poll => self.polls += 1,
                    _ => self.counted += 1,
                }
                self.resends = Resends { refused: self.resends.refused, ..Resends::default() };
                let most = if subject.is_hedged && self.is_resumed {
                    subject.after_commit
                } else {
                    subject.max_attempts
                };
                let within = most.is_none_or(|most| self.counted <= most && self.polls < most);
                promise!(within, "{attempt:?} is one too many");
                let is_asked = ended.is_some_and(How::asks_for_a_delay);
                // Whatever the maximum is, a loop that asks a server pauses.
                let least = Duration::from_millis(match kind {
                    AttemptKind::Poll => 10,
                    AttemptKind::Resume => 1,
                    _ => 0,
                });
                let capped =
                    subject.max_delay.is_none_or(|max| is_asked || attempt.delay() <= max.max(least));
                promise!(capped, "{attempt:?} waited for too long");
            }
        }
        self.in_time(subject, attempt)?;
        if resumes {
            self.committed = None;
            self.is_resumed = true;
        }
        self.ended = None;
        self.in_flight.push(InFlight { attempt, is_expired: false });
        self.in_flight.sort_by_key(|in_flight| in_flight.attempt.number());
        Ok(())
    }

    fn in_time(&self, subject: &Subject, attempt: StartedAttempt) -> Kept {
        if let Some(time) = subject.time {
            promise!(attempt.start() < time, "{attempt:?} starts when the time is over");
            promise!(
                attempt.kind() != AttemptKind::Resend || self.now < time,
                "{attempt:?} is sent too late"
            );
            let in_time = attempt.expires_at().is_some_and(|end| end <= time);
            promise!(in_time, "{attempt:?} runs beyond {time:?}");
        }
        let left = subject.time.map(|time| time.saturating_sub(attempt.start()));
        let is_capped = match (attempt.rpc_timeout(), subject.max_timeout) {
            (Some(timeout), Some(max)) => timeout <= max || Some(timeout) == left,
            (None, Some(_)) => false,
            (_, None) => true,
        };
        promise!(is_capped, "{attempt:?} has too long a timeout");
        Ok(())
    }

    /// A transparent retry, which has its bounds.
    fn sends_again(&mut self, attempt: StartedAttempt) -> Kept {
        let Some((number, Some(resend))) = self.ended.map(|(number, how)| (number, how.resend())) else {
            return Err(format!("{attempt:?} is sent again without having been lost"));
        };
        promise!(number == attempt.number(), "{attempt:?} is sent again in place of {number}");
        let Resends { lost, stale, refused } = &mut self.resends;
        let (count, most) = match resend {
            Resend::Lost => (lost, 3),
            Resend::Stale => (stale, 1),
            Resend::Refused => (refused, 1),
            other => return Err(format!("{other:?} was not explored")),
        };
        *count += 1;
        promise!(*count <= most, "{attempt:?} is sent again once too often");
        Ok(())
    }

    fn expires(&mut self, number: u32) -> Kept {
        let now = self.now;
        let Some(expired) = self.in_flight.iter_mut().find(|other| other.attempt.number() == number) else {
            return Err(format!("{number} expires and is not in flight"));
        };
        let is_over = expired.attempt.expires_at().is_some_and(|end| now >= end);
        promise!(is_over, "{number} expires too soon");
        promise!(!expired.is_expired, "{number} expires twice");
        expired.is_expired = true;
        Ok(())
    }

    fn cancels(&mut self, number: u32) -> Kept {
        let was = self.in_flight.len();
        self.in_flight.retain(|other| other.attempt.number() != number);
        promise!(self.in_flight.len() < was, "{number} is cancelled and is not in flight");
        promise!(
            self.committed != Some(number) || self.is_cancelled,
            "{number} is cancelled and has committed"
        );
        Ok(())
    }

    fn finishes(&mut self, end: End) -> Kept {
        promise!(!self.is_finished, "the operation ends twice");
        promise!(self.in_flight.is_empty(), "{end:?} with attempts in flight: {:?}", self.in_flight);
        self.is_finished = true;
        match end {
            End::Reply(number) => promise!(self.replied == Some(number), "attempt {number} has no reply"),
            End::Failure(stop) => {
                promise!(self.replied.is_none(), "{stop:?} in place of a reply");
                let is_cancelled = stop.reason() == StopReason::Cancelled;
                promise!(is_cancelled == self.is_cancelled, "{stop:?}, and it was or was not cancelled");
                let named = stop.attempt().is_none_or(|number| number <= self.sent);
                promise!(named, "{stop:?} names no attempt");
                let refused = stop.not_attempted().is_none_or(|refused| refused.attempt() == self.sent + 1);
                promise!(refused, "{stop:?} names the wrong attempt");
            }
        }
        Ok(())
    }

    fn waits(&mut self, policy: &Policy, until: Option<Duration>) -> Kept {
        let wake = self.operation.wake_at(policy);
        promise!(until == wake, "it waits until {until:?} and wakes up at {wake:?}");
        promise!(until.is_none_or(|until| until > self.now), "it waits for the past: {until:?}");
        if self.is_finished {
            promise!(until.is_none(), "it waits after the end");
            return Ok(());
        }
        promise!(!self.is_cancelled, "it goes on although it was cancelled");
        promise!(self.replied.is_none(), "it goes on although there is a reply");
        promise!(until.is_some() || !self.in_flight.is_empty(), "it waits for nothing");
        for InFlight { attempt, is_expired } in &self.in_flight {
            let may_win = self.committed.is_none_or(|winner| winner == attempt.number());
            promise!(may_win, "{attempt:?} goes on although another has committed");
            let wakes = attempt.expires_at().is_none_or(|end| until.is_some_and(|until| until <= end));
            promise!(*is_expired || wakes, "it sleeps through the deadline of {attempt:?}");
        }
        Ok(())
    }
}

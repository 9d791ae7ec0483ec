//! A protocol without a transport.

use crate::operation::{
    AttemptContext, Clock, JitterSeeds, Name, Observers, Protocol, Start, Step, Transport, Unsendable,
};
use gax_retry::operation::{AttemptResult, CommitPoint};
use gax_retry::{Code, CodeSet, Compatibility, Hedging, Policy, RetryBudget, RetrySettings, StartedAttempt};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep};

/// The fate of one attempt.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Act {
    /// It ends so long after its start.
    Ends(Duration, AttemptResult),
    /// It never ends.
    Hangs,
    /// It asks to be polled so long after its start, and fails then.
    Asks(Duration),
    /// The headers of its response come after the first time, its end after the second.
    Heads(Duration, Duration, AttemptResult),
    /// More of its request is sent than is buffered, and it ends so long after its start.
    Overflows(Duration, AttemptResult),
}

/// The script of a fake operation.
#[derive(Debug)]
pub(crate) struct Script {
    pub(crate) acts: VecDeque<Act>,
    pub(crate) bound: Option<Duration>,
    pub(crate) prepared_after: Option<Duration>,
    pub(crate) is_unsendable: bool,
    pub(crate) compatibility: Compatibility,
    pub(crate) hedging: Option<Hedging>,
    /// Whether its request may be sent while an attempt is in flight.
    pub(crate) is_hedgeable: bool,
    pub(crate) budget: Option<RetryBudget>,
    pub(crate) jitter: JitterSeeds,
}

impl Script {
    pub(crate) fn of(acts: impl IntoIterator<Item = Act>) -> Self {
        Self {
            acts: acts.into_iter().collect(),
            bound: None,
            prepared_after: None,
            is_unsendable: false,
            compatibility: Compatibility::Documented,
            hedging: None,
            is_hedgeable: true,
            budget: None,
            jitter: JitterSeeds::default(),
        }
    }
}

pub(crate) struct Config {
    policy: Policy,
    pub(crate) observers: Option<Arc<Observers>>,
}

impl AsRef<Policy> for Config {
    fn as_ref(&self) -> &Policy {
        &self.policy
    }
}

pub(crate) fn config(
    settings: &RetrySettings,
    codes: impl Into<CodeSet>,
    compatibility: Compatibility,
    hedging: Option<Hedging>,
) -> Config {
    let codes: CodeSet = codes.into();
    let policy = Policy::with_compatibility(settings, codes, compatibility).with_hedging(hedging);
    Config { policy, observers: None }
}

impl Config {
    pub(crate) fn with_budget(self, budget: Option<RetryBudget>) -> Self {
        Self { policy: self.policy.with_budget(budget), ..self }
    }

    pub(crate) fn with_attempt_timeout(self, timeout: Duration) -> Self {
        Self { policy: self.policy.with_attempt_timeout(timeout), ..self }
    }
}

pub(crate) struct Fake {
    script: Script,
    preparing: Option<Pin<Box<Sleep>>>,
    pub(crate) waits: usize,
    /// How many failures are held.
    pub(crate) holds: usize,
    /// The attempts that used up their time, where they were begun.
    pub(crate) expired: Vec<Option<u32>>,
    /// Held by every attempt that is alive.
    pub(crate) alive: Arc<()>,
}

impl Fake {
    pub(crate) fn new(script: Script) -> Self {
        Self { script, preparing: None, waits: 0, holds: 0, expired: Vec::new(), alive: Arc::default() }
    }

    pub(crate) fn attempt(&mut self, current: &AttemptContext<'_>) -> Attempt {
        // A hedge is sent past the moment that it was due, which a timer rounds up to a millisecond.
        let passed = current.elapsed();
        assert!(passed <= Duration::from_millis(1), "{passed:?}");
        let act = self.script.acts.pop_front().expect("no attempt beyond the script");
        let sleep = match act {
            Act::Ends(after, _) | Act::Overflows(after, _) | Act::Heads(after, ..) if !after.is_zero() => {
                Some(Box::pin(sleep(after.saturating_sub(passed))))
            }
            _ => None,
        };
        let number = current.number();
        Attempt { number, act, clock: Clock::start(), sleep, _alive: Arc::clone(&self.alive) }
    }
}

/// An attempt in flight.
pub(crate) struct Attempt {
    number: u32,
    act: Act,
    clock: Clock,
    sleep: Option<Pin<Box<Sleep>>>,
    _alive: Arc<()>,
}

impl Protocol for Fake {
    type Config = Config;
    type Attempt = Attempt;
    type Slot = ();

    const TRANSPORT: &'static Transport = &Transport::CLOSURE;

    fn name(&self, _: &Config) -> Name {
        Name::from(Cow::Borrowed("fake"))
    }

    fn start<'a>(&'a self, config: &'a Config) -> Start<'a> {
        Start::new(config.observers.as_deref(), &self.script.jitter).within(self.script.bound)
    }

    fn is_prepared(&self) -> bool {
        !self.script.is_unsendable && self.script.prepared_after.is_none()
    }

    fn prepare(&mut self, _: &Config, cx: &mut Context<'_>) -> Poll<Result<(), Unsendable>> {
        if self.script.is_unsendable {
            return Poll::Ready(Err(Unsendable));
        }
        match self.script.prepared_after {
            None => Poll::Ready(Ok(())),
            Some(after) => {
                let sleep = self.preparing.get_or_insert_with(|| Box::pin(sleep(after)));
                sleep.as_mut().poll(cx).map(Ok)
            }
        }
    }

    fn begin(&mut self, _: &Config, _: StartedAttempt, current: &mut AttemptContext<'_>) -> Attempt {
        self.attempt(current)
    }

    fn poll(
        &mut self,
        _: &Config,
        mut attempt: Pin<&mut Attempt>,
        _: &mut AttemptContext<'_>,
        cx: &mut Context<'_>,
        (): &mut (),
    ) -> Poll<Step> {
        match attempt.act {
            Act::Ends(_, result) => match &mut attempt.sleep {
                Some(sleep) => sleep.as_mut().poll(cx).map(|()| Step::Ended(result)),
                None => Poll::Ready(Step::Ended(result)),
            },
            Act::Overflows(after, result) => {
                attempt.act = Act::Ends(after, result);
                Poll::Ready(Step::Committed(CommitPoint::OverLimit))
            }
            Act::Asks(after) if attempt.clock.elapsed() >= after => {
                Poll::Ready(Step::Ended(AttemptResult::failed(Code::Unavailable)))
            }
            Act::Heads(head, end, result) => {
                let Some(sleep) = &mut attempt.sleep else { return Poll::Ready(Step::Ended(result)) };
                ready!(sleep.as_mut().poll(cx));
                let at = sleep.deadline() + end.saturating_sub(head);
                sleep.as_mut().reset(at);
                attempt.act = Act::Ends(end, result);
                Poll::Ready(Step::Committed(CommitPoint::Headers))
            }
            Act::Asks(_) | Act::Hangs => Poll::Pending,
        }
    }

    fn expire(
        &mut self,
        _: &Config,
        attempt: Option<Pin<&mut Attempt>>,
        current: &mut AttemptContext<'_>,
    ) -> AttemptResult {
        let number = attempt.map(|attempt| attempt.number);
        assert!(number.is_none_or(|number| number == current.number()));
        self.expired.push(number);
        AttemptResult::failed(Code::DeadlineExceeded)
    }

    fn due(&self, attempt: &Attempt) -> Option<Instant> {
        match attempt.act {
            Act::Asks(after) => attempt.clock.at(after),
            _ => None,
        }
    }

    fn is_hedgeable(&self, _: &Config) -> bool {
        self.script.is_hedgeable
    }

    fn hold(&mut self) {
        self.holds += 1;
    }

    fn before_wait(&mut self) {
        self.waits += 1;
    }
}

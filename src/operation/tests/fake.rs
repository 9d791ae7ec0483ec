//! A protocol without a transport.

use crate::operation::{
    Clock, Current, Jitter, JitterSeeds, Name, ObservedTransport, Observers, Protocol, Unsendable,
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

/// What becomes of one attempt.
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

/// What a fake operation meets with.
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

pub(crate) struct Plan {
    policy: Policy,
    pub(crate) observers: Option<Arc<Observers>>,
}

impl AsRef<Policy> for Plan {
    fn as_ref(&self) -> &Policy {
        &self.policy
    }
}

pub(crate) fn plan(
    settings: &RetrySettings,
    codes: impl Into<CodeSet>,
    compatibility: Compatibility,
    hedging: Option<Hedging>,
) -> Plan {
    let codes: CodeSet = codes.into();
    let policy = Policy::with_compatibility(settings, codes, compatibility).with_hedging(hedging);
    Plan { policy, observers: None }
}

impl Plan {
    pub(crate) fn with_budget(self, budget: Option<RetryBudget>) -> Self {
        Self { policy: self.policy.with_budget(budget), ..self }
    }
}

pub(crate) struct Fake {
    script: Script,
    preparing: Option<Pin<Box<Sleep>>>,
    pub(crate) waits: usize,
    /// The attempts that used up their time, where they were begun.
    pub(crate) expired: Vec<Option<u32>>,
    over_limit: Option<u32>,
    /// Held by every attempt that is alive.
    pub(crate) alive: Arc<()>,
}

impl Fake {
    pub(crate) fn new(script: Script) -> Self {
        Self {
            script,
            preparing: None,
            waits: 0,
            expired: Vec::new(),
            over_limit: None,
            alive: Arc::default(),
        }
    }

    pub(crate) fn attempt(&mut self, current: &Current<'_>) -> Attempt {
        assert_eq!(current.elapsed(), Duration::ZERO);
        let act = self.script.acts.pop_front().expect("no attempt beyond the script");
        let sleep = match act {
            Act::Ends(after, _) | Act::Overflows(after, _) | Act::Heads(after, ..) if !after.is_zero() => {
                Some(Box::pin(sleep(after)))
            }
            _ => None,
        };
        let number = current.number();
        Attempt {
            number,
            act,
            clock: Clock::start(),
            sleep,
            has_headers: false,
            _alive: Arc::clone(&self.alive),
        }
    }
}

/// An attempt in flight.
pub(crate) struct Attempt {
    number: u32,
    act: Act,
    clock: Clock,
    sleep: Option<Pin<Box<Sleep>>>,
    has_headers: bool,
    _alive: Arc<()>,
}

impl Protocol for Fake {
    type Plan = Plan;
    type Attempt = Attempt;
    type Reply = ();

    const TRANSPORT: ObservedTransport = ObservedTransport::Closure;

    fn name(&self, _: &Plan) -> Name {
        Name::from(Cow::Borrowed("fake"))
    }

    fn observers<'a>(&'a self, plan: &'a Plan) -> Option<&'a Observers> {
        plan.observers.as_deref()
    }

    fn bound(&self, _: &Plan) -> Option<Duration> {
        self.script.bound
    }

    fn jitter(&self, _: &Plan) -> Jitter {
        self.script.jitter.next()
    }

    fn prepare(&mut self, _: &Plan, cx: &mut Context<'_>) -> Poll<Result<(), Unsendable>> {
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

    fn begin(&mut self, _: &Plan, _: StartedAttempt, current: &mut Current<'_>) -> Attempt {
        self.attempt(current)
    }

    fn poll(
        &mut self,
        _: &Plan,
        mut attempt: Pin<&mut Attempt>,
        _: &mut Current<'_>,
        cx: &mut Context<'_>,
        (): &mut (),
    ) -> Poll<AttemptResult> {
        if let Act::Overflows(..) = attempt.act {
            self.over_limit = Some(attempt.number);
        }
        match attempt.act {
            Act::Ends(_, result) | Act::Overflows(_, result) => match &mut attempt.sleep {
                Some(sleep) => sleep.as_mut().poll(cx).map(|()| result),
                None => Poll::Ready(result),
            },
            Act::Asks(after) if attempt.clock.elapsed() >= after => {
                Poll::Ready(AttemptResult::failed(Code::Unavailable))
            }
            Act::Heads(head, end, result) => {
                let Some(sleep) = &mut attempt.sleep else { return Poll::Ready(result) };
                ready!(sleep.as_mut().poll(cx));
                let at = sleep.deadline() + end.saturating_sub(head);
                sleep.as_mut().reset(at);
                let is_over = sleep.as_mut().poll(cx).is_ready();
                attempt.act = Act::Ends(end, result);
                attempt.has_headers = true;
                if is_over { Poll::Ready(result) } else { Poll::Pending }
            }
            Act::Asks(_) | Act::Hangs => Poll::Pending,
        }
    }

    fn expire(
        &mut self,
        _: &Plan,
        attempt: Option<Pin<&mut Attempt>>,
        current: &mut Current<'_>,
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

    fn is_hedgeable(&self, _: &Plan) -> bool {
        self.script.is_hedgeable
    }

    fn is_over_limit(&self, attempt: u32) -> bool {
        self.over_limit == Some(attempt)
    }

    fn reached(&self, attempt: &Attempt) -> Option<CommitPoint> {
        attempt.has_headers.then_some(CommitPoint::Headers)
    }

    fn before_wait(&mut self) {
        self.waits += 1;
    }
}

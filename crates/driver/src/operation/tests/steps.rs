//! Attempts that deliver messages, ask again for what is not done, and bring an operation on without an end.

use super::fake::{self, Config};
use super::{MS, at_once};
use crate::operation::{
    AttemptContext, Clock, Driver, JitterSeeds, Name, Output, Protocol, Start, Step, Transport,
};
use gax_retry::operation::{AttemptResult, CommitPoint, Next, Seen};
use gax_retry::{AttemptKind, Code, Compatibility, Hedging, RetrySettings, StartedAttempt, StopReason};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Sleep, sleep_until};

/// An attempt's next step, and how many milliseconds after its start it comes.
type At = (u32, Step);

/// Attempts that go through their steps, one script each.
struct Steps {
    scripts: VecDeque<Vec<At>>,
    /// How each attempt came to be, and when.
    begun: Vec<(AttemptKind, u128)>,
    /// Held by every attempt that is alive.
    alive: Arc<()>,
}

struct Attempt {
    clock: Clock,
    steps: VecDeque<At>,
    sleep: Option<Pin<Box<Sleep>>>,
    _alive: Arc<()>,
}

impl Protocol for Steps {
    type Config = Config;
    type Attempt = Attempt;
    /// How many messages have come.
    type Slot = u32;

    const TRANSPORT: &'static Transport = &Transport::CLOSURE;

    fn name(&self, _: &Config) -> Name {
        Name::from(Cow::Borrowed("steps"))
    }

    fn start<'a>(&'a self, config: &'a Config) -> Start<'a> {
        Start::new(config.observers.as_deref(), &JitterSeeds::Off)
    }

    fn begin(&mut self, _: &Config, started: StartedAttempt, _: &mut AttemptContext<'_>) -> Attempt {
        self.begun.push((started.kind(), started.start().as_millis()));
        let steps = self.scripts.pop_front().expect("no attempt beyond the script");
        Attempt { clock: Clock::start(), steps: steps.into(), sleep: None, _alive: Arc::clone(&self.alive) }
    }

    fn poll(
        &mut self,
        _: &Config,
        mut attempt: Pin<&mut Attempt>,
        _: &mut AttemptContext<'_>,
        cx: &mut Context<'_>,
        messages: &mut u32,
    ) -> Poll<Step> {
        let Some((after, step)) = attempt.steps.front().copied() else { return Poll::Pending };
        let at = attempt.clock.at(after * MS).unwrap();
        let sleep = attempt.sleep.get_or_insert_with(|| Box::pin(sleep_until(at)));
        ready!(sleep.as_mut().poll(cx));
        attempt.sleep = None;
        attempt.steps.pop_front();
        *messages += u32::from(matches!(step, Step::Yielded));
        Poll::Ready(step)
    }

    fn expire(
        &mut self,
        _: &Config,
        _: Option<Pin<&mut Attempt>>,
        _: &mut AttemptContext<'_>,
    ) -> AttemptResult {
        AttemptResult::failed(Code::DeadlineExceeded).with_timed_out()
    }
}

fn driver(settings: &RetrySettings, hedged: bool, scripts: Vec<Vec<At>>) -> Driver<Steps> {
    let hedging = hedged.then(|| Hedging::new(3).delay(100 * MS).non_fatal_codes(Code::Unavailable));
    let config = fake::config(settings, [Code::Unavailable], Compatibility::Documented, hedging);
    let steps = Steps { scripts: scripts.into(), begun: Vec::new(), alive: Arc::default() };
    Driver::new(steps, Arc::new(config))
}

/// How an operation went: how many items came before its end, which attempts it made and how it ended.
#[derive(Debug, PartialEq)]
struct Run {
    items: u32,
    begun: Vec<(AttemptKind, u128)>,
    stop: Option<StopReason>,
    took: u128,
}

async fn run(settings: &RetrySettings, hedged: bool, scripts: Vec<Vec<At>>) -> Run {
    let mut driver = Box::pin(driver(settings, hedged, scripts));
    let (clock, mut messages, mut items) = (Clock::start(), 0, 0);
    let stop = loop {
        match poll_fn(|cx| driver.as_mut().poll(cx, &mut messages)).await {
            Output::Item => {
                items += 1;
                assert_eq!(messages, items, "an item is handed on as it comes");
                let alive = Arc::strong_count(&driver.as_mut().protocol().alive) - 1;
                assert_eq!(alive, 1, "a message makes the operation the attempt's");
            }
            Output::Reply => break None,
            Output::Failed(stop) => break Some(stop.reason()),
        }
    };
    let begun = driver.as_mut().protocol().begun.clone();
    Run { items, begun, stop, took: clock.elapsed().as_millis() }
}

/// Five attempts, a hundred milliseconds apart, then twice as many.
fn growing() -> RetrySettings {
    let settings = at_once(5).to_builder().initial_retry_delay(100 * MS).retry_delay_multiplier(2.0);
    settings.jittered(false).build().unwrap()
}

fn done(after: u32) -> At {
    (after, Step::Ended(AttemptResult::done()))
}

fn breaks(after: u32, resumable: bool) -> At {
    let seen = Seen::Messages { resumable };
    (after, Step::Ended(AttemptResult::failed(Code::Unavailable).with_seen(seen)))
}

fn items(count: u32) -> impl Iterator<Item = At> {
    (1..=count).map(|after| (after, Step::Yielded))
}

use AttemptKind::{Hedge, Original, Poll as Asked, Resume, Retry};

#[tokio::test(start_paused = true)]
async fn a_thousand_items_are_handed_on_one_by_one() {
    let stream = || items(1000).chain([done(1001)]).collect::<Vec<_>>();
    let single = run(&growing(), false, vec![stream()]).await;
    assert_eq!(single, Run { items: 1000, begun: vec![(Original, 0)], stop: None, took: 1001 });
    // The first message of a hedge drops the attempt before it.
    let hedged = run(&growing(), true, vec![vec![], stream()]).await;
    let begun = vec![(Original, 0), (Hedge, 100)];
    assert_eq!(hedged, Run { items: 1000, begun, stop: None, took: 1102 });
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_breaks_is_taken_up_where_it_can_be() {
    let scripts = |resumable| {
        let first = items(2).chain([breaks(5, resumable)]).collect();
        let refused = vec![(3, Step::Ended(AttemptResult::failed(Code::Unavailable)))];
        let second = items(3).chain([breaks(9, resumable)]).collect();
        vec![first, refused, second, vec![done(1)]]
    };
    let resumed = run(&growing(), false, scripts(true)).await;
    let begun = vec![(Original, 0), (Resume, 105), (Retry, 308), (Resume, 417)];
    assert_eq!(resumed, Run { items: 5, begun, stop: None, took: 418 });
    let stop = Some(StopReason::Committed);
    let broken = run(&growing(), false, scripts(false)).await;
    assert_eq!(broken, Run { items: 2, begun: vec![(Original, 0)], stop, took: 5 });
    // A hedged stream that has delivered a message is one like any other.
    assert_eq!(run(&growing(), true, scripts(true)).await, resumed);
}

#[tokio::test(start_paused = true)]
async fn a_commit_that_is_reported_ends_all_other_attempts() {
    let commits = |point| vec![(30, Step::Committed(point)), done(400)];
    let over_limit = run(&growing(), true, vec![vec![], commits(CommitPoint::OverLimit)]).await;
    let begun = vec![(Original, 0), (Hedge, 100)];
    assert_eq!(over_limit, Run { items: 0, begun, stop: None, took: 501 });
    // By the documented rules headers commit nothing, so that the third attempt is sent, and replies first.
    let headers = run(&growing(), true, vec![vec![], commits(CommitPoint::Headers), vec![done(50)]]).await;
    let begun = vec![(Original, 0), (Hedge, 100), (Hedge, 200)];
    assert_eq!(headers, Run { items: 0, begun, stop: None, took: 251 });
}

#[tokio::test(start_paused = true)]
async fn an_operation_is_asked_again_until_it_is_done() {
    let not_done = |after| vec![(after, Step::Ended(AttemptResult::not_done(Next::Later)))];
    let polled = run(&growing(), false, vec![not_done(10), not_done(10), vec![done(10)]]).await;
    let begun = vec![(Original, 0), (Asked, 110), (Asked, 320)];
    assert_eq!(polled, Run { items: 0, begun, stop: None, took: 330 });
}

#[tokio::test(start_paused = true)]
async fn progress_without_a_failure_goes_on_at_once() {
    let part = AttemptResult::not_done(Next::Now).with_progress(true);
    for hedged in [false, true] {
        let mut scripts = vec![vec![(1, Step::Ended(part))]; 40];
        scripts.push(vec![done(1)]);
        let transfer = run(&growing(), hedged, scripts).await;
        assert_eq!((transfer.begun.len(), transfer.stop, transfer.took), (41, None, 41), "{hedged}");
        assert!(transfer.begun[1..].iter().all(|(kind, _)| *kind == Asked), "{transfer:?}");
    }
}

/// Wherever an operation is dropped, nothing of it is left.
#[tokio::test(start_paused = true)]
async fn an_operation_can_be_dropped_at_every_point() {
    let scripts = || {
        let stream = items(20).chain([breaks(25, true)]).collect();
        let asks = vec![(10, Step::Ended(AttemptResult::not_done(Next::Later)))];
        vec![
            vec![(20, Step::Committed(CommitPoint::Headers)), breaks(130, true)],
            stream,
            asks,
            vec![done(1)],
        ]
    };
    for hedged in [false, true] {
        let whole = run(&growing(), hedged, scripts()).await;
        for after in 0..whole.took {
            let mut driver = Box::pin(driver(&growing(), hedged, scripts()));
            let alive = Arc::clone(&driver.as_mut().protocol().alive);
            let mut messages = 0;
            let on_its_way = async {
                while poll_fn(|cx| driver.as_mut().poll(cx, &mut messages)).await == Output::Item {}
            };
            let time = Duration::from_millis(u64::try_from(after).unwrap());
            assert!(tokio::time::timeout(time, on_its_way).await.is_err(), "{hedged} {after}");
            drop(driver);
            assert_eq!(Arc::strong_count(&alive), 1, "{hedged} {after}");
        }
    }
}

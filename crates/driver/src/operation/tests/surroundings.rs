//! The world of an operation: random numbers, the time that the process has run, whether anybody waits for it.

use super::fake::{Act, Fake, Script};
use super::{MS, at_once, begun, done, driver, five_seconds, run, unavailable};
use crate::operation::{
    AttemptContext, InProgress, Jitter, JitterSeeds, Name, Output, Serving, run_blocking,
};
use gax_retry::operation::{Action, AttemptResult, End, Ready, Stop};
use gax_retry::{Code, Policy, RetryBudget, StopReason};
use std::borrow::Cow;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

#[tokio::test(start_paused = true)]
async fn delays_are_drawn_from_the_operations_own_source() {
    let settings = five_seconds().to_builder().jittered(true).build().unwrap();
    let starts = async |jitter: &JitterSeeds| {
        let script = Script { jitter: jitter.clone(), ..Script::of([unavailable(), unavailable(), done()]) };
        run(&settings, script).await.rows().iter().map(|row| row.1).collect::<Vec<_>>()
    };
    assert_eq!(starts(&JitterSeeds::Off).await, [0, 200, 600]);
    let drawn = starts(&JitterSeeds::from(7)).await;
    assert_eq!(drawn, starts(&JitterSeeds::from(7)).await);
    assert_ne!(drawn, [0, 200, 600]);
}

/// A success of the last ten seconds allows a retry.
#[tokio::test(start_paused = true)]
async fn a_budgets_seconds_go_by_between_operations() {
    let budget = RetryBudget::ratio(1.0).min_per_second(0);
    let call = async |acts: Vec<Act>| {
        let outcome = run(&at_once(2), Script { budget: Some(budget.clone()), ..Script::of(acts) }).await;
        (outcome.rows().len(), outcome.stop_reason())
    };
    for (waited, expected) in [(5, (2, None)), (11, (1, Some(StopReason::Throttled)))] {
        assert_eq!(call(vec![done()]).await, (1, None));
        tokio::time::advance(Duration::from_secs(waited)).await;
        assert_eq!(call(vec![unavailable(), done()]).await, expected, "{waited} s");
        tokio::time::advance(Duration::from_secs(20)).await;
    }
}

/// The clock runs here, so that a moment that is asked for twice is not the same.
#[test]
fn an_attempt_that_follows_at_once_starts_at_the_end_of_the_one_before() {
    let policy = Policy::new(&at_once(4), Code::Unavailable);
    let mut progress = InProgress::new();
    progress.begin(Jitter::default());
    let mut action = progress.start(&policy, None, Ready::Now);
    let stop = loop {
        match action {
            Action::Send(attempt) => {
                progress.sends(attempt);
                progress.ended(&policy, attempt.number(), AttemptResult::failed(Code::Unavailable));
            }
            Action::Finish(End::Failure(stop)) => break stop,
            other => panic!("{other:?}"),
        }
        action = progress.next(&policy);
    };
    let report = progress.report(&policy, Some(stop), Name::from(Cow::Borrowed("at once")));
    let [first, second, third, fourth] = report.attempts() else { panic!("{report}") };
    assert_eq!([second.start(), third.start(), fourth.start()], [first.end(), second.end(), third.end()]);
}

/// A thread works for a request that ends meanwhile.
#[test]
fn no_attempt_of_a_blocked_thread_follows_the_end_of_its_request() {
    let policy = Policy::new(&at_once(3), Code::Unavailable);
    let mut serving = Some(Serving::begin(None, 0));
    let inbound = serving.as_ref().unwrap().inbound().clone();
    let mut attempts = 0;
    let (_, stop) = inbound.enter(|| {
        run_blocking(
            &policy,
            JitterSeeds::Off.next(),
            |_| {},
            |_| {
                attempts += 1;
                serving = None;
                AttemptResult::failed(Code::Unavailable)
            },
        )
    });
    assert_eq!((attempts, stop.map(Stop::reason)), (1, Some(StopReason::Cancelled)));
}

/// A future that a thread polls for a request goes on somewhere else.
#[tokio::test(start_paused = true)]
async fn an_operation_ends_with_the_request_that_it_was_begun_for() {
    let late = Script { prepared_after: Some(MS), ..Script::of([]) };
    for script in [Script::of([Act::Hangs]), late, Script::of([unavailable()])] {
        let mut serving = Some(Serving::begin(None, 0));
        let inbound = serving.as_ref().unwrap().inbound().clone();
        let mut driver = Box::pin(driver(&five_seconds(), script));
        let begun = poll_fn(|cx| Poll::Ready(inbound.enter(|| driver.as_mut().poll(cx, &mut ())))).await;
        assert_eq!(begun, Poll::Pending);
        serving = None;
        assert!(serving.is_none());
        let output = poll_fn(|cx| driver.as_mut().poll(cx, &mut ())).await;
        assert!(
            matches!(output, Output::Failed(stop) if stop.reason() == StopReason::Cancelled),
            "{output:?}"
        );
        assert_eq!(Arc::strong_count(&driver.as_mut().protocol().alive), 1);
    }
}

#[test]
fn for_a_request_that_has_ended_nothing_is_sent() {
    let inbound = Serving::begin(None, 0).inbound().clone();
    for script in [Script::of([]), Script { prepared_after: Some(MS), ..Script::of([]) }] {
        let nothing = |_: &mut Fake, _, _: &AttemptContext<'_>| panic!("nothing is sent");
        let mut driver = Box::pin(inbound.enter(|| begun(&five_seconds(), script, None, nothing)));
        let output = driver.as_mut().poll(&mut Context::from_waker(Waker::noop()), &mut ());
        assert!(
            matches!(output, Poll::Ready(Output::Failed(stop)) if stop.reason() == StopReason::Cancelled)
        );
    }
}

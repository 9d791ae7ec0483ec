//! The world of an operation: random numbers, the time that the process has run, whether anybody waits for it.

use super::fake::{Act, Script};
use super::{at_once, done, five_seconds, run, unavailable};
use crate::operation::{InProgress, Jitter, JitterSeeds, Name, Serving, run_blocking};
use gax_retry::operation::{Action, AttemptResult, End, Ready, Stop};
use gax_retry::{Code, Policy, RetryBudget, StopReason};
use std::borrow::Cow;
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

//! Operations that are started before they are polled.

use super::fake::{Act, Fake, Script, config};
use super::{MS, Outcome, begun, done, driver, finish, five_seconds, run};
use crate::operation::{AttemptContext, Driver, Note};
use gax_retry::operation::AttemptResult;
use gax_retry::{Code, Compatibility, Hedging, RetrySettings, StopReason};
use std::sync::Arc;
use std::time::Duration;

/// Starts an operation, whose caller gives it that time, and continues with it: the attempt that was to be sent at once,
/// and the outcome.
async fn start(settings: &RetrySettings, script: Script) -> (Option<u32>, Outcome) {
    let bound = script.bound;
    let mut first = None;
    let driver = begun(settings, script, bound, |fake, started, context| {
        first = Some(started.number());
        fake.attempt(context)
    });
    (first, finish(driver).await)
}

#[tokio::test(start_paused = true)]
async fn the_first_attempt_is_sent_at_once() {
    let (first, outcome) = start(&five_seconds(), Script::of([done()])).await;
    assert_eq!((first, outcome.rows()), (Some(1), vec![(1, 0, 0, Code::Ok)]));
    assert_eq!((outcome.has_news, outcome.polls), (false, 1));
}

#[tokio::test(start_paused = true)]
async fn where_there_is_no_time_the_end_is_reported_when_it_is_asked_for() {
    let (first, outcome) =
        start(&five_seconds(), Script { bound: Some(Duration::ZERO), ..Script::of([]) }).await;
    assert_eq!((first, outcome.rows().len(), outcome.polls), (None, 0, 1));
    assert_eq!(outcome.stop_reason(), Some(StopReason::TotalTimeout));
}

/// By gax-java's rules, which cut timeouts to whole milliseconds.
#[tokio::test(start_paused = true)]
async fn an_attempt_that_is_over_as_it_starts_is_not_begun() {
    let settings = RetrySettings::builder()
        .initial_rpc_timeout(Duration::from_micros(900))
        .initial_retry_delay(10 * MS)
        .max_attempts(2)
        .jittered(false)
        .build()
        .unwrap();
    let script = || Script { compatibility: Compatibility::GaxJava, ..Script::of([done()]) };
    let (first, started) = start(&settings, script()).await;
    assert_eq!(first, None);
    for outcome in [started, run(&settings, script()).await] {
        let late = Code::DeadlineExceeded;
        assert_eq!(outcome.rows(), [(1, 0, 0, late), (2, 10, 10, Code::Ok)]);
        assert_eq!(outcome.expired, [None]);
    }
}

/// No server sees a request that no caller waits for, which none does by gax-java's rules if a call gives each attempt 0.9 ms.
#[tokio::test(start_paused = true)]
async fn neither_is_a_retry_that_is_over_as_it_starts() {
    let settings = RetrySettings::builder().initial_retry_delay(10 * MS).max_attempts(2).jittered(false);
    let (java, codes) = (Compatibility::GaxJava, Code::DeadlineExceeded);
    let config = config(&settings.build().unwrap(), codes, java, None);
    let config = config.with_attempt_timeout(Duration::from_micros(900));
    let outcome = finish(Driver::new(Fake::new(Script::of([])), Arc::new(config))).await;
    let late = Code::DeadlineExceeded;
    assert_eq!(outcome.rows(), [(1, 0, 0, late), (2, 10, 10, late)]);
    assert_eq!(outcome.expired, [None, None]);
}

#[tokio::test(start_paused = true)]
async fn a_hedged_operation_begins_with_one_attempt() {
    let [first, second] = [Act::Ends(130 * MS, AttemptResult::done()), Act::Hangs];
    let hedged = |is_hedgeable| {
        let hedging = Some(Hedging::new(2).delay(100 * MS));
        Script { hedging, is_hedgeable, ..Script::of([first, second]) }
    };
    let (number, outcome) = start(&RetrySettings::default(), hedged(true)).await;
    assert_eq!(number, Some(1));
    assert_eq!(outcome.rows(), [(1, 0, 130, Code::Ok), (2, 100, 130, Code::Cancelled)]);
    let (number, outcome) = start(&RetrySettings::default(), hedged(false)).await;
    assert_eq!((number, outcome.rows()), (Some(1), vec![(1, 0, 130, Code::Ok)]));
}

#[tokio::test(start_paused = true)]
async fn an_operation_waits_for_its_request_unless_its_options_can_not_work() {
    let script = || Script { prepared_after: Some(600 * MS), ..Script::of([done()]) };
    let wait = |_: &mut Fake, _, _: &AttemptContext<'_>| panic!("it has to wait");
    let waiting = begun(&five_seconds(), script(), None, wait);
    assert_eq!(finish(waiting).await.rows(), [(1, 600, 600, Code::Ok)]);
    let hedged = Script { hedging: Some(Hedging::new(2).percentile(2.0)), ..script() };
    let refused = begun(&five_seconds(), hedged, None, wait);
    let outcome = finish(refused).await;
    assert_eq!((outcome.took, outcome.stop_reason()), (Duration::ZERO, Some(StopReason::InvalidOptions)));
}

#[tokio::test(start_paused = true)]
async fn an_attempt_has_all_the_time_unless_its_rpc_timeout_is_shorter() {
    let all = five_seconds().to_builder().initial_rpc_timeout(9000 * MS).max_rpc_timeout(9000 * MS);
    for (settings, expected) in [(all.build().unwrap(), true), (five_seconds(), false)] {
        assert!(!driver(&settings, Script::of([done()])).has_all_the_time());
        let driver = begun(&settings, Script::of([done()]), None, |fake, _, context| fake.attempt(context));
        assert_eq!(driver.has_all_the_time(), expected);
    }
}

#[test]
fn a_fact_is_written_down_once() {
    let mut driver = Box::pin(driver(&five_seconds(), Script::of([])));
    for _ in 0..2 {
        driver.as_mut().note(Note::UNREADABLE_RESPONSE);
    }
    assert_eq!(driver.notes(), [Note::UNREADABLE_RESPONSE]);
}

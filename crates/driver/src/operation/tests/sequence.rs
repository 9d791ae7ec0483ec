//! Attempts one after the other.

use super::fake::{Act, Script};
use super::{MS, at_once, begun, done, driver, five_seconds, lost, run, unavailable};
use crate::operation::report::Note;
use crate::operation::{Clock, Output};
use gax_retry::operation::AttemptResult;
use gax_retry::{Code, Compatibility, StopReason};
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

#[tokio::test(start_paused = true)]
async fn a_first_attempt_that_succeeds_has_no_news() {
    let outcome = run(&five_seconds(), Script::of([done()])).await;
    assert_eq!((outcome.stop, outcome.has_news, outcome.polls), (None, false, 1));
    assert_eq!(outcome.rows(), [(1, 0, 0, Code::Ok)]);
}

#[tokio::test(start_paused = true)]
async fn attempts_that_hang_run_through_the_documented_table() {
    let outcome = run(&five_seconds(), Script::of([Act::Hangs, Act::Hangs])).await;
    let late = Code::DeadlineExceeded;
    assert_eq!(outcome.rows(), [(1, 0, 1500, late), (2, 1700, 4700, late)]);
    assert_eq!(outcome.stop_reason(), Some(StopReason::TotalTimeout));
    let refused = outcome.report.not_attempted().unwrap();
    assert_eq!((refused.attempt(), refused.delay()), (3, 400 * MS));
    assert_eq!((outcome.took, outcome.waits), (4700 * MS, 1));
    assert_eq!(outcome.expired, [Some(1), Some(2)]);
}

#[tokio::test(start_paused = true)]
async fn a_reply_that_is_there_wins_over_its_deadline() {
    let late = Act::Ends(1500 * MS, AttemptResult::done());
    let outcome = run(&five_seconds(), Script::of([late])).await;
    assert_eq!((outcome.stop, outcome.took), (None, 1500 * MS));
}

#[tokio::test(start_paused = true)]
async fn the_callers_time_bounds_the_operation() {
    let script = Script { bound: Some(1000 * MS), ..Script::of([unavailable(), Act::Hangs]) };
    let outcome = run(&five_seconds(), script).await;
    assert_eq!(outcome.rows(), [(1, 0, 0, Code::Unavailable), (2, 200, 1000, Code::DeadlineExceeded)]);
    assert_eq!(outcome.stop_reason(), Some(StopReason::TotalTimeout));
    let none = Script { bound: Some(Duration::ZERO), ..Script::of([]) };
    let outcome = run(&five_seconds(), none).await;
    assert_eq!((outcome.rows().len(), outcome.stop_reason()), (0, Some(StopReason::TotalTimeout)));
}

#[tokio::test(start_paused = true)]
async fn a_transparent_retry_has_no_row_and_lets_other_tasks_run() {
    let outcome = run(&five_seconds(), Script::of([lost(), lost(), lost(), done()])).await;
    assert_eq!((outcome.stop, outcome.report.transparent_retries()), (None, 3));
    assert_eq!(outcome.rows(), [(1, 0, 0, Code::Ok)]);
    assert!(outcome.has_news);
    // One before each, and the first.
    assert_eq!((outcome.polls, outcome.waits, outcome.took), (4, 0, Duration::ZERO));
}

#[tokio::test(start_paused = true)]
async fn the_fourth_loss_is_an_attempt() {
    let outcome = run(&five_seconds(), Script::of([lost(), lost(), lost(), lost(), lost(), done()])).await;
    assert_eq!((outcome.stop, outcome.report.transparent_retries()), (None, 4));
    assert_eq!(outcome.rows(), [(1, 0, 0, Code::Unavailable), (2, 200, 200, Code::Ok)]);
}

#[tokio::test(start_paused = true)]
async fn attempts_without_a_delay_yield_now_and_then() {
    let outcome = run(&at_once(40), Script::of(vec![unavailable(); 40])).await;
    assert_eq!(outcome.stop_reason(), Some(StopReason::MaxAttempts));
    // The 17th and the 33rd attempt come after other tasks had their turn.
    assert_eq!((outcome.report.attempts().len(), outcome.polls), (40, 3));
    assert_eq!((outcome.took, outcome.waits), (Duration::ZERO, 0));
    // Those that wait, for a reply or before they start, let others have their turn anyway.
    let slow = Act::Ends(MS, AttemptResult::failed(Code::Unavailable));
    assert_eq!(run(&at_once(40), Script::of(vec![slow; 40])).await.polls, 41);
    let after_a_delay = at_once(20).to_builder().initial_retry_delay(MS).retry_delay_multiplier(1.0);
    let settings = after_a_delay.jittered(false).build().unwrap();
    assert_eq!(run(&settings, Script::of(vec![unavailable(); 20])).await.polls, 20);
    // The first is none of the sixteen, even if it comes after a wait.
    for (attempts, turns) in [(16, 0), (17, 1)] {
        let late = Script { prepared_after: Some(MS), ..Script::of(vec![unavailable(); attempts]) };
        assert_eq!(
            run(&at_once(u32::try_from(attempts).unwrap()), late).await.polls,
            2 + turns,
            "{attempts}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn the_time_that_the_request_takes_is_the_operations() {
    let script = Script { prepared_after: Some(600 * MS), ..Script::of([Act::Hangs, done()]) };
    let outcome = run(&five_seconds(), script).await;
    assert_eq!(outcome.rows(), [(1, 600, 2100, Code::DeadlineExceeded), (2, 2300, 2300, Code::Ok)]);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_does_not_come_in_time_ends_the_operation() {
    let script = Script { prepared_after: Some(6000 * MS), ..Script::of([]) };
    let outcome = run(&five_seconds(), script).await;
    assert_eq!((outcome.rows().len(), outcome.took), (0, 5000 * MS));
    assert_eq!(outcome.stop_reason(), Some(StopReason::TotalTimeout));
}

#[tokio::test(start_paused = true)]
async fn a_request_that_cannot_be_made_is_never_sent() {
    let script = Script { is_unsendable: true, ..Script::of([]) };
    let outcome = run(&five_seconds(), script).await;
    assert_eq!((outcome.rows().len(), outcome.took), (0, Duration::ZERO));
    assert_eq!(outcome.stop_reason(), Some(StopReason::NonRetryable));
}

#[tokio::test(start_paused = true)]
async fn an_attempt_is_polled_at_the_moment_that_it_asks_for() {
    // It ends only when it is polled at its own moment; nothing else would wake it.
    let outcome = run(&five_seconds(), Script::of([Act::Asks(70 * MS), done()])).await;
    assert_eq!(outcome.rows(), [(1, 0, 70, Code::Unavailable), (2, 270, 270, Code::Ok)]);
}

#[tokio::test(start_paused = true)]
async fn between_attempts_it_waits_for_a_moment_that_is_known() {
    let clock = Clock::start();
    let mut driver = pin!(driver(&five_seconds(), Script::of([unavailable(), done()])));
    let first = poll_fn(|cx| Poll::Ready(driver.as_mut().poll(cx, &mut ()))).await;
    assert_eq!((first, driver.as_mut().waits_until()), (Poll::Pending, clock.at(200 * MS)));
}

#[tokio::test(start_paused = true)]
async fn what_is_committed_is_not_retried() {
    let messages = AttemptResult::failed(Code::Unavailable)
        .with_seen(gax_retry::operation::Seen::Messages { resumable: false });
    let outcome = run(&five_seconds(), Script::of([Act::Ends(Duration::ZERO, messages)])).await;
    assert_eq!(outcome.rows(), [(1, 0, 0, Code::Unavailable)]);
    assert_eq!(outcome.stop_reason(), Some(StopReason::Committed));
}

#[tokio::test(start_paused = true)]
async fn by_grpcs_rules_the_deadline_is_waited_for_and_the_cap_is_reported() {
    let settings = five_seconds().to_builder().total_timeout(250 * MS).build().unwrap();
    let script = Script { compatibility: Compatibility::Grpc, ..Script::of([unavailable(), unavailable()]) };
    let outcome = run(&settings, script).await;
    assert_eq!(outcome.rows(), [(1, 0, 0, Code::Unavailable), (2, 200, 200, Code::Unavailable)]);
    let stop = outcome.stop.unwrap();
    assert_eq!((stop.attempt(), stop.is_at_deadline()), (Some(2), true));
    assert_eq!(outcome.took, 250 * MS);
    assert_eq!(outcome.report.notes(), [Note::ATTEMPTS_CAPPED]);
}

#[tokio::test(start_paused = true)]
async fn after_the_end_it_is_pending_for_ever() {
    let mut driver =
        pin!(begun(&five_seconds(), Script::of([done()]), None, |fake, _, context| fake.attempt(context)));
    assert_eq!(poll_fn(|cx| driver.as_mut().poll(cx, &mut ())).await, Output::Reply);
    let again = poll_fn(|cx| Poll::Ready(driver.as_mut().poll(cx, &mut ()))).await;
    assert!(again.is_pending());
}

//! Several attempts in flight.

use super::fake::{Act, Script};
use super::{MS, Outcome, run};
use crate::operation::Note;
use gax_retry::operation::{AttemptResult, Resend};
use gax_retry::{Code, Compatibility, Hedging, RetryBudget, RetrySettings, ServerDelay, StopReason};
use std::time::Duration;

/// Four attempts, 100 ms apart; `UNAVAILABLE` and `DEADLINE_EXCEEDED` are not fatal.
fn four() -> Hedging {
    let codes = [Code::Unavailable, Code::DeadlineExceeded];
    Hedging::new(4).delay(100 * MS).non_fatal_codes(codes)
}

fn script(acts: impl IntoIterator<Item = Act>) -> Script {
    Script { hedging: Some(four()), ..Script::of(acts) }
}

fn ends(after: u32, code: Code) -> Act {
    Act::Ends(after * MS, AttemptResult::failed(code))
}

fn replies(after: u32) -> Act {
    Act::Ends(after * MS, AttemptResult::done())
}

async fn hedge(acts: impl IntoIterator<Item = Act>) -> Outcome {
    let outcome = run(&RetrySettings::default(), script(acts)).await;
    assert_eq!(outcome.alive, 0, "an attempt outlives the operation");
    outcome
}

const OK: Code = Code::Ok;
const LOST: Code = Code::Cancelled;
const BUSY: Code = Code::Unavailable;

#[tokio::test(start_paused = true)]
async fn a_reply_before_the_delay_is_the_only_attempt() {
    let outcome = hedge([replies(99)]).await;
    assert_eq!((outcome.rows(), outcome.has_news), (vec![(1, 0, 99, OK)], false));
}

#[tokio::test(start_paused = true)]
async fn the_first_reply_wins_and_the_others_are_cancelled() {
    let outcome = hedge([Act::Hangs, replies(150), Act::Hangs]).await;
    assert_eq!(outcome.rows(), [(1, 0, 250, LOST), (2, 100, 250, OK), (3, 200, 250, LOST)]);
    assert_eq!((outcome.stop, outcome.took, outcome.has_news), (None, 250 * MS, true));
    // The first may win as well.
    let outcome = hedge([replies(130), Act::Hangs]).await;
    assert_eq!(outcome.rows(), [(1, 0, 130, OK), (2, 100, 130, LOST)]);
}

#[tokio::test(start_paused = true)]
async fn of_two_replies_at_once_one_counts() {
    let outcome = hedge([replies(200), replies(100)]).await;
    let rows = outcome.rows();
    assert_eq!(rows.iter().filter(|row| row.3 == OK).count(), 1, "{rows:?}");
    assert_eq!((rows.len(), outcome.stop), (2, None));
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_is_not_fatal_brings_the_next_at_once() {
    let outcome = hedge([ends(30, BUSY), ends(10, BUSY), replies(10)]).await;
    assert_eq!(outcome.rows(), [(1, 0, 30, BUSY), (2, 30, 40, BUSY), (3, 40, 50, OK)]);
}

#[tokio::test(start_paused = true)]
async fn a_fatal_failure_cancels_the_others() {
    let outcome = hedge([Act::Hangs, ends(50, Code::Internal)]).await;
    assert_eq!(outcome.rows(), [(1, 0, 150, LOST), (2, 100, 150, Code::Internal)]);
    let stop = outcome.stop.unwrap();
    assert_eq!((stop.reason(), stop.attempt()), (StopReason::NonRetryable, Some(2)));
}

/// A server says that there is such a thing already, which may be what the first attempt has made.
#[tokio::test(start_paused = true)]
async fn a_failure_that_may_come_of_the_first_attempt_is_held() {
    let exists = Code::AlreadyExists;
    let outcome = hedge([replies(400), ends(50, exists)]).await;
    assert_eq!(outcome.rows(), [(1, 0, 400, OK), (2, 100, 150, exists)]);
    assert_eq!((outcome.stop, outcome.holds), (None, 1));
    // The first attempt has nothing before it that could have made it, and what fails after one that is held is not.
    let outcome = hedge([ends(250, BUSY), ends(50, exists)]).await;
    assert_eq!(
        outcome.stop.map(|stop| (stop.reason(), stop.attempt())),
        Some((StopReason::NonRetryable, Some(2)))
    );
    assert_eq!((outcome.rows().len(), outcome.holds), (2, 1));
    assert_eq!(hedge([ends(50, exists)]).await.holds, 0);
}

#[tokio::test(start_paused = true)]
async fn when_all_fail_the_last_failure_is_the_operations() {
    let outcome = hedge([ends(500, BUSY), ends(350, BUSY), ends(240, BUSY), ends(160, BUSY)]).await;
    let expected = [(1, 0, 500, BUSY), (2, 100, 450, BUSY), (3, 200, 440, BUSY), (4, 300, 460, BUSY)];
    assert_eq!(outcome.rows(), expected);
    let stop = outcome.stop.unwrap();
    assert_eq!((stop.reason(), stop.attempt()), (StopReason::MaxAttempts, Some(1)));
}

#[tokio::test(start_paused = true)]
async fn each_attempt_has_its_own_rpc_timeout_within_the_total() {
    let settings =
        RetrySettings::builder().initial_rpc_timeout(150 * MS).total_timeout(320 * MS).build().unwrap();
    let outcome = run(&settings, script([Act::Hangs, Act::Hangs, Act::Hangs, Act::Hangs])).await;
    // The attempt after one that timed out follows at once.
    let late = Code::DeadlineExceeded;
    let expected = [(1, 0, 150, late), (2, 100, 250, late), (3, 150, 300, late), (4, 250, 320, late)];
    assert_eq!(outcome.rows(), expected);
    assert_eq!((outcome.alive, outcome.took), (0, 320 * MS));
    assert_eq!(outcome.expired, [1, 2, 3, 4].map(Some));
}

/// gRFC A6: headers commit, and nothing else is waited for.
#[tokio::test(start_paused = true)]
async fn by_grpcs_rules_headers_cancel_the_others() {
    let acts = [Act::Hangs, Act::Heads(30 * MS, 400 * MS, AttemptResult::done()), Act::Hangs];
    let by_headers = Script { compatibility: Compatibility::Grpc, ..script(acts) };
    let outcome = run(&RetrySettings::default(), by_headers).await;
    assert_eq!(outcome.rows(), [(1, 0, 130, LOST), (2, 100, 500, OK)]);
    assert_eq!(outcome.alive, 0);
    // As documented, the message counts.
    let outcome = hedge([Act::Hangs, Act::Heads(30 * MS, 130 * MS, AttemptResult::done()), Act::Hangs]).await;
    assert_eq!(outcome.rows(), [(1, 0, 230, LOST), (2, 100, 230, OK), (3, 200, 230, LOST)]);
}

#[tokio::test(start_paused = true)]
async fn a_lost_hedge_is_sent_again_without_a_row() {
    let lost = Act::Ends(Duration::ZERO, AttemptResult::failed(BUSY).with_resend(Resend::Lost));
    let outcome = hedge([replies(150), lost, Act::Hangs]).await;
    assert_eq!(outcome.rows(), [(1, 0, 150, OK), (2, 100, 150, LOST)]);
    assert_eq!(outcome.report.transparent_retries(), 1);
}

#[tokio::test(start_paused = true)]
async fn while_nothing_is_in_flight_the_protocol_knows_that_it_waits() {
    let busy = AttemptResult::failed(BUSY).with_server_delay(ServerDelay::Exactly(300 * MS));
    let outcome = hedge([Act::Ends(20 * MS, busy), replies(10)]).await;
    assert_eq!(outcome.rows(), [(1, 0, 20, BUSY), (2, 320, 330, OK)]);
    assert_eq!(outcome.waits, 1);
}

#[tokio::test(start_paused = true)]
async fn all_at_once_without_a_delay() {
    let at_once = Hedging::new(3).non_fatal_codes(BUSY);
    let script = Script { hedging: Some(at_once), ..Script::of([Act::Hangs, Act::Hangs, replies(5)]) };
    let outcome = run(&RetrySettings::default(), script).await;
    assert_eq!(outcome.rows(), [(1, 0, 5, LOST), (2, 0, 5, LOST), (3, 0, 5, OK)]);
    assert_eq!(outcome.report.notes(), [] as [Note; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_can_not_be_sent_meanwhile_is_not_hedged() {
    let script = Script { is_hedgeable: false, ..script([replies(500)]) };
    let outcome = run(&RetrySettings::default(), script).await;
    assert_eq!((outcome.rows(), outcome.has_news), (vec![(1, 0, 500, OK)], false));
}

/// gRFC A6: no other attempt could be sent the whole of it.
#[tokio::test(start_paused = true)]
async fn a_request_that_is_not_buffered_any_more_is_that_of_one_attempt() {
    let outcome = hedge([Act::Hangs, Act::Overflows(250 * MS, AttemptResult::done())]).await;
    // A hedge is sent past the moment that it was due, which a timer rounds up to a millisecond.
    assert_eq!(outcome.rows(), [(1, 0, 101, LOST), (2, 100, 350, OK)]);
}

#[tokio::test(start_paused = true)]
async fn a_hedge_that_the_budget_withholds_is_a_note() {
    let budget = RetryBudget::tokens(1, 1.0);
    budget.failed();
    let script = Script { budget: Some(budget), ..script([replies(250)]) };
    let outcome = run(&RetrySettings::default(), script).await;
    assert_eq!((outcome.rows(), outcome.has_news), (vec![(1, 0, 250, OK)], true));
    assert_eq!(outcome.report.notes(), [Note::HEDGE_WITHHELD]);
}

#[tokio::test(start_paused = true)]
async fn each_attempt_is_polled_at_the_moment_that_it_asks_for() {
    let outcome = hedge([Act::Asks(170 * MS), Act::Asks(30 * MS), replies(10)]).await;
    assert_eq!(outcome.rows(), [(1, 0, 141, LOST), (2, 100, 131, BUSY), (3, 131, 141, OK)]);
}

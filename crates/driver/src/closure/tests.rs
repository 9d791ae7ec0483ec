use super::*;
use crate::{Code, RetrySettings, Retryer, StopReason, retry, retry_blocking};
use std::cell::Cell;
use std::time::Duration;
use tonic::Status;

const MS: Duration = Duration::from_millis(1);

fn documented(total: Duration) -> RetrySettings {
    RetrySettings::builder()
        .initial_retry_delay(200 * MS)
        .retry_delay_multiplier(2.0)
        .max_retry_delay(500 * MS)
        .initial_rpc_timeout(1500 * MS)
        .rpc_timeout_multiplier(2.0)
        .max_rpc_timeout(3000 * MS)
        .total_timeout(total)
        .jittered(false)
        .build()
        .unwrap()
}

fn rows(report: &crate::OperationReport) -> Vec<(u32, u128, u128, u128, u128)> {
    report
        .attempts()
        .iter()
        .map(|row| {
            let timeout = row.rpc_timeout().unwrap().as_millis();
            (row.number(), timeout, row.delay().as_millis(), row.start().as_millis(), row.end().as_millis())
        })
        .collect()
}

#[tokio::test(start_paused = true)]
async fn a_hanging_closure_runs_through_the_documented_table() {
    let settings = documented(10_000 * MS);
    let error = Retryer::new(&settings, [Code::DeadlineExceeded])
        .run(|_| std::future::pending::<Result<(), Status>>())
        .await
        .unwrap_err();
    let expected = [(1, 1500, 0, 0, 1500), (2, 3000, 200, 1700, 4700), (3, 4900, 400, 5100, 10_000)];
    assert_eq!(rows(error.report()), expected);
    assert_eq!(error.stop_reason(), Some(StopReason::TotalTimeout));
    assert!(error.last().is_none());
    assert_eq!(error.to_string(), "closure failed after 3 attempts in 10 s (TOTAL_TIMEOUT)");
}

#[tokio::test(start_paused = true)]
async fn the_report_has_the_attempt_that_was_refused() {
    let error = Retryer::new(&documented(5000 * MS), [Code::DeadlineExceeded])
        .run(|_| std::future::pending::<Result<(), Status>>())
        .await
        .unwrap_err();
    let refused = error.report().not_attempted().unwrap();
    assert_eq!((refused.attempt(), refused.delay()), (3, 400 * MS));
}

#[tokio::test(start_paused = true)]
async fn the_last_error_is_handed_out_and_others_are_final() {
    let settings = documented(10_000 * MS);
    let calls = Cell::new(0);
    let error = retry(
        &settings,
        |error: &&str| *error == "busy",
        || {
            calls.set(calls.get() + 1);
            let reply = if calls.get() < 3 { "busy" } else { "broken" };
            async move { Err::<(), _>(reply) }
        },
    )
    .await
    .unwrap_err();
    assert_eq!(error.last(), Some(&"broken"));
    assert_eq!(error.stop_reason(), Some(StopReason::NonRetryable));
    let codes: Vec<Code> = error.report().attempts().iter().map(gax_retry::Attempt::code).collect();
    assert_eq!(codes, [Code::Unavailable, Code::Unavailable, Code::Unknown]);
}

#[tokio::test(start_paused = true)]
async fn a_strategy_waits_as_its_tool_does_and_counts_retries() {
    use crate::strategy::Backoff;
    use crate::strategy::BackoffStrategy;
    use crate::strategy::Limits;
    let strategy = BackoffStrategy::new(
        Backoff::exponential(1000 * MS, 2.0, 3000 * MS).with_first_exponent(1),
        Limits::none().with_max_retries(2),
    );
    let error = Retryer::with_backoff_strategy(&strategy, |error: &&str| *error == "busy")
        .run(|_| async { Err::<(), _>("busy") })
        .await
        .unwrap_err();
    let delays: Vec<_> = error.report().attempts().iter().map(gax_retry::Attempt::delay).collect();
    assert_eq!(delays, [Duration::ZERO, 2000 * MS, 3000 * MS]);
    assert_eq!(error.stop_reason(), Some(StopReason::MaxAttempts));
    let final_error = Retryer::with_backoff_strategy(&strategy, |error: &&str| *error == "busy")
        .run(|_| async { Err::<(), _>("broken") })
        .await
        .unwrap_err();
    assert_eq!(final_error.stop_reason(), Some(StopReason::NonRetryable));
}

#[tokio::test(start_paused = true)]
async fn to_drop_the_future_ends_the_operation() {
    let settings = documented(10_000 * MS);
    let calls = Cell::new(0);
    let operation = retry(&settings, [Code::Unavailable], || {
        calls.set(calls.get() + 1);
        async { Err::<(), _>(Status::unavailable("")) }
    });
    assert!(tokio::time::timeout(100 * MS, operation).await.is_err());
    tokio::time::sleep(10_000 * MS).await;
    assert_eq!(calls.get(), 1);
}

#[tokio::test(start_paused = true)]
async fn attempts_without_a_delay_let_other_tasks_run() {
    let settings =
        RetrySettings::builder().max_attempts(1000).initial_retry_delay(Duration::ZERO).build().unwrap();
    let turns = std::rc::Rc::new(Cell::new(0));
    let others = std::rc::Rc::clone(&turns);
    let local = tokio::task::LocalSet::new();
    local.spawn_local(async move {
        loop {
            others.set(others.get() + 1);
            tokio::task::yield_now().await;
        }
    });
    local
        .run_until(async {
            let failing = || async { Err::<(), _>(Status::unavailable("")) };
            let error = retry(&settings, [Code::Unavailable], failing).await.unwrap_err();
            assert_eq!(error.report().attempt_count(), 1000);
        })
        .await;
    assert!(turns.get() >= 1000 / 16, "{}", turns.get());
}

#[test]
fn a_blocking_closure_knows_its_attempt() {
    let settings = RetrySettings::builder()
        .max_attempts(3)
        .initial_retry_delay(Duration::ZERO)
        .total_timeout(3_600_000 * MS)
        .build()
        .unwrap();
    let mut seen = Vec::new();
    let retryer = Retryer::new(&settings, [Code::Aborted]).attempt_timeout(70 * MS);
    let error = retryer
        .run_blocking(|attempt| {
            seen.push((attempt.number(), attempt.rpc_timeout()));
            Err::<(), _>(Status::aborted(""))
        })
        .unwrap_err();
    assert_eq!(seen, [1, 2, 3].map(|number| (number, Some(70 * MS))));
    assert_eq!(error.stop_reason(), Some(StopReason::MaxAttempts));
}

#[tokio::test(start_paused = true)]
async fn an_async_closure_knows_its_attempt_and_bounded_by_its_timeout() {
    let mut seen = Vec::new();
    let error = Retryer::new(&documented(10_000 * MS), [Code::DeadlineExceeded, Code::Unavailable])
        .attempt_timeout(4000 * MS)
        .run(|attempt| {
            seen.push((
                attempt.number(),
                attempt.start().as_millis(),
                attempt.rpc_timeout().unwrap().as_millis(),
            ));
            async move {
                match attempt.number() {
                    1 => std::future::pending().await,
                    _ => Err::<(), _>(Status::not_found("")),
                }
            }
        })
        .await
        .unwrap_err();
    assert_eq!(seen, [(1, 0, 4000), (2, 4200, 4000)]);
    assert_eq!(error.stop_reason(), Some(StopReason::NonRetryable));
}

#[test]
fn one_that_blocks_needs_no_attempt_if_it_asks_for_none() {
    let settings =
        RetrySettings::builder().max_attempts(3).initial_retry_delay(Duration::ZERO).build().unwrap();
    let mut calls = 0;
    let mut down = || {
        calls += 1;
        Err::<(), _>(Status::aborted(""))
    };
    assert!(retry_blocking(&settings, [Code::Aborted], &mut down).is_err());
    assert_eq!(calls, 3);
}

/// An error that says OK of itself.
#[derive(Debug, PartialEq)]
struct Odd;

impl ErrorCode for Odd {
    fn error_code(&self) -> Code {
        Code::Ok
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_that_calls_itself_ok_is_an_unknown_failure_and_no_success() {
    let settings =
        RetrySettings::builder().max_attempts(2).initial_retry_delay(Duration::ZERO).build().unwrap();
    for (codes, attempts) in [([Code::Unknown], 2), ([Code::Unavailable], 1)] {
        let error = retry(&settings, codes, || async { Err::<(), _>(Odd) }).await.unwrap_err();
        assert_eq!(error.last(), Some(&Odd));
        let codes: Vec<_> = error.report().attempts().iter().map(crate::Attempt::code).collect();
        assert_eq!(codes, vec![Code::Unknown; attempts]);
    }
}

/// tonic's own decoder refuses a message with a code that a server may send as well.
#[tokio::test(start_paused = true)]
async fn a_message_above_one_s_own_limit_is_final_and_a_server_s_out_of_range_is_not() {
    let settings =
        RetrySettings::builder().max_attempts(2).initial_retry_delay(Duration::ZERO).build().unwrap();
    let text = "Error, decoded message length too large: found 5000 bytes, the limit is: 1000 bytes";
    let own = Status::out_of_range(text);
    let mut of_server = Status::out_of_range(text);
    of_server.metadata_mut().insert("content-type", "application/grpc".parse().unwrap());
    for (status, attempts) in [(own, 1), (of_server, 2), (Status::out_of_range("page 7 of 6"), 2)] {
        let error = retry(&settings, [Code::OutOfRange], || async { Err::<(), _>(status.clone()) });
        assert_eq!(error.await.unwrap_err().report().attempt_count(), attempts, "{status:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_prints_what_the_closure_said() {
    use std::error::Error as _;

    let settings = RetrySettings::builder().jittered(false).max_attempts(3).build().unwrap();
    let gone = || std::io::Error::other(Status::unavailable("no route\u{1b}"));
    let retryer = Retryer::new(&settings, |_: &std::io::Error| true).named("redis: GET");
    let error = retryer.run(|_| std::future::ready(Err::<(), _>(gone()))).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "redis: GET failed after 3 attempts in 230 ms (MAX_ATTEMPTS): \
         code: 'The service is currently unavailable', message: \"no route\\u{1b}\""
    );
    assert!(error.source().is_none_or(|source| !error.to_string().contains(&source.to_string())));
}

//! The attempt tables of the documentation, row by row, as the server saw them and as the report has them.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use gax_retry::{Code, Compatibility, RetrySettings, StopReason};
use tonic_gax_tests::{Reply, Row, Script, Setup, Stack, VirtualServer, delays, error_report, ms, row, rows};

const LATE: Code = Code::DeadlineExceeded;

fn settings(waits: [u64; 2], timeouts: [u64; 2], total: u64) -> RetrySettings {
    delays(waits[0], 2.0)
        .max_retry_delay(ms(waits[1]))
        .initial_rpc_timeout(ms(timeouts[0]))
        .rpc_timeout_multiplier(2.0)
        .max_rpc_timeout(ms(timeouts[1]))
        .total_timeout(ms(total))
        .build()
        .unwrap()
}

/// Runs an operation against a server that never replies, in every stack, and compares what both ends saw.
async fn hanging(setup: &Setup, table: &[Row], reason: StopReason) {
    for stack in Stack::ALL {
        let server = VirtualServer::start(Script::always(Reply::Hang));
        let status = stack.list(server.channel(), setup).await.unwrap_err();

        let report = error_report(&status);
        assert_eq!(rows(&report), table, "{stack:?}");
        assert_eq!(report.stop_reason(), Some(reason), "{stack:?}");
        assert_eq!(status.code(), tonic::Code::DeadlineExceeded, "{stack:?}");
        assert_eq!(report.method(), "/google.cloud.asset.v1.AssetService/ListAssets");

        let seen: Vec<_> = table.iter().map(|row| (row.3, row.1)).collect();
        assert_eq!(server.seen(), seen, "{stack:?}");
        // Nobody sleeps for an attempt that is not made.
        assert_eq!(server.log().elapsed(), ms(table.last().unwrap().4), "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn no_retry_by_one_attempt() {
    let settings = RetrySettings::builder().total_timeout(ms(5000)).max_attempts(1).build().unwrap();
    let table = [row(1, 5000, 0, 0, 5000, LATE)];
    hanging(&Setup::new(settings), &table, StopReason::TotalTimeout).await;
}

#[tokio::test(start_paused = true)]
async fn no_retry_by_logical_timeout() {
    let settings = RetrySettings::builder().logical_timeout(ms(5000)).build().unwrap();
    let table = [row(1, 5000, 0, 0, 5000, LATE)];
    hanging(&Setup::new(settings), &table, StopReason::TotalTimeout).await;
}

#[tokio::test(start_paused = true)]
async fn the_third_attempt_would_start_after_the_total() {
    let table = [row(1, 1500, 0, 0, 1500, LATE), row(2, 3000, 200, 1700, 4700, LATE)];
    let setup = Setup::new(settings([200, 500], [1500, 3000], 5000));
    hanging(&setup, &table, StopReason::TotalTimeout).await;
}

#[tokio::test(start_paused = true)]
async fn the_third_attempt_gets_all_that_is_left() {
    let table = [
        row(1, 1500, 0, 0, 1500, LATE),
        row(2, 3000, 200, 1700, 4700, LATE),
        row(3, 4900, 400, 5100, 10_000, LATE),
    ];
    let setup = Setup::new(settings([200, 500], [1500, 3000], 10_000));
    hanging(&setup, &table, StopReason::TotalTimeout).await;
}

#[tokio::test(start_paused = true)]
async fn the_last_attempt_is_clamped_to_the_total() {
    let table = [
        row(1, 500, 0, 0, 500, LATE),
        row(2, 1000, 200, 700, 1700, LATE),
        row(3, 1900, 400, 2100, 4000, LATE),
    ];
    let setup = Setup::new(settings([200, 500], [500, 2000], 4000));
    hanging(&setup, &table, StopReason::TotalTimeout).await;
}

/// Where gax-java differs from its documentation: no attempt exceeds the maximum RPC timeout.
#[tokio::test(start_paused = true)]
async fn gax_java_makes_a_fourth_attempt() {
    let table = [
        row(1, 1500, 0, 0, 1500, LATE),
        row(2, 3000, 200, 1700, 4700, LATE),
        row(3, 3000, 400, 5100, 8100, LATE),
        row(4, 1400, 500, 8600, 10_000, LATE),
    ];
    let setup = Setup::new(settings([200, 500], [1500, 3000], 10_000)).compatible(Compatibility::GaxJava);
    hanging(&setup, &table, StopReason::TotalTimeout).await;
}

#[tokio::test(start_paused = true)]
async fn gax_java_agrees_on_the_other_tables() {
    let java = |settings| Setup::new(settings).compatible(Compatibility::GaxJava);
    let two = [row(1, 1500, 0, 0, 1500, LATE), row(2, 3000, 200, 1700, 4700, LATE)];
    hanging(&java(settings([200, 500], [1500, 3000], 5000)), &two, StopReason::TotalTimeout).await;
    let three = [
        row(1, 500, 0, 0, 500, LATE),
        row(2, 1000, 200, 700, 1700, LATE),
        row(3, 1900, 400, 2100, 4000, LATE),
    ];
    hanging(&java(settings([200, 500], [500, 2000], 4000)), &three, StopReason::TotalTimeout).await;
    let one = RetrySettings::builder().total_timeout(ms(5000)).max_attempts(1).build().unwrap();
    let single = [row(1, 5000, 0, 0, 5000, LATE)];
    hanging(&java(one), &single, StopReason::TotalTimeout).await;
}

/// gax-java puts no deadline on attempts where only the total is set; the documented rules clamp to it.
#[tokio::test(start_paused = true)]
async fn an_attempt_without_a_timeout_of_its_own_gets_the_total() {
    let settings = RetrySettings::builder().total_timeout(ms(5000)).build().unwrap();
    hanging(&Setup::new(settings), &[row(1, 5000, 0, 0, 5000, LATE)], StopReason::TotalTimeout).await;
}

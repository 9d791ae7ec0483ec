use crate::{AttemptPlan, Code, CodeSet, NoJitter, RetrySettings, Schedule, StopReason};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

type Row = (u32, u128, u128, u128, u128);

fn hanging(settings: &RetrySettings) -> AttemptPlan {
    let codes = CodeSet::from([Code::DeadlineExceeded, Code::Unavailable]);
    AttemptPlan::new(&Schedule::new(settings, codes), &[], &mut NoJitter)
}

/// Attempt, RPC timeout, delay, start and end, in milliseconds.
fn rows(plan: &AttemptPlan) -> Vec<Row> {
    plan.attempts()
        .iter()
        .map(|row| {
            let timeout = row.rpc_timeout().unwrap().as_millis();
            (row.number(), timeout, row.delay().as_millis(), row.start().as_millis(), row.end().as_millis())
        })
        .collect()
}

fn growing(rpc: (u32, u32), total: u32) -> RetrySettings {
    RetrySettings::builder()
        .initial_retry_delay(200 * MS)
        .retry_delay_multiplier(2.0)
        .max_retry_delay(500 * MS)
        .initial_rpc_timeout(rpc.0 * MS)
        .rpc_timeout_multiplier(2.0)
        .max_rpc_timeout(rpc.1 * MS)
        .total_timeout(total * MS)
        .build()
        .unwrap()
}

#[test]
fn documented_table_without_retry() {
    let one = RetrySettings::builder().total_timeout(5000 * MS).max_attempts(1).build().unwrap();
    for settings in [one, RetrySettings::logical_timeout(5000 * MS)] {
        let plan = hanging(&settings);
        assert_eq!(rows(&plan), [(1, 5000, 0, 0, 5000)]);
        assert_eq!(plan.not_attempted(), None);
    }
}

#[test]
fn documented_table_of_five_seconds() {
    let plan = hanging(&growing((1500, 3000), 5000));
    assert_eq!(rows(&plan), [(1, 1500, 0, 0, 1500), (2, 3000, 200, 1700, 4700)]);
    let refused = plan.not_attempted().unwrap();
    assert_eq!((refused.attempt(), refused.delay()), (3, 400 * MS));
    assert_eq!(plan.stop_reason(), Some(StopReason::TotalTimeout));
    assert_eq!(plan.end(), 4700 * MS);
}

#[test]
fn documented_table_of_ten_seconds() {
    let plan = hanging(&growing((1500, 3000), 10_000));
    let expected = [(1, 1500, 0, 0, 1500), (2, 3000, 200, 1700, 4700), (3, 4900, 400, 5100, 10_000)];
    assert_eq!(rows(&plan), expected);
    assert_eq!(plan.not_attempted(), None);
}

#[test]
fn documented_table_of_four_seconds() {
    let plan = hanging(&growing((500, 2000), 4000));
    assert_eq!(rows(&plan), [(1, 500, 0, 0, 500), (2, 1000, 200, 700, 1700), (3, 1900, 400, 2100, 4000)]);
}

//! Reports as people read them.

use crate::operation::report::{Ledger, Note, OperationReport};
use gax_retry::{AttemptPlan, Code, Delivery, NoJitter, Policy, Response, RetrySettings};
use std::borrow::Cow;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

/// The second example of the documentation, with a response that comes at an odd time.
fn plan(responses: &[Response]) -> AttemptPlan {
    let settings = RetrySettings::builder()
        .initial_retry_delay(200 * MS)
        .retry_delay_multiplier(2.0)
        .max_retry_delay(500 * MS)
        .initial_rpc_timeout(1500 * MS)
        .rpc_timeout_multiplier(2.0)
        .max_rpc_timeout(3000 * MS)
        .total_timeout(5000 * MS)
        .build()
        .unwrap();
    let codes = [Code::DeadlineExceeded, Code::Unavailable];
    AttemptPlan::new(&Policy::new(&settings, codes), responses, &mut NoJitter)
}

fn report(method: &'static str, plan: &AttemptPlan, write: impl FnOnce(&mut Ledger)) -> OperationReport {
    let mut report = OperationReport::unsendable(Cow::Borrowed(method));
    plan.attempts().iter().for_each(|attempt| report.ledger_mut().push(attempt.clone(), Delivery::Unknown));
    write(report.ledger_mut());
    report.set_end(plan.stop_reason(), plan.not_attempted());
    report
}

#[test]
fn a_report_is_a_table_with_what_else_there_is_to_tell() {
    let late = Response::after(Duration::from_nanos(2_954_842_931), Code::Unavailable);
    let report = report("/a.B/C", &plan(&[Response::none(), late]), |ledger| {
        ledger.transparent_retries = 2;
        ledger.note(Note::UNREADABLE_RESPONSE);
    });
    let text = "\
/a.B/C failed after 2 attempts in 4.65 s (TOTAL_TIMEOUT)
attempt |   RPC timeout | retry delay | invoked |  ended | code
--------+---------------+-------------+---------+--------+------------------
      1 |         1.5 s |        0 ms |    0 ms |  1.5 s | DEADLINE_EXCEEDED
      2 |           3 s |      200 ms |   1.7 s | 4.65 s | UNAVAILABLE
      3 | not attempted |      400 ms
sent again at once: 2 times (not counted as attempts)
note: the response can't be read: not retried, regardless of its code";
    assert_eq!(report.to_string(), text);
}

#[test]
fn a_success_says_so() {
    let ok = Response::after(Duration::from_nanos(12_345_678), Code::Ok);
    let report = report("/a.B/C\u{1b}", &plan(&[ok]), |ledger| ledger.transparent_retries = 1);
    let text = "\
/a.B/C\\u{1b} succeeded after 1 attempt in 12.3 ms
attempt | RPC timeout | retry delay | invoked |   ended | code
--------+-------------+-------------+---------+---------+-----
      1 |       1.5 s |        0 ms |    0 ms | 12.3 ms | OK
sent again at once: 1 time (not counted as an attempt)";
    assert_eq!(report.to_string(), text);
}

#[test]
fn the_messages_of_a_stream_stand_under_its_connections() {
    let ok = Response::after(5 * MS, Code::Ok);
    let report = report("/a.B/C", &plan(&[ok]), |ledger| {
        for attempt in 1..=100 {
            ledger.delivered(attempt, 2);
        }
    });
    assert_eq!(report.to_string().lines().last(), Some("delivered: 200 messages, over 100 connections"));
    assert_eq!((report.messages_delivered(), report.messages_of(&report.attempts()[0])), (200, 2));
    let report = self::report("/a.B/C", &plan(&[ok]), |ledger| ledger.delivered(1, 1));
    assert_eq!(report.to_string().lines().last(), Some("delivered: 1 message, over 1 connection"));
}

//! Reports as tables.

use crate::clock::ms;
use gax_retry::{Attempt, Code};
use std::time::Duration;
use tonic::{Request, Response, Status};
use tonic_gax::{CallOptions, OperationError, OperationReport, RequestExt as _};

/// An attempt: its number, RPC timeout, delay, start and end in milliseconds, and its code.
pub type Row = (u32, Option<u64>, u64, u64, u64, Code);

/// A row with an RPC timeout.
#[must_use]
pub fn row(number: u32, timeout: u64, delay: u64, start: u64, end: u64, code: Code) -> Row {
    (number, Some(timeout), delay, start, end, code)
}

/// The attempts of a report. Every time in it must be a whole number of milliseconds.
#[must_use]
pub fn rows(report: &OperationReport) -> Vec<Row> {
    report.attempts().iter().map(of_attempt).collect()
}

fn of_attempt(attempt: &Attempt) -> Row {
    let timeout = attempt.rpc_timeout().map(whole);
    let (delay, start, end) = (whole(attempt.delay()), whole(attempt.start()), whole(attempt.end()));
    (attempt.number(), timeout, delay, start, end, attempt.code())
}

fn whole(time: Duration) -> u64 {
    let milliseconds = u64::try_from(time.as_millis()).unwrap();
    assert_eq!(ms(milliseconds), time, "{time:?} is no whole number of milliseconds");
    milliseconds
}

/// The codes of a report's attempts.
#[must_use]
pub fn codes(report: &OperationReport) -> Vec<Code> {
    report.attempts().iter().map(Attempt::code).collect()
}

/// The report behind an error.
#[must_use]
pub fn error_report(status: &Status) -> OperationReport {
    OperationError::of(status).expect("an operation's error").report().clone()
}

/// The report of a call, however it ended.
#[must_use]
pub fn report_of<T>(result: &Result<Response<T>, Status>) -> OperationReport {
    match result {
        Ok(response) => response.extensions().get::<OperationReport>().expect("a report").clone(),
        Err(status) => error_report(status),
    }
}

/// The request, with the wish for a report even of a plain success.
pub fn reported<T>(message: T) -> Request<T> {
    Request::new(message).with_call_options(CallOptions::new().report(true))
}

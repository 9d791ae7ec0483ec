//! Attempts compared with what was expected of them.

use gax_driver::closure::RetryOutcome;
use gax_driver::{OperationError, OperationReport, RetryError};
use gax_retry::{Attempt, Code};
use std::fmt::{self, Write as _};
use std::time::Duration;
use tonic::{Response, Status};

/// Compares the attempts of a call, or of any operation, with a table, and prints both side by side where they differ.
///
/// Each row is `(delay, start, end, code)` or `(RPC timeout, delay, start, end, code)`, in milliseconds. Without an RPC timeout
/// that is not compared. The first argument is anything that has a report: a response, a status, a result of either, a
/// [`RetryError`](gax_driver::RetryError), or an [`OperationReport`](gax_driver::OperationReport). A response has a report if there was
/// more than one attempt, or if it was asked for: see [`CallOptions::report`](gax_driver::CallOptions::report).
///
/// # Panics
///
/// The attempts are others, or there is no report.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use gax_testing::assert_attempts;
/// use gax_driver::Retryer;
/// use tonic_gax::{Code, OperationOptions, RetrySettings};
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), tonic_gax::SettingsError> {
/// let settings = RetrySettings::builder().max_attempts(2).initial_retry_delay(Duration::from_millis(50)).build()?;
/// let down = |_| async { Err::<(), _>(tonic::Status::unavailable("down")) };
/// let retryer = Retryer::new(&settings, [Code::Unavailable]).options(OperationOptions::new().without_jitter());
/// let error = retryer.run(down).await.unwrap_err();
/// assert_attempts!(&error, [(0, 0, 0, Code::Unavailable), (50, 50, 50, Code::Unavailable)]);
/// # Ok(())
/// # }
/// ```
#[macro_export]
macro_rules! assert_attempts {
    ($of:expr, [$($row:expr),* $(,)?] $(,)?) => {
        if let ::core::result::Result::Err(difference) =
            $crate::Attempts::of(&$of).compare(&[$($crate::AttemptRow::from($row)),*])
        {
            ::core::panic!("{difference}");
        }
    };
}

/// A row of an attempt table. Times are in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttemptRow {
    timeout: Option<u64>,
    delay: u64,
    start: u64,
    end: u64,
    code: Code,
}

impl From<(u64, u64, u64, Code)> for AttemptRow {
    fn from((delay, start, end, code): (u64, u64, u64, Code)) -> Self {
        Self { timeout: None, delay, start, end, code }
    }
}

impl From<(u64, u64, u64, u64, Code)> for AttemptRow {
    fn from((timeout, delay, start, end, code): (u64, u64, u64, u64, Code)) -> Self {
        Self { timeout: Some(timeout), delay, start, end, code }
    }
}

impl AttemptRow {
    fn is(&self, attempt: &Attempt) -> bool {
        let ms = Duration::from_millis;
        self.timeout.is_none_or(|timeout| attempt.rpc_timeout() == Some(ms(timeout)))
            && attempt.delay() == ms(self.delay)
            && attempt.start() == ms(self.start)
            && attempt.end() == ms(self.end)
            && attempt.code() == self.code
    }
}

impl fmt::Display for AttemptRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { timeout, delay, start, end, code } = self;
        if let Some(timeout) = timeout {
            write!(f, "timeout {timeout} ms, ")?;
        }
        write!(f, "delay {delay} ms, {start}..{end} ms {code}")
    }
}

/// The attempts of an operation, to be compared.
#[derive(Debug, Clone)]
pub struct Attempts {
    report: Option<OperationReport>,
}

impl Attempts {
    /// Those of whatever has a report.
    #[must_use]
    pub fn of(reported: &impl Reported) -> Self {
        Self { report: reported.operation_report() }
    }

    /// Compares them, row by row.
    ///
    /// # Errors
    ///
    /// They are others: both tables side by side. Or there is no report.
    pub fn compare(&self, expected: &[AttemptRow]) -> Result<(), String> {
        let Some(report) = &self.report else {
            let sentence = "there is no report: if the first attempt succeeds, ask for it with \
                CallOptions::report(true) or OperationOptions::reports(true)";
            return Err(sentence.to_owned());
        };
        let attempts = report.attempts();
        let is_same = attempts.len() == expected.len()
            && expected.iter().zip(attempts).all(|(row, attempt)| row.is(attempt));
        if is_same { Ok(()) } else { Err(side_by_side(expected, attempts)) }
    }
}

/// A value with the report of an operation: a response, an error, a result of either, or the report itself.
pub trait Reported {
    /// The report, if it is there.
    fn operation_report(&self) -> Option<OperationReport>;
}

macro_rules! reported {
    ($($(#[$attribute:meta])* $kind:ty $([$generic:ident])?: $of:ident => $report:expr;)+) => {$(
        $(#[$attribute])*
        impl $(<$generic>)? Reported for $kind {
            fn operation_report(&self) -> Option<OperationReport> {
                let $of = self;
                $report
            }
        }
    )+};
}

reported! {
    OperationReport: report => Some(report.clone());
    Status: status => OperationError::of(status).map(|error| error.report().clone());
    Response<T> [T]: response => response.extensions().get().cloned();
    http::Response<T> [T]: response => response.extensions().get().cloned();
    #[cfg(feature = "http")]
    gax_http::HttpError: error => Some(error.report().clone());
    RetryError<E> [E]: error => Some(error.report().clone());
    RetryOutcome<T> [T]: outcome => Some(outcome.report().clone());
}

impl<T: Reported, E: Reported> Reported for Result<T, E> {
    fn operation_report(&self) -> Option<OperationReport> {
        match self {
            Ok(good) => good.operation_report(),
            Err(error) => error.operation_report(),
        }
    }
}

impl<T: Reported + ?Sized> Reported for &T {
    fn operation_report(&self) -> Option<OperationReport> {
        (**self).operation_report()
    }
}

fn side_by_side(expected: &[AttemptRow], attempts: &[Attempt]) -> String {
    let lines = expected.len().max(attempts.len());
    let left: Vec<String> = expected.iter().map(ToString::to_string).collect();
    let right: Vec<String> =
        attempts.iter().zip(expected.iter().map(Some).chain(std::iter::repeat(None))).map(shown).collect();
    let width = left.iter().map(String::len).chain([8]).max().unwrap_or_default();
    let mut text = format!("the attempts are not the expected ones\n     {:width$} | made", "expected");
    for line in 0..lines {
        let (ours, theirs) = (left.get(line), right.get(line));
        let is_same =
            expected.get(line).zip(attempts.get(line)).is_some_and(|(row, attempt)| row.is(attempt));
        let mark = if is_same { ' ' } else { '!' };
        let none = || "-".to_owned();
        let (ours, theirs) = (ours.cloned().unwrap_or_else(none), theirs.cloned().unwrap_or_else(none));
        let _infallible = write!(text, "\n{mark} {:>2} {ours:width$} | {theirs}", line + 1);
    }
    text
}

/// An attempt as it is shown next to the row that was expected, with its RPC timeout where that has one.
fn shown((attempt, expected): (&Attempt, Option<&AttemptRow>)) -> String {
    let timeout = match attempt.rpc_timeout() {
        Some(timeout) if expected.is_none_or(|row| row.timeout.is_some()) => {
            format!("timeout {}, ", Ms(timeout))
        }
        None if expected.is_some_and(|row| row.timeout.is_some()) => "no timeout, ".to_owned(),
        _ => String::new(),
    };
    let (delay, start, end) =
        (Ms(attempt.delay()), attempt.start().as_secs_f64() * 1000.0, Ms(attempt.end()));
    format!("{timeout}delay {delay}, {start}..{end} {}", attempt.code())
}

/// In milliseconds, exactly.
struct Ms(Duration);

impl fmt::Display for Ms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ms", self.0.as_secs_f64() * 1000.0)
    }
}

//! The error of an HTTP operation.

use crate::report::HttpReport;
use gax_driver::OperationReport;
use gax_driver::inbound::RequestEnded;
use gax_retry::http::{HttpFailure, TransportFailure};
use gax_retry::operation::Stop;
use gax_retry::{Attempt, Code, Policy, SettingsError, StopReason};
use gax_text::{Escaped, Human};
use gax_wire::__private::{BoxError, LayerError, chain};
use gax_wire::ConnectProblem;
use std::error::Error;
use std::fmt;
use std::time::Duration;

/// An HTTP operation that ended without a response: its last attempt broke, or its time was up.
///
/// A response is not an error, regardless of its status, even `503`: the caller gets it, with the report in its
/// extensions.
///
/// # Examples
///
/// ```
/// use gax_http::StopReason;
/// use gax_http::HttpError;
///
/// fn worth_a_later_try(error: &HttpError) -> bool {
///     matches!(error.stop_reason(), Some(StopReason::TotalTimeout | StopReason::MaxAttempts))
/// }
/// ```
#[derive(Debug)]
pub struct HttpError {
    report: Box<OperationReport>,
    broken: Broken,
    /// The code of the attempt that the operation ended with.
    code: Option<Code>,
}

/// Why there is no response.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, missing_docs, reason = "for the crates of this repository alone")]
pub enum Broken {
    /// Our own clock ended the attempt.
    TimedOut { after: Duration },
    /// The transport failed, or the request itself did.
    Failed { failure: Option<TransportFailure>, problem: Option<ConnectProblem>, source: BoxError },
    /// There was no time for the first attempt.
    NoTime,
    /// The request has ended that the operation's thread works for.
    RequestEnded,
    /// The settings of the call can't be used.
    Invalid(SettingsError),
}

impl Broken {
    /// Why an operation that has ended made no attempt.
    #[must_use]
    pub fn without_attempt(policy: &Policy, stop: Stop) -> Self {
        match (stop.reason(), policy.problem()) {
            (StopReason::Cancelled, _) => Broken::RequestEnded,
            (_, Some(problem)) => Broken::Invalid(problem.clone()),
            (_, None) => Broken::NoTime,
        }
    }

    pub(crate) fn failure(&self) -> Option<TransportFailure> {
        match self {
            Broken::TimedOut { .. } | Broken::NoTime => Some(TransportFailure::Timeout),
            Broken::Failed { failure, .. } => *failure,
            Broken::RequestEnded | Broken::Invalid(_) => None,
        }
    }
}

/// An error whose text has no URL, which can have a secret.
#[must_use]
pub fn without_url(error: BoxError) -> BoxError {
    #[cfg(feature = "reqwest")]
    let error = match error.downcast::<reqwest::Error>() {
        Ok(error) => Box::new(error.without_url()),
        Err(error) => error,
    };
    error
}

impl HttpError {
    pub(crate) fn new(report: OperationReport, broken: Broken, stop: Option<Stop>) -> Self {
        let number = stop.and_then(Stop::attempt);
        let deciding = report.attempts().iter().find(|row| Some(row.number()) == number);
        Self { code: deciding.map(Attempt::code), report: Box::new(report), broken }
    }

    /// The request could not be made.
    #[cfg(feature = "reqwest")]
    pub(crate) fn unsendable(name: String, source: BoxError) -> Self {
        let report = OperationReport::unsendable(std::borrow::Cow::<'static, str>::Owned(name));
        Self::new(report, Broken::Failed { failure: None, problem: None, source }, None)
    }

    gax_text::getters! { self:
        /// The report of the operation.
        pub report: &OperationReport = &self.report;

        /// Why no further attempt was made.
        pub stop_reason: Option<StopReason> = self.report.stop_reason();

        /// The failure below HTTP; `None` if it was the request's own fault (its body failed, its URI has
        /// no host).
        pub failure: Option<TransportFailure> = self.broken.failure();
    }

    /// The code of the attempt that the operation ended with: the last one or, of hedges, the one that decided. Without an
    /// attempt: `DEADLINE_EXCEEDED` if there was no time for one,
    /// `UNKNOWN` if the request could not be made.
    #[must_use]
    pub fn code(&self) -> Code {
        if let Broken::Invalid(_) = self.broken {
            return Code::InvalidArgument;
        }
        if let Broken::RequestEnded = self.broken {
            return Code::Cancelled;
        }
        match self.code {
            Some(code) => code,
            None if self.failure().is_some() => Code::DeadlineExceeded,
            None => Code::Unknown,
        }
    }

    /// The status of the last response that came, if attempts before the last one had responses.
    #[must_use]
    pub fn last_status(&self) -> Option<u16> {
        let failures = self.report.detail::<HttpReport>()?.failures();
        failures.iter().rev().find_map(|failure| match failure {
            HttpFailure::Status(status) => Some(*status),
            HttpFailure::Transport(_) => None,
        })
    }
}

impl fmt::Display for HttpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.report.write_outcome(f)?;
        match &self.broken {
            Broken::TimedOut { after } => write!(f, ": the last attempt timed out after {}", Human(*after))?,
            Broken::NoTime => f.write_str(": there was no time for an attempt")?,
            Broken::RequestEnded => write!(f, ": {}", RequestEnded::default())?,
            Broken::Invalid(problem) => write!(f, ": {problem}")?,
            Broken::Failed { failure: Some(TransportFailure::Connect), source, .. } => {
                f.write_str(match LayerError::behind(&**source) {
                    Some(LayerError::Overloaded) => {
                        ": a layer of the client was overloaded, and sent nothing"
                    }
                    Some(LayerError::Closed) => ": a layer of the client has closed",
                    _ => ": no connection could be made",
                })?;
            }
            Broken::Failed { failure: Some(TransportFailure::Truncated), .. } => {
                f.write_str(": the response broke off")?;
            }
            Broken::Failed { failure: Some(TransportFailure::Timeout), .. } => {
                f.write_str(": the last attempt timed out")?;
            }
            Broken::Failed { failure: Some(TransportFailure::Unreadable), source, .. } => {
                write!(f, ": the response can't be read: {}", Escaped(innermost(&**source)))?;
            }
            Broken::Failed { failure: Some(_), .. } => f.write_str(": the connection broke")?,
            Broken::Failed { failure: None, .. } => f.write_str(": the request can't be sent")?,
        }
        if let Broken::Failed { problem: Some(problem), .. } = &self.broken {
            write!(f, ": {problem}")?;
        }
        match self.last_status() {
            Some(status) => write!(f, "; the last response had status {status}"),
            None => Ok(()),
        }
    }
}

/// The error that the others come from.
fn innermost<'a>(error: &'a (dyn Error + 'static)) -> &'a (dyn Error + 'static) {
    chain(error).last().unwrap_or(error)
}

impl Error for HttpError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.broken {
            Broken::Failed { source, .. } => Some(&**source),
            Broken::TimedOut { .. } | Broken::NoTime | Broken::RequestEnded => None,
            Broken::Invalid(problem) => Some(problem),
        }
    }
}

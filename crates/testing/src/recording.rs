//! The replies of a server, to be played again in a test.

use super::{Reply, Script, Step};
use gax_driver::OperationReport;
use gax_retry::{Attempt, Code};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// The replies of a server to the attempts of a real operation: how long each took, and how it ended. As text, a line
/// for each attempt, it can be kept next to the test that plays it.
///
/// # Examples
///
/// ```
/// use gax_testing::{Recording, VirtualServer};
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // Written by `Recording::of(report).to_string()`, where it went wrong.
/// let recording: Recording = "\
///     /my.Library/GetBook
///     12ms UNAVAILABLE
///     hang
///     7.5ms OK".parse()?;
/// let server = VirtualServer::start(recording.script());
/// # drop(server);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    method: String,
    replies: Vec<Recorded>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Recorded {
    /// It ended so after that time.
    Ended(Duration, Code),
    /// It ran into its RPC timeout.
    Hung,
}

impl Recording {
    /// The ends of the attempts of a report.
    #[must_use]
    pub fn of(report: &OperationReport) -> Self {
        let recorded = |attempt: &Attempt| {
            let took = attempt.end().saturating_sub(attempt.start());
            match attempt.code() {
                Code::DeadlineExceeded if attempt.rpc_timeout().is_some_and(|timeout| took >= timeout) => {
                    Recorded::Hung
                }
                code => Recorded::Ended(took, code),
            }
        };
        Self { method: report.method().to_owned(), replies: report.attempts().iter().map(recorded).collect() }
    }

    /// The method, as the report names it.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.method
    }

    /// A server that does the same again, and then whatever its handlers do.
    #[must_use]
    pub fn script(&self) -> Script {
        let step = |recorded: &Recorded| -> Step {
            match *recorded {
                Recorded::Hung => Reply::Hang.into(),
                Recorded::Ended(after, Code::Ok) => (after, Reply::Serve).into(),
                Recorded::Ended(after, code) => {
                    (after, Reply::code(tonic::Code::from_i32(code.number()))).into()
                }
            }
        };
        Script::new().on(&self.method, self.replies.iter().map(step))
    }
}

impl fmt::Display for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.method)?;
        for recorded in &self.replies {
            match recorded {
                Recorded::Hung => f.write_str("\nhang")?,
                Recorded::Ended(after, code) => write!(f, "\n{}ms {code}", after.as_secs_f64() * 1000.0)?,
            }
        }
        Ok(())
    }
}

/// A text that is not a recording: which line, and what a line has to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseRecordingError {
    line: String,
}

impl fmt::Display for ParseRecordingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?} is not a recorded attempt; write a time and a code such as \"12ms UNAVAILABLE\", or hang",
            self.line
        )
    }
}

impl std::error::Error for ParseRecordingError {}

impl FromStr for Recording {
    type Err = ParseRecordingError;

    fn from_str(text: &str) -> Result<Self, ParseRecordingError> {
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let method = lines.next().unwrap_or_default().to_owned();
        let recorded =
            |line: &str| recorded(line).ok_or_else(|| ParseRecordingError { line: line.to_owned() });
        Ok(Self { method, replies: lines.map(recorded).collect::<Result<_, _>>()? })
    }
}

fn recorded(line: &str) -> Option<Recorded> {
    if line == "hang" {
        return Some(Recorded::Hung);
    }
    let (after, code) = line.split_once(' ')?;
    let milliseconds: f64 = after.strip_suffix("ms")?.parse().ok()?;
    let after = Duration::try_from_secs_f64(milliseconds / 1000.0).ok()?;
    Some(Recorded::Ended(after, code.trim().parse().ok()?))
}

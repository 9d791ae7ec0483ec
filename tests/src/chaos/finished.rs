//! A call that is over.

use super::{RandomCall, RandomPolicy, Witnessed};
use gax_retry::Code;
use gax_testing::Arrival;
use http::HeaderMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tonic_gax::OperationReport;

/// All that is known of a call that is over, from the caller's side, the observer's and the server's.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "tests put it together")]
#[expect(clippy::struct_excessive_bools, reason = "each is known by itself")]
pub struct FinishedCall {
    /// How it was to be retried.
    pub policy: Arc<RandomPolicy>,
    /// The call as it was drawn.
    pub call: RandomCall,
    /// How it ended for its caller.
    pub end: CallEnd,
    /// When the caller had that, from the call's start on; of a stream, when it had the response, not its end.
    pub handed_over: Duration,
    /// The report.
    pub report: Option<OperationReport>,
    /// The operations that began in it: one.
    pub witnessed: Vec<Witnessed>,
    /// Its requests, as the server saw them; times run from the call's start.
    pub seen: Vec<SeenRequest>,
    /// Whether each request that was sent arrived.
    pub is_calm: bool,
    /// Whether the server carried it out, where servers keep count of that.
    pub is_carried_out: bool,
    /// Whether it is known which RPCs stream.
    pub knows_kinds: bool,
    /// Whether its code says whether it is retried: over HTTP the status does.
    pub is_retried_by_code: bool,
    /// How exact times are.
    pub grain: Grain,
}

impl fmt::Display for FinishedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:?}\nended after {:?}: {:?}", self.call, self.handed_over, self.end)?;
        for operation in &self.witnessed {
            writeln!(f, "  observed {:?}, committed {:?}", operation.ends, operation.committed)?;
            for attempt in &operation.attempts {
                writeln!(f, "    {:?}\n      sent {:?} {:?}", attempt.started, attempt.sent, attempt.ends)?;
            }
        }
        for seen in &self.seen {
            writeln!(f, "  {seen:?}")?;
        }
        match &self.report {
            Some(report) => writeln!(f, "{report}"),
            None => Ok(()),
        }
    }
}

/// How a call ended for its caller.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallEnd {
    /// With a response.
    Reply,
    /// With an error of that code; over HTTP with a response that counts as it, or without one.
    Failed(Option<Code>),
    /// tonic's own client over the layer could not read the response that the layer handed it, or that turned into an error
    /// after it had been handed over.
    Unreadable(Code),
    /// The caller had no more patience.
    Dropped,
}

impl CallEnd {
    /// Returns whether the operation had a response.
    #[must_use]
    pub fn is_reply(&self) -> bool {
        matches!(self, CallEnd::Reply | CallEnd::Unreadable(_))
    }
}

/// How exact times are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Grain {
    /// To the millisecond, which is how fine tokio's timer is.
    Virtual,
    /// As exact as a busy machine is.
    Scheduler,
}

impl Grain {
    /// How much later than its time something may happen.
    #[must_use]
    pub fn slack(self) -> Duration {
        match self {
            Grain::Virtual => Duration::from_millis(1),
            Grain::Scheduler => Duration::from_secs(20),
        }
    }
}

/// A request as the server saw it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SeenRequest {
    /// When, from the call's start on.
    pub at: Duration,
    /// The attempt that it says it is.
    pub attempt: u32,
    /// Its `grpc-timeout`.
    pub timeout: Option<Duration>,
    /// Its `grpc-previous-rpc-attempts`.
    pub previous: Option<u32>,
    /// When the client cancelled the request, if it did.
    pub gone: Option<Duration>,
}

impl SeenRequest {
    /// The requests of that call, whose start is that long after the log's.
    #[must_use]
    pub fn of(arrivals: &[Arrival], call: u32, start: Duration) -> Vec<Self> {
        let of_call = arrivals.iter().filter(|arrival| number(&arrival.headers, "x-call") == Some(call));
        let seen = of_call.map(|arrival| Self {
            gone: arrival.gone.map(|gone| gone.saturating_sub(start)),
            ..Self::new(&arrival.headers, arrival.at.saturating_sub(start))
        });
        seen.collect()
    }

    /// One request.
    #[must_use]
    pub fn new(headers: &HeaderMap, at: Duration) -> Self {
        Self {
            at,
            attempt: number(headers, "x-attempt").unwrap_or_default(),
            timeout: headers.get("grpc-timeout").map(|value| timeout(value.to_str().unwrap())),
            previous: number(headers, "grpc-previous-rpc-attempts"),
            gone: None,
        }
    }
}

/// A header's number.
pub(super) fn number(headers: &HeaderMap, name: &str) -> Option<u32> {
    headers.get(name)?.to_str().ok()?.parse().ok()
}

/// A `grpc-timeout`, which has to be one.
fn timeout(text: &str) -> Duration {
    let (digits, unit) = text.split_at(text.len() - 1);
    assert!((1..=8).contains(&digits.len()), "{text:?} is no grpc-timeout");
    let number: u64 = digits.parse().unwrap();
    let nanos = match unit {
        "n" => 1,
        "u" => 1000,
        "m" => 1_000_000,
        "S" => 1_000_000_000,
        "M" => 60_000_000_000,
        "H" => 3_600_000_000_000,
        _ => 0,
    };
    assert_ne!(nanos, 0, "{text:?} is no grpc-timeout");
    Duration::from_nanos(number * nanos)
}

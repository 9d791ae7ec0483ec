//! Reports of how clients understand a table.

use super::rules::Client;
use crate::SourceLocation;
use std::ops::Range;
use std::time::Duration;

/// How closely a client follows a table, from the best to the worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Verdict {
    /// It does what the table says.
    AsWritten,
    /// No rule says what it does.
    Unknown,
    /// It retries, but not as written, or has another deadline.
    Changed,
    /// It sends each request once.
    NoRetries,
    /// It takes the table, and fails calls because of it.
    RefusedPerCall,
    /// It makes no channel.
    RefusedAtCreation,
}

gax_text::names! {
    /// The name in JSON, such as `as-written`.
    pub fn as_str for Verdict {
        AsWritten = "as-written",
        Unknown = "unknown",
        Changed = "changed",
        NoRetries = "no-retries",
        RefusedPerCall = "refused-per-call",
        RefusedAtCreation = "refused-at-creation",
    }
}

/// A report of how one client understands a table.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ClientReport {
    /// The client.
    pub client: Client,
    /// The worst of what it does.
    pub verdict: Verdict,
    /// The code of its failing calls, if they fail because of the table.
    pub code: Option<&'static str>,
    /// Why the verdict isn't `as-written`.
    pub reason: Option<String>,
    /// The names that the table has, in their order.
    pub methods: Vec<MethodReport>,
    /// Everything that it doesn't do as written, in the order in which it was found.
    pub deviations: Vec<Deviation>,
}

/// A report of how one client handles the calls of one name of a table.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct MethodReport {
    /// `pkg.Service/Method`, `pkg.Service` or, for all methods, `*`.
    pub method: String,
    /// How closely it follows the table for these calls.
    pub verdict: Verdict,
    /// Why the verdict isn't `as-written`.
    pub reason: Option<String>,
    /// The number of attempts: of each call of the [script](super::Script), else the most that one call has.
    pub attempts: Vec<u32>,
    /// The waits before the second attempt, the third and so on, without the random part. For a hedged call the time between two attempts.
    pub delays: Vec<Duration>,
    /// Whether it hedges calls, rather than waiting for replies.
    pub is_hedged: bool,
    /// The time that a call has.
    pub timeout: Option<Duration>,
    /// The codes after which it sends the next attempt.
    pub codes: Vec<&'static str>,
}

/// One thing that a client doesn't do as written.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Deviation {
    /// The consequence.
    pub verdict: Verdict,
    /// The code of the calls that fail.
    pub code: Option<&'static str>,
    /// The client's behaviour, in words.
    pub message: String,
    /// The change that makes clients agree.
    pub help: String,
    /// Where it is.
    pub origin: SourceLocation,
    /// The bytes of the file to replace, and by what, so that clients agree.
    pub fix: Option<(Range<usize>, String)>,
    /// The number of the entry that it is about; `None`: the whole file.
    pub(super) entry: Option<usize>,
}

//! The report of an operation, and how it is written.

use crate::operation::report::delay::AttemptDelay;
use crate::operation::report::delivered::Delivered;
use crate::operation::report::ledger::Ledger;
use crate::operation::report::note::Note;
use crate::operation::report::rows::parts;
use gax_retry::operation::{Notes, Operation, Ready};
use gax_retry::report::AttemptTable;
use gax_retry::{Attempt, Code, CodeSet, Delivery, NotAttempted, Policy, RetrySettings, StopReason};
use gax_text::{Escaped, Human};
use http::Extensions;
use http::uri::PathAndQuery;
use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

/// The report of one operation: its attempts, and why it ended.
///
/// Use it to log or assert what happened to a call. It contains the first 32 and the last 32 attempts and counts the others, which
/// bounds its size.
///
/// A response has it in its extensions if there was another attempt, a transparent retry or a note, or if it was requested (see
/// [`CallOptions::report`](crate::CallOptions::report)). An error has it in its [`OperationError`](crate::OperationError).
///
/// With the feature `serde` it can be serialized, for logs: attempts are rows with times in milliseconds, as in
/// `gax plan --format json`. [`Attempt`]s can also be deserialized.
///
/// # Examples
///
/// ```no_run
/// # async fn call() -> Result<tonic::Response<()>, tonic::Status> { Ok(tonic::Response::new(())) }
/// # async fn example() -> Result<(), tonic::Status> {
/// let response = call().await?;
/// if let Some(report) = gax_driver::OperationReport::of(response.extensions()) {
///     for attempt in report.attempts() {
///         println!("{}: {} after {:?}", attempt.number(), attempt.code(), attempt.end());
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, PartialEq)]
pub struct OperationReport {
    method: Name,
    ledger: Notes<Ledger>,
    stop_reason: Option<StopReason>,
    not_attempted: Option<NotAttempted>,
    /// Of settings that can be replaced.
    settings_version: Option<NonZeroU64>,
    detail: Option<Detail>,
}

// One line; [`Display`](fmt::Display) shows all attempts.
gax_text::short_debug! {
    self: OperationReport {
        method: format_args!("{}", self.method),
        attempts: self.attempt_count(),
        elapsed: self.elapsed(),
        stop_reason: self.stop_reason()
    }
}

impl OperationReport {
    /// The report of a success, by that version of settings that can be replaced.
    pub(crate) fn new(method: impl Into<Name>, ledger: Notes<Ledger>, version: Option<u64>) -> Self {
        let settings_version = version.and_then(NonZeroU64::new);
        Self {
            method: method.into(),
            ledger,
            stop_reason: None,
            not_attempted: None,
            settings_version,
            detail: None,
        }
    }

    /// The operation has ended: it has failed, if there is a reason.
    pub(crate) fn set_end(&mut self, reason: Option<StopReason>, not_attempted: Option<NotAttempted>) {
        (self.stop_reason, self.not_attempted) = (reason, not_attempted);
    }

    /// The ledger, to be completed in its place.
    pub(crate) fn ledger_mut(&mut self) -> &mut Ledger {
        &mut self.ledger
    }

    /// The report of an operation without an attempt, since its request could not be made. It is for the errors of other
    /// protocols, as are [`write_outcome`](Self::write_outcome) and [`OperationError::new`](crate::OperationError::new).
    pub fn unsendable(method: impl Into<Name>) -> Self {
        let policy = Policy::new(&RetrySettings::default(), CodeSet::default());
        let (operation, _) = Operation::with_notes(&policy, None, Ready::Never(StopReason::NonRetryable));
        let mut report = Self::new(method, operation.into_notes(&policy), None);
        report.set_end(Some(StopReason::NonRetryable), None);
        report
    }

    /// This report with a value of the transport's own, which prints as one line of it.
    #[must_use]
    pub fn with_detail<T>(mut self, value: T) -> Self
    where
        T: Any + PartialEq + fmt::Debug + fmt::Display + Send + Sync,
    {
        self.detail = Some(Detail::new(value));
        self
    }

    /// The value of that type which the transport added: over HTTP, an `HttpReport` or a `TransferProgress`.
    #[must_use]
    pub fn detail<T: Any>(&self) -> Option<&T> {
        self.detail.as_ref()?.get()
    }

    /// The report in the extensions of a response. `None`: the response is not from an operation, or the first attempt succeeded and
    /// the report was not [requested](crate::CallOptions::report).
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_driver::OperationReport;
    ///
    /// fn attempts<T>(response: &tonic::Response<T>) -> u32 {
    ///     OperationReport::of(response.extensions()).map_or(1, OperationReport::attempt_count)
    /// }
    /// # assert_eq!(attempts(&tonic::Response::new(())), 1);
    /// ```
    #[must_use]
    pub fn of(extensions: &Extensions) -> Option<&Self> {
        extensions.get()
    }

    /// The report of this operation, whose reply says that it has failed with that code, or is of no use for that reason.
    #[doc(hidden)]
    #[must_use]
    pub fn failed(self, code: Code) -> Self {
        self.ended(code, None, StopReason::NonRetryable)
    }

    fn ended(mut self, code: Code, at: Option<Duration>, reason: StopReason) -> Self {
        self.ledger.attempts.failed(code, at);
        self.stop_reason = Some(reason);
        self
    }

    /// The report of this operation, whose reply turned out to be no message: it failed with that code after all.
    pub(crate) fn unreadable(self, code: Code) -> Self {
        let mut report = self.failed(code);
        report.ledger.note(Note::UNREADABLE_RESPONSE);
        report
    }

    gax_text::getters! { self:
        /// The method's path, such as `/google.cloud.asset.v1.AssetService/ListAssets`, or the name that a
        /// [`Retryer`](crate::Retryer) was given.
        pub method: &str = self.method.as_str();

        /// The attempts in the order in which they ended: all of them, or the first 32 and the last 32 of more than
        /// 64. [`attempts_left_out`](Self::attempts_left_out) says how many there were in between.
        pub attempts: &[Attempt] = self.ledger.attempts();

        /// How many attempts were made.
        pub attempt_count: u32 = self.ledger.attempt_count();

        /// How many requests the attempts made: more than [`attempt_count`](Self::attempt_count) if operations of another layer or
        /// client below retried them in the same task ([`Note::RETRIED_INSIDE`]).
        pub request_count: u32 = self.ledger.request_count();

        /// The version of the settings that the operation started with; `None` if they can't be [replaced](crate::LivePolicies)
        /// while the program runs.
        pub settings_version: Option<u64> = self.settings_version.map(NonZeroU64::get);

        /// Further information, in the order in which it was recorded.
        pub notes: &[Note] = &self.ledger.notes;
    }

    /// The first attempts, 32 at most.
    #[must_use]
    pub fn first_attempts(&self) -> &[Attempt] {
        parts(self.attempts()).0
    }

    /// The attempts after the [first](Self::first_attempts): all of them, or the last 32 of more. Empty if there
    /// were no more than 32 in all.
    #[must_use]
    pub fn last_attempts(&self) -> &[Attempt] {
        parts(self.attempts()).1
    }

    gax_text::getters! { self:
        /// The number of attempts between the first and the last that the report does not contain.
        pub attempts_left_out: u32 = self.ledger.attempts.left_out();

        /// Why no further attempt was made; `None` after a success.
        pub stop_reason: Option<StopReason> = self.stop_reason;

        /// The attempt that was skipped because it would have started too late.
        pub not_attempted: Option<NotAttempted> = self.not_attempted;
    }

    /// When the operation ended, counted from its start.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        // Hedges overlap: the attempt that was sent last need not have ended last.
        self.attempts().iter().map(Attempt::end).max().unwrap_or_default()
    }

    gax_text::getters! { self:
        /// How far the request got, over all attempts: whether the server can have carried it out.
        pub delivery: Delivery = self.ledger.delivery;

        /// How often a request that had not reached a server was sent again immediately (gRFC A6, "transparent retries"). This is not
        /// an attempt and has no delay. There are at most three between two attempts, and one more in an operation for a request that a
        /// server did not process. Over HTTP there is also one between two attempts for a request that is safe to retry, if its
        /// connection had been used before and was closed. Cached [credentials](crate::credentials) that a server refuses are
        /// followed by one more.
        pub transparent_retries: u32 = self.ledger.transparent_retries;

        /// How many messages of a stream that resumes went to the caller, over all its connections. Streams with
        /// one connection are not counted.
        pub messages_delivered: u64 = self.ledger.messages().map_or(0, Delivered::messages);
    }

    /// How many of them came over the connection of that attempt, one of those that the report has.
    #[must_use]
    pub fn messages_of(&self, attempt: &Attempt) -> u64 {
        self.ledger.messages().map_or(0, |delivered| delivered.of(attempt.number()))
    }

    /// The address of the server that an attempt went to, by its number. It is known over a
    /// [`Connection`](https://tonic-gax.github.io/tonic-gax/connecting.html), of attempts that were sent.
    #[must_use]
    pub fn peer(&self, attempt: u32) -> Option<&str> {
        let found = self.ledger.peers().iter().find(|(number, _)| *number == attempt);
        found.map(|(_, peer)| peer.as_str())
    }

    /// How long an attempt waited for a connection or a free stream, by its number, and for which. It is known over a
    /// [`Connection`](https://tonic-gax.github.io/tonic-gax/connecting.html); `None` also if it did not wait.
    #[must_use]
    pub fn attempt_delay(&self, attempt: u32) -> Option<AttemptDelay> {
        self.ledger.delays().iter().find(|(number, _)| *number == attempt).map(|(_, delay)| *delay)
    }

    /// Writes one sentence about how the operation ended, without a full stop: an error's text can begin with it.
    ///
    /// # Errors
    ///
    /// The formatter has failed.
    pub fn write_outcome(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.attempt_count();
        let noun = if count == 1 { "attempt" } else { "attempts" };
        let outcome = if self.stop_reason().is_some() { "failed" } else { "succeeded" };
        write!(f, "{} {outcome} after {count} {noun} in {}", self.method, Human(self.elapsed()))?;
        if let Some(reason) = self.stop_reason() {
            write!(f, " ({reason})")?;
        }
        if self.notes().contains(&Note::EARLIER_ATTEMPT_MAY_HAVE_SUCCEEDED) {
            write!(f, "; {}", Note::EARLIER_ATTEMPT_MAY_HAVE_SUCCEEDED)?;
        }
        Ok(())
    }

    /// The attempts as the report prints them, and what else it prints, for programs that print it in another way, such as in colours.
    #[must_use]
    pub fn table(&self) -> AttemptTable {
        let mut table = AttemptTable::new();
        self.first_attempts().iter().for_each(|attempt| table.attempt(attempt.into()));
        table.left_out(self.attempts_left_out());
        self.last_attempts().iter().for_each(|attempt| table.attempt(attempt.into()));
        if let Some(refused) = self.not_attempted() {
            table.not_attempted(refused.attempt(), refused.delay());
        }
        if let Some(detail) = &self.detail {
            table.line(detail);
        }
        if !self.ledger.peers().is_empty() {
            let peers =
                self.ledger.peers().iter().map(|(attempt, peer)| format!("{attempt} {}", peer.as_str()));
            table.line(&format_args!("endpoints: {}", peers.collect::<Vec<_>>().join(", ")));
        }
        if !self.ledger.delays().is_empty() {
            let delays = self.ledger.delays().iter().map(|(attempt, delay)| format!("{attempt} {delay}"));
            table.line(&format_args!("waited: {}", delays.collect::<Vec<_>>().join(", ")));
        }
        table.transparent_retries(self.transparent_retries());
        if let Some(delivered) = self.ledger.messages() {
            table.line(delivered);
        }
        if let Some(version) = self.settings_version() {
            table.line(&format_args!("settings: version {version}"));
        }
        for note in self.notes() {
            if *note == Note::RETRIED_INSIDE {
                table.line(&format_args!("note: {note}: {} requests", self.request_count()));
            } else {
                table.line(&format_args!("note: {note}"));
            }
        }
        table
    }
}

/// The report of an operation whose reply broke off at that time and with that code. `may_be_repetition`: another attempt may be why,
/// if there was one.
#[must_use]
pub fn broken_off(
    report: OperationReport,
    code: Code,
    at: Duration,
    reason: StopReason,
    may_be_repetition: bool,
) -> OperationReport {
    let mut report = report.ended(code, Some(at), reason);
    if may_be_repetition && report.attempt_count() > 1 {
        report.ledger.note(Note::EARLIER_ATTEMPT_MAY_HAVE_SUCCEEDED);
    }
    report
}

impl fmt::Display for OperationReport {
    /// How the operation ended, its attempts as a table, and under it what else there is to say: requests that were
    /// sent again immediately, and the notes. The last line has no line break.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_outcome(f)?;
        let table = self.table().to_string();
        write!(f, "\n{}", table.trim_end_matches('\n'))
    }
}

/// The name of an operation. Prints with control characters escaped.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Name {
    /// The path of a method.
    Path(PathAndQuery),
    /// The name that its caller gave it.
    Text(Cow<'static, str>),
}

impl Name {
    pub(crate) fn as_str(&self) -> &str {
        match self {
            Name::Path(path) => path.as_str(),
            Name::Text(text) => text,
        }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Escaped(self.as_str()))
    }
}

impl From<PathAndQuery> for Name {
    fn from(path: PathAndQuery) -> Self {
        Name::Path(path)
    }
}

impl From<Cow<'static, str>> for Name {
    fn from(text: Cow<'static, str>) -> Self {
        Name::Text(text)
    }
}

/// A value of the transport's own, which prints as one line of the report.
#[derive(Clone)]
pub(super) struct Detail(Arc<dyn AnyDetail>);

/// The traits that a report needs of such a value.
trait AnyDetail: Any + fmt::Debug + fmt::Display + Send + Sync {
    fn is_equal(&self, other: &dyn Any) -> bool;
}

impl<T: Any + PartialEq + fmt::Debug + fmt::Display + Send + Sync> AnyDetail for T {
    fn is_equal(&self, other: &dyn Any) -> bool {
        other.downcast_ref() == Some(self)
    }
}

impl Detail {
    pub(super) fn new<T: Any + PartialEq + fmt::Debug + fmt::Display + Send + Sync>(value: T) -> Self {
        Self(Arc::new(value))
    }

    /// The value, if it is of that type.
    pub(super) fn get<T: Any>(&self) -> Option<&T> {
        let value: &dyn Any = &*self.0;
        value.downcast_ref()
    }
}

impl PartialEq for Detail {
    fn eq(&self, other: &Self) -> bool {
        self.0.is_equal(&*other.0)
    }
}

impl fmt::Debug for Detail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Detail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&*self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_detail_is_what_it_was_made_of() {
        let detail = Detail::new("once".to_owned());
        assert_eq!(detail.get::<String>().map(String::as_str), Some("once"));
        assert_eq!(detail.get::<u32>(), None);
        assert_eq!((detail.to_string(), format!("{detail:?}")), ("once".to_owned(), "\"once\"".to_owned()));
        assert_eq!(detail, Detail::new("once".to_owned()));
        assert_ne!(detail, Detail::new("twice".to_owned()));
        assert_ne!(detail, Detail::new(1));
    }
}

//! Why a long-running operation has no response for its caller.

use crate::client::lro::generated::google::longrunning::{Operation, operation};
use crate::client::lro::generated::google::rpc;
use crate::client::lro::types::{MessageType, WrongType};
use gax_driver::OperationReport;
use gax_retry::{Code, StopReason};
use gax_text::{Escaped, Human};
use prost::{Message, Name};
use std::error::Error;
use std::fmt;
use tonic::Status;

/// Why a long-running operation has no response for its caller.
///
/// In the first three cases the operation may continue at the server: its [name](LongRunningEnd::name) is all that it takes to
/// ask for it again, in this process or in another one. The server is notified of none of them, and none has a
/// status that no server sent.
///
/// # Examples
///
/// ```
/// use gax_client::longrunning::LongRunningError;
///
/// /// The operation to ask for later.
/// fn goes_on(error: &LongRunningError) -> Option<&str> {
///     match error {
///         LongRunningError::PollingTimedOut(end) | LongRunningError::PollFailed(end) => Some(end.name()),
///         _ => None,
///     }
/// }
/// # let _ = goes_on;
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub enum LongRunningError {
    /// The first call failed, so that there is no name to poll. Whether the server has started anything is what the
    /// [status](LongRunningEnd::status) says.
    NotStarted(LongRunningEnd),
    /// A poll failed, and its own retries did not help. The operation continues.
    PollFailed(LongRunningEnd),
    /// The polling settings allow no further poll: [`limit`](LongRunningEnd::limit) says which one. The operation continues.
    PollingTimedOut(LongRunningEnd),
    /// The operation is done, and has failed: with the [code](LongRunningEnd::code), message and
    /// [details](LongRunningEnd::details) that the server gave it. To poll it again is of no use.
    Failed(LongRunningEnd),
    /// The operation is done, and has neither a response nor an error. (Of an operation whose response is
    /// `google.protobuf.Empty` that is no error.)
    NoResult(LongRunningEnd),
    /// The operation is done, and its response is not of the type that the RPC names.
    UnexpectedResponse(LongRunningEnd),
    /// The handle was awaited before, and gave its result then. Nothing was sent.
    ResultTaken(LongRunningEnd),
}

/// The last that was known of an operation when its polling ended.
#[derive(Clone)]
pub struct LongRunningEnd {
    inner: Box<Inner>,
}

#[derive(Clone)]
struct Inner {
    name: String,
    operation: Option<Operation>,
    status: Option<Status>,
    wrong: Option<WrongType>,
    report: OperationReport,
}

impl LongRunningEnd {
    pub(super) fn new(
        name: &str,
        operation: Option<&Operation>,
        status: Option<Status>,
        report: OperationReport,
    ) -> Self {
        let inner =
            Inner { name: name.to_owned(), operation: operation.cloned(), status, wrong: None, report };
        Self { inner: Box::new(inner) }
    }

    pub(super) fn with_wrong_type(mut self, wrong: WrongType) -> Self {
        self.inner.wrong = Some(wrong);
        self
    }

    gax_text::getters! { self:
        /// The operation's name, with which it is resumed; empty if the server has not given one.
        pub name: &str = &self.inner.name;

        /// The operation as its server described it last; `None` if it never did.
        pub operation: Option<&Operation> = self.inner.operation.as_ref();

        /// The status of the call that failed; `None` if none did. Polling that timed out has one if the last poll was refused, and
        /// the time left did not allow to retry it.
        pub status: Option<&Status> = self.inner.status.as_ref();

        /// The details of the operation's error: messages for programs.
        pub details: &[prost_types::Any] = self.error().map_or(&[], |error| &error.details);

        /// The first call and each poll, a row for each. A call's own attempts are in the report of its status.
        pub report: &OperationReport = &self.inner.report;
    }

    /// The last metadata; `None` if there is none, or none of that type.
    #[must_use]
    pub fn metadata<M: Message + Default + Name>(&self) -> Option<M> {
        let any = self.operation()?.metadata.as_ref()?;
        any.to_msg().ok()
    }

    /// The last metadata of that type, by its full name, for types that don't know their own; `None` if there is none, or none
    /// of that type.
    #[must_use]
    pub fn metadata_as<M: Message + Default>(&self, name: &str) -> Option<M> {
        let any = self.operation()?.metadata.as_ref()?;
        MessageType::of(name.to_owned()).read(any).ok()
    }

    /// The error of an operation that has failed, as its server gave it.
    #[must_use]
    pub fn error(&self) -> Option<&rpc::Status> {
        match self.operation()?.result.as_ref()? {
            operation::Result::Error(error) => Some(error),
            operation::Result::Response(_) => None,
        }
    }

    /// The code of an operation that has failed, or else of the call that did; `None` where neither has.
    #[must_use]
    pub fn code(&self) -> Option<Code> {
        match (self.error(), self.status()) {
            (Some(error), _) => Some(Code::from_wire(error.code)),
            (None, Some(status)) => Some(Code::from_wire(status.code().into())),
            (None, None) => None,
        }
    }

    /// The limit that allowed no further poll: the total timeout of the polling settings, or their number of attempts. `None`
    /// if another reason ended it.
    #[must_use]
    pub fn limit(&self) -> Option<StopReason> {
        self.report().stop_reason().filter(|reason| is_limit(*reason))
    }
}

/// Returns whether polling ends for that reason although nothing has failed.
pub(super) fn is_limit(reason: StopReason) -> bool {
    matches!(
        reason,
        StopReason::TotalTimeout | StopReason::MaxAttempts | StopReason::NoLimits | StopReason::Cancelled
    )
}

impl LongRunningError {
    /// The last that was known of the operation.
    #[must_use]
    pub fn end(&self) -> &LongRunningEnd {
        match self {
            Self::NotStarted(end)
            | Self::PollFailed(end)
            | Self::PollingTimedOut(end)
            | Self::Failed(end)
            | Self::NoResult(end)
            | Self::UnexpectedResponse(end)
            | Self::ResultTaken(end) => end,
        }
    }
}

impl fmt::Display for LongRunningError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = self.end();
        let name = match end.name() {
            "" => "the operation".to_owned(),
            name => Escaped(name).to_string(),
        };
        let status = end.status().map(|status| {
            format!(": {}: {}", Code::from_wire(status.code().into()), Escaped(status.message()))
        });
        let refused = status.as_ref().map(|status| format!("; the last poll failed{status}"));
        let (status, refused) = (status.unwrap_or_default(), refused.unwrap_or_default());
        match self {
            Self::NotStarted(_) => {
                write!(f, "{} started no operation{status}", Escaped(end.report().method()))
            }
            Self::PollFailed(_) => write!(
                f,
                "{name} can't be polled{status} (it may continue on the server; resume it by its name)"
            ),
            Self::PollingTimedOut(_) => {
                let limit = end.limit().map(|limit| format!(", and no poll follows ({limit})"));
                let (limit, elapsed) = (limit.unwrap_or_default(), Human(end.report().elapsed()));
                write!(
                    f,
                    "{name} is not done after {elapsed}{limit}{refused}; it continues on the server, and can be resumed by its name"
                )
            }
            Self::Failed(_) => {
                let error = end.error().cloned().unwrap_or_default();
                write!(f, "{name} failed: {}: {}", Code::from_wire(error.code), Escaped(&error.message))
            }
            Self::NoResult(_) => write!(f, "{name} is done and has neither a response nor an error"),
            Self::UnexpectedResponse(_) => {
                let wrong = end.inner.wrong.as_ref().map(|wrong| format!(": {wrong}")).unwrap_or_default();
                write!(f, "{name} is done, and its response can't be read{wrong}")
            }
            Self::ResultTaken(_) => {
                write!(f, "the result of {name} was returned before: await its handle only once")
            }
        }
    }
}

impl fmt::Debug for LongRunningError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LongRunningError").field(&format_args!("{self}")).finish()
    }
}

// Short: without the report and the messages.
gax_text::short_debug! { self: LongRunningEnd { name: self.name(), code: self.code(), limit: self.limit() } }

impl Error for LongRunningError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        // The status itself is in the text.
        self.end().status().and_then(Error::source)
    }
}

//! One operation as it is shown: its attempts, and the one that was not made.

use super::milliseconds::Ms;
use gax_retry::report::{AttemptRow, AttemptTable};
use gax_retry::{AttemptPlan, Code, NotAttempted, StopReason};
use serde::Serialize;

/// An operation, planned or run. Serialises to the form that `--format json` documents.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Timeline {
    pub(crate) attempts: Vec<Row>,
    pub(crate) not_attempted: Option<NotAttempted>,
    pub(crate) stop_reason: Option<StopReason>,
    /// `None`: the operation never ends.
    pub(crate) end_ms: Option<Ms>,
    /// `true` if further attempts are left out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) truncated: bool,
}

/// An attempt.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Row {
    pub(crate) attempt: u32,
    /// `None`: no deadline.
    pub(crate) rpc_timeout_ms: Option<Ms>,
    pub(crate) retry_delay_ms: Ms,
    pub(crate) start_ms: Ms,
    /// `None`, like the code: it never ends.
    pub(crate) end_ms: Option<Ms>,
    pub(crate) code: Option<Code>,
    /// How often its request was sent again immediately.
    #[serde(skip_serializing_if = "is_none")]
    pub(crate) transparent_retries: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_none(count: &u32) -> bool {
    *count == 0
}

impl Timeline {
    /// The table of attempts, in the form of the documentation.
    pub(crate) fn table(&self) -> AttemptTable {
        let mut table = AttemptTable::new();
        self.attempts.iter().for_each(|row| table.attempt(row.into()));
        if let Some(refused) = self.not_attempted {
            table.not_attempted(refused.attempt(), refused.delay());
        }
        table.transparent_retries(self.attempts.iter().map(|row| row.transparent_retries).sum());
        table
    }
}

impl From<&AttemptPlan> for Timeline {
    fn from(plan: &AttemptPlan) -> Self {
        let mut attempts: Vec<Row> = plan.attempts().iter().map(Row::from).collect();
        attempts.extend(plan.endless().iter().map(|endless| Row {
            attempt: endless.number(),
            rpc_timeout_ms: None,
            retry_delay_ms: Ms(endless.delay()),
            start_ms: Ms(endless.start()),
            end_ms: None,
            code: None,
            transparent_retries: endless.transparent_retries(),
        }));
        Self {
            attempts,
            not_attempted: plan.not_attempted(),
            stop_reason: plan.stop_reason(),
            end_ms: plan.endless().is_empty().then(|| Ms(plan.end())),
            truncated: plan.is_truncated(),
        }
    }
}

impl From<&gax_retry::Attempt> for Row {
    fn from(attempt: &gax_retry::Attempt) -> Self {
        Self {
            attempt: attempt.number(),
            rpc_timeout_ms: attempt.rpc_timeout().map(Ms),
            retry_delay_ms: Ms(attempt.delay()),
            start_ms: Ms(attempt.start()),
            end_ms: Some(Ms(attempt.end())),
            code: Some(attempt.code()),
            transparent_retries: attempt.transparent_retries(),
        }
    }
}

impl From<&Row> for AttemptRow {
    fn from(row: &Row) -> Self {
        Self {
            number: row.attempt,
            transparent_retries: row.transparent_retries,
            rpc_timeout: row.rpc_timeout_ms.map(|timeout| timeout.0),
            delay: row.retry_delay_ms.0,
            start: row.start_ms.0,
            end: row.end_ms.zip(row.code).map(|(end, code)| (end.0, code)),
        }
    }
}

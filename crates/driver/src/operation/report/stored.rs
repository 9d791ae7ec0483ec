//! Reports as programs store them (feature `serde`).

use crate::operation::report::note::Note;
use crate::operation::report::operation_report::OperationReport;
use gax_retry::stored::Milliseconds;
use gax_retry::{Attempt, Delivery, NotAttempted, StopReason};
use serde::{Serialize, Serializer};

#[derive(Serialize)]
struct Fields<'a> {
    method: &'a str,
    attempts: &'a [Attempt],
    #[serde(skip_serializing_if = "is_none")]
    attempts_left_out: u32,
    not_attempted: Option<NotAttempted>,
    stop_reason: Option<StopReason>,
    end_ms: Milliseconds,
    #[serde(skip_serializing_if = "is_none")]
    transparent_retries: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_count: Option<u32>,
    delivery: Delivery,
    #[serde(skip_serializing_if = "is_zero")]
    messages_delivered: u64,
    #[serde(skip_serializing_if = "<[Note]>::is_empty")]
    notes: &'a [Note],
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_none(count: &u32) -> bool {
    *count == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Serialize for OperationReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = Fields {
            method: self.method(),
            attempts: self.attempts(),
            attempts_left_out: self.attempts_left_out(),
            not_attempted: self.not_attempted(),
            stop_reason: self.stop_reason(),
            end_ms: Milliseconds(self.elapsed()),
            transparent_retries: self.transparent_retries(),
            request_count: Some(self.request_count()).filter(|count| *count > self.attempt_count()),
            delivery: self.delivery(),
            messages_delivered: self.messages_delivered(),
            notes: self.notes(),
        };
        fields.serialize(serializer)
    }
}

/// The sentence that is printed.
impl Serialize for Note {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

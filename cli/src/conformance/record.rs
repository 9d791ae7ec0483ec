//! The result of an operation: what a case records, and what the engine does.

use super::fields::{Fault, Fields, wrong};
use serde_json::Value;

/// An operation from its first attempt to its end. Times are in microseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) attempts: Vec<Row>,
    pub(super) end: String,
    pub(super) final_code: Option<String>,
    pub(super) end_us: i128,
    pub(super) denied_next: Option<Denied>,
    /// The calls of its tracer, such as `attemptStarted(0)`; `None`: nobody wrote them down.
    pub(super) tracer: Option<Vec<String>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) attempt: i128,
    pub(super) rpc_timeout_us: i128,
    pub(super) retry_delay_us: i128,
    pub(super) start_us: i128,
    pub(super) end_us: i128,
    pub(super) outcome: String,
    /// Of streams only.
    pub(super) counts: Option<Counts>,
}

/// The attempt's 0-based number since messages were last delivered, and since the operation's start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) attempt_count: i128,
    pub(super) overall_attempt_count: i128,
}

/// The attempt that was computed and refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Denied {
    pub(super) attempt: i128,
    pub(super) retry_delay_us: i128,
    /// Known of the bare algorithm only.
    pub(super) rpc_timeout_us: Option<i128>,
}

/// A record read from a case.
pub(super) struct Recorded {
    /// `None`: an attempt hangs for ever.
    pub(super) record: Option<Record>,
}

impl Recorded {
    pub(super) fn read(value: &Value, place: &str, counted: bool) -> Result<Self, Fault> {
        if value.is_null() {
            return Ok(Self { record: None });
        }
        let mut fields = Fields::new(value, place)?;
        let mut attempts = Vec::new();
        for (index, row) in fields.list("attempts")?.iter().enumerate() {
            attempts.push(Row::read(row, format!("{place}.attempts[{index}]"), counted)?);
        }
        let mut record = Record {
            attempts,
            end: fields.text("end")?.to_owned(),
            final_code: fields.text_or_null("final_code")?.map(str::to_owned),
            end_us: fields.integer("end_us")?.into(),
            denied_next: match fields.optional("denied_next") {
                None | Some(Value::Null) => None,
                Some(denied) => Some(Denied::read(denied, format!("{place}.denied_next"))?),
            },
            tracer: None,
        };
        if fields.optional("tracer").is_some() {
            record.tracer = Some(calls(&mut fields)?);
        }
        fields.finish()?;
        Ok(Self { record: Some(record) })
    }
}

fn calls(fields: &mut Fields<'_>) -> Result<Vec<String>, Fault> {
    let place = fields.at("tracer");
    let calls = fields.list("tracer")?.iter().map(|call| match call {
        Value::String(call) => Ok(call.clone()),
        other => Err(wrong(&place, other, "a list of calls")),
    });
    calls.collect()
}

impl Row {
    fn read(value: &Value, place: String, counted: bool) -> Result<Self, Fault> {
        let mut fields = Fields::new(value, place)?;
        let counts = if counted { Some(Counts::read(&mut fields)?) } else { None };
        let row = Self {
            attempt: fields.integer("attempt")?.into(),
            rpc_timeout_us: fields.integer("rpc_timeout_us")?.into(),
            retry_delay_us: fields.integer("retry_delay_us")?.into(),
            start_us: fields.integer("start_us")?.into(),
            end_us: fields.integer("end_us")?.into(),
            outcome: fields.text("outcome")?.to_owned(),
            counts,
        };
        fields.finish()?;
        Ok(row)
    }
}

impl Counts {
    fn read(fields: &mut Fields<'_>) -> Result<Self, Fault> {
        Ok(Self {
            attempt_count: fields.integer("attempt_count")?.into(),
            overall_attempt_count: fields.integer("overall_attempt_count")?.into(),
        })
    }
}

impl Denied {
    fn read(value: &Value, place: String) -> Result<Self, Fault> {
        let mut fields = Fields::new(value, place)?;
        let denied = Self {
            attempt: fields.integer("attempt")?.into(),
            retry_delay_us: fields.integer("retry_delay_us")?.into(),
            rpc_timeout_us: Some(fields.integer("rpc_timeout_us")?.into()),
        };
        fields.finish()?;
        Ok(denied)
    }
}

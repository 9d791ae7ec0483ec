//! One recorded case.

use super::fields::{Fault, Fields, wrong};
use super::record::Recorded;
use gax_retry::gax_java::RawSettings;
use gax_retry::{Code, CodeSet};
use serde_json::Value;
use std::time::Duration;

/// A case: its settings, its script and the recorded result.
pub(super) enum Case {
    Unary(Unary),
    Streaming(Streaming),
    Poll(Polled),
    Validate(Validated),
}

/// Settings, and the logical timeout that they were made with.
pub(super) struct Settings {
    pub(super) raw: RawSettings,
    pub(super) logical_timeout_us: Option<i64>,
}

pub(super) struct Unary {
    pub(super) settings: Settings,
    pub(super) codes: CodeSet,
    pub(super) context: Context,
    pub(super) script: Vec<Reply>,
    /// The result of the bare algorithm; not recorded for call contexts.
    pub(super) bare: Option<Recorded>,
    pub(super) callable: Callable,
}

/// The result of a client's call.
pub(super) enum Callable {
    /// That of the bare algorithm.
    Same,
    Recorded(Recorded),
}

pub(super) struct Streaming {
    pub(super) settings: Settings,
    pub(super) codes: CodeSet,
    pub(super) context: Context,
    pub(super) resumable: bool,
    pub(super) script: Vec<Reply>,
    pub(super) expected: Recorded,
}

pub(super) struct Polled {
    pub(super) settings: Settings,
    pub(super) context: Context,
    pub(super) done_before_first_look: bool,
    pub(super) script: Vec<PollReply>,
    pub(super) expected: Recorded,
}

pub(super) struct Validated {
    pub(super) settings: Settings,
    pub(super) ok: bool,
    pub(super) error: Option<String>,
}

/// The options of one call.
#[derive(Default)]
pub(super) struct Context {
    pub(super) settings: Option<RawSettings>,
    pub(super) codes: Option<CodeSet>,
    /// Zero: none.
    pub(super) timeout: Duration,
}

/// The server's reply to one attempt; without a time it never replies.
pub(super) struct Reply {
    pub(super) after: Option<Duration>,
    pub(super) code: Code,
    pub(super) delivers: bool,
}

/// The server's reply to one poll.
pub(super) struct PollReply {
    pub(super) after: Option<Duration>,
    pub(super) result: PollResult,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum PollResult {
    NotDone,
    Done,
    Error(Code),
}

impl Case {
    /// Reads a case; `fields` has given its `id`, `kind` and `category` already.
    pub(super) fn read(kind: &str, mut fields: Fields<'_>) -> Result<Self, Fault> {
        if fields.optional("note").is_some() {
            fields.text("note")?;
        }
        fields.flag("jvm_dependent")?;
        let settings = Settings::read(fields.required("settings")?)?;
        let case = match kind {
            "unary" => Self::Unary(Unary::read(settings, &mut fields)?),
            "streaming" => Self::Streaming(Streaming::read(settings, &mut fields)?),
            "poll" => Self::Poll(Polled::read(settings, &mut fields)?),
            "validate" => Self::Validate(Validated::read(settings, &mut fields)?),
            other => return Err(unknown_kind(other)),
        };
        fields.finish()?;
        Ok(case)
    }
}

pub(super) fn unknown_kind(kind: &str) -> Fault {
    let kind = super::fields::shortened(format!("{kind:?}"));
    Fault(format!("kind {kind} is not known (unary, streaming, poll or validate)"))
}

impl Unary {
    fn read(settings: Settings, fields: &mut Fields<'_>) -> Result<Self, Fault> {
        let codes = codes(fields, "retryable_codes")?;
        let context = Context::read(fields.optional("call_context"))?;
        let script = script(fields, |fields| Reply::read(fields, false))?;
        let bare = match fields.optional("expected") {
            Some(expected) => Some(Recorded::read(expected, "expected", false)?),
            None if context.is_some() => None,
            None => return Err(Fault("expected is missing".to_owned())),
        };
        let callable = match fields.required("expected_callable")? {
            Value::String(word) if word == "same" => Callable::Same,
            recorded => Callable::Recorded(Recorded::read(recorded, "expected_callable", false)?),
        };
        if bare.is_none() && matches!(callable, Callable::Same) {
            return Err(Fault("expected_callable is \"same\", but expected is missing".to_owned()));
        }
        Ok(Self { settings, codes, context: context.unwrap_or_default(), script, bare, callable })
    }
}

impl Streaming {
    fn read(settings: Settings, fields: &mut Fields<'_>) -> Result<Self, Fault> {
        Ok(Self {
            settings,
            codes: codes(fields, "retryable_codes")?,
            context: Context::read(fields.optional("call_context"))?.unwrap_or_default(),
            resumable: fields.boolean("resumable")?,
            script: script(fields, |fields| Reply::read(fields, true))?,
            expected: Recorded::read(fields.required("expected")?, "expected", true)?,
        })
    }
}

impl Polled {
    fn read(settings: Settings, fields: &mut Fields<'_>) -> Result<Self, Fault> {
        Ok(Self {
            settings,
            context: Context::read(fields.optional("call_context"))?.unwrap_or_default(),
            done_before_first_look: fields.flag("initial_answered_before_first_look")?,
            script: script(fields, PollReply::read)?,
            expected: Recorded::read(fields.required("expected")?, "expected", false)?,
        })
    }
}

impl Validated {
    fn read(settings: Settings, fields: &mut Fields<'_>) -> Result<Self, Fault> {
        Ok(Self {
            settings,
            ok: fields.boolean("ok")?,
            error: fields.text_or_null("error")?.map(str::to_owned),
        })
    }
}

impl Settings {
    fn read(value: &Value) -> Result<Self, Fault> {
        let mut fields = Fields::new(value, "settings")?;
        let logical_timeout_us = match fields.optional("logical_timeout_us") {
            Some(_) => Some(fields.integer("logical_timeout_us")?),
            None => None,
        };
        let raw = raw_settings(&mut fields)?;
        fields.finish()?;
        Ok(Self { raw, logical_timeout_us })
    }
}

/// Jitter is off in every case.
fn raw_settings(fields: &mut Fields<'_>) -> Result<RawSettings, Fault> {
    let max_attempts = fields.integer("max_attempts")?;
    let mut raw = RawSettings::default();
    raw.total_timeout_us = fields.integer("total_timeout_us")?;
    raw.initial_retry_delay_us = fields.integer("initial_retry_delay_us")?;
    raw.retry_delay_multiplier = fields.number("retry_delay_multiplier")?;
    raw.max_retry_delay_us = fields.integer("max_retry_delay_us")?;
    raw.max_attempts = i32::try_from(max_attempts).map_err(|_| {
        Fault(format!("{} is {max_attempts}, not a 32-bit integer", fields.at("max_attempts")))
    })?;
    raw.jittered = false;
    raw.initial_rpc_timeout_us = fields.integer("initial_rpc_timeout_us")?;
    raw.rpc_timeout_multiplier = fields.number("rpc_timeout_multiplier")?;
    raw.max_rpc_timeout_us = fields.integer("max_rpc_timeout_us")?;
    Ok(raw)
}

impl Context {
    fn read(value: Option<&Value>) -> Result<Option<Self>, Fault> {
        let Some(value) = value else { return Ok(None) };
        let mut fields = Fields::new(value, "call_context")?;
        let settings = match fields.optional("retry_settings") {
            None | Some(Value::Null) => None,
            Some(settings) => {
                let mut fields = Fields::new(settings, "call_context.retry_settings")?;
                let raw = raw_settings(&mut fields)?;
                fields.finish()?;
                Some(raw)
            }
        };
        let codes = match fields.optional("retryable_codes") {
            None | Some(Value::Null) => None,
            Some(_) => Some(codes(&mut fields, "retryable_codes")?),
        };
        let timeout_us = match fields.optional("timeout_us") {
            Some(Value::Null) => 0,
            _ => fields.integer_or_zero("timeout_us")?,
        };
        fields.finish()?;
        let timeout = Duration::from_micros(u64::try_from(timeout_us).unwrap_or(0));
        Ok(Some(Self { settings, codes, timeout }))
    }
}

impl Reply {
    fn read(fields: &mut Fields<'_>, streaming: bool) -> Result<Self, Fault> {
        let after = after(fields)?;
        let code = match (after, fields.text_or_null("code")?) {
            (None, _) => Code::DeadlineExceeded,
            (Some(_), Some(name)) => code(name, &fields.at("code"))?,
            (Some(_), None) => return Err(Fault(format!("{} is null", fields.at("code")))),
        };
        let responses = if streaming { fields.integer("responses")? } else { 0 };
        Ok(Self { after, code, delivers: responses > 0 })
    }
}

impl PollReply {
    fn read(fields: &mut Fields<'_>) -> Result<Self, Fault> {
        let after = after(fields)?;
        let result = match (after, fields.text_or_null("result")?) {
            (_, Some("NOT_DONE")) => PollResult::NotDone,
            (_, Some("DONE")) => PollResult::Done,
            (_, Some(name)) => PollResult::Error(code(name, &fields.at("result"))?),
            (None, None) => PollResult::Error(Code::DeadlineExceeded),
            (Some(_), None) => return Err(Fault(format!("{} is null", fields.at("result")))),
        };
        Ok(Self { after, result })
    }
}

/// When the server replies, if it does.
fn after(fields: &mut Fields<'_>) -> Result<Option<Duration>, Fault> {
    let Some(us) = fields.integer_or_null("server_us")? else { return Ok(None) };
    let us = u64::try_from(us).map_err(|_| Fault(format!("{} is negative", fields.at("server_us"))))?;
    Ok(Some(Duration::from_micros(us)))
}

fn script<T>(
    fields: &mut Fields<'_>,
    read: impl Fn(&mut Fields<'_>) -> Result<T, Fault>,
) -> Result<Vec<T>, Fault> {
    let mut script = Vec::new();
    for (index, entry) in fields.list("script")?.iter().enumerate() {
        let mut entry = Fields::new(entry, format!("script[{index}]"))?;
        script.push(read(&mut entry)?);
        entry.finish()?;
    }
    if script.is_empty() { Err(Fault("script is empty".to_owned())) } else { Ok(script) }
}

fn codes(fields: &mut Fields<'_>, name: &'static str) -> Result<CodeSet, Fault> {
    let place = fields.at(name);
    fields
        .list(name)?
        .iter()
        .map(|value| match value {
            Value::String(name) => code(name, &place),
            other => Err(wrong(&place, other, "a list of code names")),
        })
        .collect()
}

fn code(name: &str, place: &str) -> Result<Code, Fault> {
    name.parse().map_err(|error| Fault(format!("{place}: {error}")))
}

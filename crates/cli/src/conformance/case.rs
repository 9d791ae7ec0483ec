//! One recorded case.

use super::record::Record;
use gax_retry::gax_java::RawSettings;
use gax_retry::{Code, CodeSet};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::time::Duration;

/// The fields of every case that say nothing about what happens.
const LABELS: [&str; 5] = ["id", "kind", "category", "note", "jvm_dependent"];

/// A case: its settings, its script and the recorded result.
pub(super) enum Case {
    Unary(Unary),
    Streaming(Streaming),
    Poll(Polled),
    Validate(Validated),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Unary {
    pub(super) settings: Settings,
    #[serde(rename = "retryable_codes")]
    pub(super) codes: CodeSet,
    #[serde(rename = "call_context")]
    pub(super) context: Option<Context>,
    #[serde(deserialize_with = "script")]
    pub(super) script: Vec<Reply>,
    /// The result of the bare algorithm; not recorded for call contexts.
    #[serde(default, rename = "expected", deserialize_with = "recorded")]
    pub(super) bare: Option<Recorded>,
    #[serde(rename = "expected_callable")]
    pub(super) callable: Callable,
}

/// A recorded operation; `None`: an attempt hangs forever.
pub(super) type Recorded = Option<Record>;

/// The result of a client's call.
#[derive(Deserialize)]
#[serde(try_from = "Value")]
pub(super) enum Callable {
    /// That of the bare algorithm.
    Same,
    Recorded(Recorded),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Streaming {
    pub(super) settings: Settings,
    #[serde(rename = "retryable_codes")]
    pub(super) codes: CodeSet,
    #[serde(rename = "call_context")]
    pub(super) context: Option<Context>,
    pub(super) resumable: bool,
    #[serde(deserialize_with = "script")]
    pub(super) script: Vec<Reply>,
    #[serde(deserialize_with = "Option::deserialize")]
    pub(super) expected: Recorded,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Polled {
    pub(super) settings: Settings,
    #[serde(rename = "call_context")]
    pub(super) context: Option<Context>,
    #[serde(default, rename = "initial_answered_before_first_look")]
    pub(super) done_before_first_look: bool,
    #[serde(deserialize_with = "script")]
    pub(super) script: Vec<PollReply>,
    #[serde(deserialize_with = "Option::deserialize")]
    pub(super) expected: Recorded,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Validated {
    pub(super) settings: Settings,
    pub(super) ok: bool,
    #[serde(deserialize_with = "Option::deserialize")]
    pub(super) error: Option<String>,
}

/// Settings, and the logical timeout that they were made with. Jitter is off in every case.
#[derive(Deserialize)]
#[serde(from = "Numbers")]
pub(super) struct Settings {
    pub(super) raw: RawSettings,
    pub(super) logical_timeout_us: Option<i64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Numbers {
    total_timeout_us: i64,
    initial_retry_delay_us: i64,
    #[serde(deserialize_with = "number")]
    retry_delay_multiplier: f64,
    max_retry_delay_us: i64,
    max_attempts: i32,
    initial_rpc_timeout_us: i64,
    #[serde(deserialize_with = "number")]
    rpc_timeout_multiplier: f64,
    max_rpc_timeout_us: i64,
    logical_timeout_us: Option<i64>,
}

/// The options of one call.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Context {
    #[serde(rename = "retry_settings")]
    pub(super) settings: Option<Settings>,
    #[serde(rename = "retryable_codes")]
    pub(super) codes: Option<CodeSet>,
    /// Zero: none.
    #[serde(default, rename = "timeout_us", deserialize_with = "timeout")]
    pub(super) timeout: Duration,
}

/// The server's reply to one attempt; without a time it never replies.
#[derive(Deserialize)]
#[serde(try_from = "ReplyFields")]
pub(super) struct Reply {
    pub(super) after: Option<Duration>,
    pub(super) code: Code,
    pub(super) delivers: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReplyFields {
    #[serde(deserialize_with = "Option::deserialize")]
    server_us: Option<u64>,
    #[serde(deserialize_with = "Option::deserialize")]
    code: Option<Code>,
    #[serde(default)]
    responses: u64,
}

/// The server's reply to one poll.
#[derive(Deserialize)]
#[serde(try_from = "PollFields")]
pub(super) struct PollReply {
    pub(super) after: Option<Duration>,
    pub(super) result: PollResult,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PollFields {
    #[serde(deserialize_with = "Option::deserialize")]
    server_us: Option<u64>,
    #[serde(deserialize_with = "Option::deserialize")]
    result: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum PollResult {
    NotDone,
    Done,
    Error(Code),
}

impl Case {
    pub(super) fn settings(&self) -> &Settings {
        match self {
            Self::Unary(case) => &case.settings,
            Self::Streaming(case) => &case.settings,
            Self::Poll(case) => &case.settings,
            Self::Validate(case) => &case.settings,
        }
    }

    pub(super) fn read(kind: &str, case: &Value) -> Result<Self, String> {
        match kind {
            "unary" => read(case).map(Self::Unary),
            "streaming" => read(case).map(Self::Streaming),
            "poll" => read(case).map(Self::Poll),
            "validate" => read(case).map(Self::Validate),
            kind => {
                let kind = shortened(&format!("{kind:?}"));
                Err(format!("kind {kind} is not known (unary, streaming, poll or validate)"))
            }
        }
    }
}

/// A text from the file, short enough for a message.
pub(super) fn shortened(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

fn read<T: DeserializeOwned>(case: &Value) -> Result<T, String> {
    if let Some(name) = ["id", "category"].iter().find(|name| !case[**name].is_string()) {
        return Err(format!("{name} is missing, or not a string"));
    }
    let mut case = case.clone();
    if let Some(fields) = case.as_object_mut() {
        fields.retain(|name, _| !LABELS.contains(&name.as_str()));
    }
    serde_path_to_error::deserialize(case).map_err(|error| error.to_string())
}

impl TryFrom<Value> for Callable {
    type Error = serde_json::Error;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        if value == "same" { Ok(Self::Same) } else { serde_json::from_value(value).map(Self::Recorded) }
    }
}

impl From<Numbers> for Settings {
    fn from(numbers: Numbers) -> Self {
        let mut raw = RawSettings::default();
        raw.total_timeout_us = numbers.total_timeout_us;
        raw.initial_retry_delay_us = numbers.initial_retry_delay_us;
        raw.retry_delay_multiplier = numbers.retry_delay_multiplier;
        raw.max_retry_delay_us = numbers.max_retry_delay_us;
        raw.max_attempts = numbers.max_attempts;
        raw.jittered = false;
        raw.initial_rpc_timeout_us = numbers.initial_rpc_timeout_us;
        raw.rpc_timeout_multiplier = numbers.rpc_timeout_multiplier;
        raw.max_rpc_timeout_us = numbers.max_rpc_timeout_us;
        Self { raw, logical_timeout_us: numbers.logical_timeout_us }
    }
}

impl TryFrom<ReplyFields> for Reply {
    type Error = &'static str;

    fn try_from(fields: ReplyFields) -> Result<Self, Self::Error> {
        let after = fields.server_us.map(Duration::from_micros);
        let code = if after.is_some() { fields.code.ok_or("code is null")? } else { Code::DeadlineExceeded };
        Ok(Self { after, code, delivers: fields.responses > 0 })
    }
}

impl TryFrom<PollFields> for PollReply {
    type Error = String;

    fn try_from(fields: PollFields) -> Result<Self, Self::Error> {
        let after = fields.server_us.map(Duration::from_micros);
        let result = match fields.result.as_deref() {
            Some("NOT_DONE") => PollResult::NotDone,
            Some("DONE") => PollResult::Done,
            Some(name) => PollResult::Error(name.parse().map_err(|error| format!("result: {error}"))?),
            None if after.is_none() => PollResult::Error(Code::DeadlineExceeded),
            None => return Err("result is null".to_owned()),
        };
        Ok(Self { after, result })
    }
}

fn script<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    let script = Vec::deserialize(deserializer)?;
    if script.is_empty() { Err(D::Error::custom("it is empty")) } else { Ok(script) }
}

/// A record that may be absent. `null` is one.
fn recorded<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Recorded>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

fn timeout<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let micros: Option<i64> = Option::deserialize(deserializer)?;
    Ok(Duration::from_micros(micros.and_then(|micros| u64::try_from(micros).ok()).unwrap_or(0)))
}

/// A number, or one of the words that stand for what JSON can't write.
fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let number = match Value::deserialize(deserializer)? {
        Value::Number(number) => number.as_f64(),
        Value::String(word) if ["NaN", "Infinity", "-Infinity"].contains(&word.as_str()) => word.parse().ok(),
        _ => None,
    };
    number.ok_or_else(|| D::Error::custom("it is not a number, \"NaN\", \"Infinity\" or \"-Infinity\""))
}

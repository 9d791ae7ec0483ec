//! A server's replies, and a channel's options beside the table.

use super::rules::Client;
use gax_retry::Code;
use std::collections::BTreeMap;
use std::str::FromStr;

/// Options of a channel that change what becomes of a table, such as `grpc.enable_retries`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClientOptions(BTreeMap<String, String>);

impl ClientOptions {
    /// Adds an option, as `name` and `value`: `true`, `false` or a number.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.0.insert(name.into(), value.into());
        self
    }

    /// The value of the option that a rule names.
    pub(super) fn number(&self, client: Client, rule: &str) -> Option<u32> {
        self.0.get(client.rule(rule)).and_then(|value| value.parse().ok())
    }

    /// Returns whether one of the settings that a rule lists, as `name=value`, was made.
    pub(super) fn has(&self, client: Client, rule: &str) -> bool {
        let mut settings = client.rule(rule).split(' ').filter_map(|setting| setting.split_once('='));
        settings.any(|(name, value)| self.0.get(name).is_some_and(|given| given == value))
    }

    /// The first option that no rule of the client names.
    pub(super) fn unknown(&self, client: Client) -> Option<&str> {
        let rules = client.rules().filter(|(key, ..)| key.starts_with("option."));
        let settings = rules.flat_map(|(_, settings, _)| settings.split(' '));
        let known: Vec<&str> = settings.filter_map(|setting| setting.split('=').next()).collect();
        self.0.keys().map(String::as_str).find(|name| !known.contains(name))
    }
}

/// A server's reply to an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reply {
    /// A status alone, and the wait that the server asks for, in milliseconds.
    Status(u16, Option<i64>),
    /// Headers, then a status.
    Headers(u16),
    /// `RST_STREAM` with that code.
    Reset(u32),
    /// An HTTP status without one of gRPC.
    Http(u16),
    Ok,
    Hang,
}

/// The answers of a server to one or more calls, one call after the other.
///
/// The answers to the attempts of a call are separated by `;`: `T14` is the status 14 alone, `T14,p=100` with a pushback of
/// 100 ms, `H14` the same after headers, `R7` the stream reset with code 7, `S503` an HTTP status, `OK` a reply and `HANG` none;
/// `T14*10` is ten of them. What comes after the last answer hangs. Calls are separated by `|`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    pub(super) calls: Vec<Vec<Reply>>,
}

impl Script {
    /// These calls, then the others.
    #[must_use]
    pub fn then(mut self, others: Self) -> Self {
        self.calls.extend(others.calls);
        self
    }
}

impl FromStr for Script {
    type Err = ParseScriptError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let call = |text: &str| -> Result<_, ParseScriptError> {
            let parts = text.split(';').map(str::trim);
            let replies = parts.map(|part| replies(part).ok_or(ParseScriptError { text: part.to_owned() }));
            Ok(replies.collect::<Result<Vec<_>, _>>()?.concat())
        };
        Ok(Self { calls: text.split('|').map(call).collect::<Result<_, _>>()? })
    }
}

/// Reads a reply, and how often it comes: `T14,p=100*3`.
fn replies(text: &str) -> Option<Vec<Reply>> {
    let (reply, count) = text.split_once('*').unwrap_or((text, "1"));
    let count = count.parse().ok().filter(|count| *count <= 1000)?;
    let (reply, pushback) = match reply.split_once(",p=") {
        Some((reply, millis)) => (reply, Some(millis.parse().ok()?)),
        None => (reply, None),
    };
    let reply = match (reply, reply.split_at_checked(1)?) {
        ("OK", _) => Reply::Ok,
        ("HANG", _) => Reply::Hang,
        (_, ("T", code)) => Reply::Status(code.parse().ok()?, pushback),
        (_, ("H" | "M", code)) => Reply::Headers(code.parse().ok()?),
        (_, ("R", code)) => Reply::Reset(code.parse().ok()?),
        (_, ("S", status)) => Reply::Http(status.parse().ok()?),
        _ => return None,
    };
    Some(vec![reply; count])
}

impl Reply {
    /// The code that a client reads from it.
    pub(super) fn code(self, client: Client) -> Option<Code> {
        let (kind, number) = match self {
            Self::Status(code, _) | Self::Headers(code) => return Code::try_from(i32::from(code)).ok(),
            Self::Reset(code) => ("rst", code),
            Self::Http(status) => ("http", status.into()),
            Self::Ok | Self::Hang => return None,
        };
        let rules = [format!("{kind}.{number}"), format!("{kind}.other")];
        rules.iter().find_map(|rule| client.rule(rule).parse().ok())
    }
}

/// A text that is no answer of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseScriptError {
    text: String,
}

gax_text::error_text! { ParseScriptError { text }, "{text:?} is no answer of a server; write T14 for a status, T14*3 for three, H14 for one after headers, R7 for a reset, S503 for an HTTP status, OK or HANG, with ; between answers and | between calls" }

//! Scripts as text.

use super::reply::PUSHBACK;
use super::{BodyPart, Break, Reply, Script, Step};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use bytes::Bytes;
use gax_retry::Code;
use gax_text::{closest, parse_duration};
use h2::Reason;
use http::{HeaderMap, HeaderName, HeaderValue};
use prost::Message as _;
use serde::{Deserialize, Deserializer, de};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;
use toml::Spanned;
use tonic_types::pb;

/// The most messages of one reply.
const MAX_MESSAGES: usize = 100_000;

/// Why a text is no script, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseScriptError {
    place: Option<(usize, usize)>,
    problem: String,
}

impl fmt::Display for ParseScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((line, column)) = self.place {
            write!(f, "{line}:{column}: ")?;
        }
        f.write_str(&self.problem)
    }
}

impl std::error::Error for ParseScriptError {}

impl ParseScriptError {
    fn at(text: &str, offset: Option<usize>, problem: String) -> Self {
        let before = offset.and_then(|offset| text.get(..offset));
        let place = before.map(|before| {
            let line = before.rsplit('\n').next().unwrap_or_default();
            (before.matches('\n').count() + 1, line.chars().count() + 1)
        });
        Self { place, problem }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    attempt: Vec<Spanned<Entry>>,
    #[serde(default)]
    method: BTreeMap<String, Vec<Spanned<Entry>>>,
    then: Option<Spanned<Entry>>,
}

/// A server's behaviour at one attempt.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Entry {
    delay: Time,
    headers: bool,
    messages: usize,
    every: Time,
    code: Option<Status>,
    message: String,
    details: String,
    retry_info: Option<Time>,
    pushback: Option<Pushback>,
    metadata: BTreeMap<String, String>,
    http: Option<u16>,
    content_type: Option<String>,
    reset: Option<Cause>,
    goaway: Option<Cause>,
    last_stream: Option<LastStream>,
    close: bool,
    silence: bool,
    refuse: Option<Time>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Pushback {
    Number(i64),
    Text(String),
    Several(Vec<String>),
}

#[derive(Deserialize, Clone, Copy, PartialEq)]
#[serde(rename_all = "lowercase")]
enum LastStream {
    This,
    Previous,
}

#[derive(Clone, Copy, Default)]
struct Time(Duration);

#[derive(Clone, Copy)]
struct Status(Code);

#[derive(Clone, Copy)]
struct Cause(u32);

/// A value that is read from text.
fn read<'de, D: Deserializer<'de>, T>(
    from: D,
    read: impl FnOnce(&str) -> Result<T, String>,
) -> Result<T, D::Error> {
    let text = String::deserialize(from)?;
    read(&text).map_err(|problem| de::Error::custom(format!("{text:?} {problem}")))
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        read(from, |text| parse_duration(text).map(Self).map_err(|error| error.to_string()))
    }
}

fn close<'a>(text: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    closest(text, names).map(|close| format!("; did you mean {close}?")).unwrap_or_default()
}

impl<'de> Deserialize<'de> for Status {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        read(from, |text| {
            text.parse()
                .map(Self)
                .map_err(|_| format!("is no gRPC status code{}", close(text, Code::ALL.map(Code::name))))
        })
    }
}

impl<'de> Deserialize<'de> for Cause {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let names: Vec<String> = (0..14_u32).map(|number| format!("{:?}", Reason::from(number))).collect();
        read(from, |text| {
            let number = names.iter().zip(0..).find(|(name, _)| *name == text).map(|(_, number)| number);
            let reason = number.or_else(|| text.parse().ok()).map(Self);
            reason.ok_or_else(|| {
                format!("is no error code of HTTP/2{}", close(text, names.iter().map(String::as_str)))
            })
        })
    }
}

impl FromStr for Script {
    type Err = ParseScriptError;

    /// Reads a script in TOML, whose replies start over with each call. Every `[[attempt]]` is the reply to an attempt, every
    /// `[[method."pkg.Service/Method"]]` to one of that method, and `[then]` to all that follow: an empty message, if it is not there.
    fn from_str(text: &str) -> Result<Self, ParseScriptError> {
        let file: File = toml::from_str(text).map_err(|error| {
            ParseScriptError::at(text, error.span().map(|span| span.start), error.message().to_owned())
        })?;
        let step = |entry: Spanned<Entry>| {
            let start = entry.span().start;
            entry.into_inner().step().map_err(|problem| ParseScriptError::at(text, Some(start), problem))
        };
        let mut script =
            Script::of(file.attempt.into_iter().map(step).collect::<Result<Vec<_>, _>>()?).each_call();
        for (method, entries) in file.method {
            let steps: Vec<Step> = entries.into_iter().map(step).collect::<Result<_, _>>()?;
            script = script.on(&method, steps);
        }
        if let Some(Step { after, reply }) = file.then.map(step).transpose()? {
            script = script.then_always(after, reply);
        }
        Ok(script)
    }
}

impl Entry {
    fn step(self) -> Result<Step, String> {
        let ends = [
            ("http", self.http.is_some()),
            ("reset", self.reset.is_some()),
            ("goaway", self.goaway.is_some()),
            ("close", self.close),
            ("silence", self.silence),
            ("refuse", self.refuse.is_some()),
            ("code", self.code.is_some()),
        ];
        let given: Vec<&str> = ends.into_iter().filter(|(_, given)| *given).map(|(end, _)| end).collect();
        if let [first, second, ..] = given[..] {
            return Err(format!("an attempt ends in one way, not by {first} and by {second}; leave one out"));
        }
        let is_status = matches!(given[..], [] | ["code"]);
        for (key, is_given, needs, is_there) in [
            ("message", !self.message.is_empty(), "code", is_status),
            ("details", !self.details.is_empty(), "code", is_status),
            ("retry_info", self.retry_info.is_some(), "code", is_status),
            ("pushback", self.pushback.is_some(), "code", is_status),
            ("content_type", self.content_type.is_some(), "http", self.http.is_some()),
            ("last_stream", self.last_stream.is_some(), "goaway", self.goaway.is_some()),
            ("every", !self.every.0.is_zero(), "messages", self.messages > 0),
            (
                "messages",
                self.messages > 0,
                "a status or the end of a stream",
                !matches!(given[..], ["http" | "refuse"]),
            ),
            (
                "headers",
                self.headers,
                "a status or the end of a stream",
                !matches!(given[..], ["http" | "refuse"]),
            ),
        ] {
            if is_given && !is_there {
                return Err(format!("{key} has no effect without {needs}; leave it out"));
            }
        }
        if self.messages > MAX_MESSAGES {
            return Err(format!("messages is {}; the most are {MAX_MESSAGES}", self.messages));
        }
        let after = self.delay.0;
        Ok(Step { after, reply: self.reply()? })
    }

    fn reply(self) -> Result<Reply, String> {
        let mut metadata = HeaderMap::new();
        for (name, value) in &self.metadata {
            let pair = HeaderName::from_str(name).ok().zip(HeaderValue::from_str(value).ok());
            let (name, value) = pair.ok_or_else(|| format!("metadata {name:?} = {value:?} is no header"))?;
            metadata.insert(name, value);
        }
        if let Some(status) = self.http {
            if !(100..600).contains(&status) {
                return Err(format!("http is {status}; write a status from 100 to 599"));
            }
            if let Some(value) = &self.content_type {
                let value = HeaderValue::from_str(value)
                    .map_err(|_| format!("content_type {value:?} is no header"))?;
                metadata.insert("content-type", value);
            }
            return Ok(Reply::Http(status, metadata));
        }
        if let Some(Time(time)) = self.refuse {
            return Ok(Reply::Break(Break::Refuse(time)));
        }
        let taken = self.last_stream == Some(LastStream::This);
        let is_stream = self.headers || self.messages > 0;
        let how = match (self.reset, self.goaway) {
            (Some(Cause(reason)), _) => Some(Break::Reset(reason)),
            (_, Some(Cause(reason))) => Some(Break::GoAway { reason, taken }),
            _ => self.close.then_some(Break::Close),
        };
        let end = match how {
            Some(how) if !is_stream => return Ok(Reply::Break(how)),
            Some(how @ Break::GoAway { .. }) => vec![BodyPart::Break(how), BodyPart::Hang],
            Some(how) => vec![BodyPart::Break(how)],
            None if self.silence && is_stream => vec![BodyPart::Hang],
            None if self.silence => return Ok(Reply::Hang),
            None => {
                let Status(code) = self.code.unwrap_or(Status(Code::Ok));
                if code == Code::Ok && !is_stream {
                    return Ok(Reply::Serve);
                }
                let status = self.status(code, metadata.clone())?;
                if !is_stream {
                    return Ok(Reply::status(status));
                }
                vec![BodyPart::status(&status)]
            }
        };
        let message = BodyPart::Data(Bytes::from_static(&[0; 5]));
        let pause = (!self.every.0.is_zero()).then_some(BodyPart::Wait(self.every.0));
        let messages = (0..self.messages).flat_map(|_| pause.iter().cloned().chain([message.clone()]));
        Ok(Reply::Play(HeaderMap::new(), messages.chain(end).collect()))
    }

    fn status(&self, code: Code, mut metadata: HeaderMap) -> Result<tonic::Status, String> {
        let pushbacks = match &self.pushback {
            None => Vec::new(),
            Some(Pushback::Number(number)) => vec![number.to_string()],
            Some(Pushback::Text(text)) => vec![text.clone()],
            Some(Pushback::Several(texts)) => texts.clone(),
        };
        for pushback in pushbacks {
            let value = HeaderValue::from_str(&pushback)
                .map_err(|_| format!("pushback {pushback:?} is no header"))?;
            metadata.append(PUSHBACK, value);
        }
        let engine = STANDARD_NO_PAD;
        let mut details = engine.decode(self.details.trim_end_matches('=')).map_err(|error| {
            format!("details are no base64 ({error}); write an encoded google.rpc.Status")
        })?;
        if let Some(Time(time)) = self.retry_info {
            let info = pb::RetryInfo { retry_delay: time.try_into().ok() };
            let info = prost_types::Any {
                type_url: "type.googleapis.com/google.rpc.RetryInfo".to_owned(),
                value: info.encode_to_vec(),
            };
            // Messages behind each other are merged.
            let message = self.message.clone();
            let status = pb::Status { code: code.number(), message, details: vec![info] };
            details.extend(status.encode_to_vec());
        }
        let metadata = tonic::metadata::MetadataMap::from_headers(metadata);
        let code = tonic::Code::from_i32(code.number());
        Ok(tonic::Status::with_details_and_metadata(code, &self.message, details.into(), metadata))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_end_is_read() {
        for (entry, shown) in [
            ("", "OK"),
            ("delay = \"300ms\"", "OK after 300 ms"),
            ("code = \"unavailable\"", "UNAVAILABLE"),
            ("code = \"ABORTED\"\nheaders = true", "headers, ABORTED"),
            ("pushback = [\"1\", \"2\"]\ncode = \"UNAVAILABLE\"", "UNAVAILABLE, pushback 1"),
            ("messages = 3\nevery = \"1s\"", "headers, 3 messages, OK"),
            ("messages = 1\nclose = true", "headers, 1 message, the connection breaks"),
            ("headers = true\nsilence = true", "headers, then nothing"),
            ("silence = true", "no reply"),
            ("reset = \"7\"", "RST_STREAM REFUSED_STREAM"),
            (
                "goaway = \"ENHANCE_YOUR_CALM\"",
                "GOAWAY ENHANCE_YOUR_CALM with the previous stream as the last",
            ),
            ("close = true", "the connection breaks"),
            ("http = 429", "HTTP 429"),
            ("refuse = \"2s\"", "connections are refused for 2 s"),
        ] {
            let script: Script = format!("[[attempt]]\n{entry}").parse().unwrap();
            let step = script.reply_to("/a.B/C", 0).unwrap();
            assert_eq!(step.to_string(), shown, "{entry}");
            assert_eq!(script.reply_to("/a.B/C", 1).unwrap().to_string(), "OK");
        }
    }

    #[test]
    fn details_are_a_status_that_has_the_retry_info_too() {
        let text = "[[attempt]]\ncode = \"UNAVAILABLE\"\nmessage = \"x\"\ndetails = \"CA4SAXg=\"\nretry_info = \"2s\"";
        let script: Script = text.parse().unwrap();
        let step = script.reply_to("", 0).unwrap();
        let Reply::Status(status) = step.reply() else { panic!("{step}") };
        let rpc = pb::Status::decode(status.details()).unwrap();
        assert_eq!((rpc.code, rpc.message.as_str()), (14, "x"));
        let [info] = &rpc.details[..] else { panic!("{rpc:?}") };
        assert_eq!(info.type_url, "type.googleapis.com/google.rpc.RetryInfo");
        let delay = pb::RetryInfo::decode(&*info.value).unwrap().retry_delay.unwrap();
        assert_eq!(delay.seconds, 2);
    }

    #[test]
    fn methods_have_replies_of_their_own() {
        let text = "[then]\nsilence = true\n[[attempt]]\nclose = true\n[[method.Get]]\nhttp = 500";
        let script: Script = text.parse().unwrap();
        let shown = |path: &str, attempt| script.reply_to(path, attempt).unwrap().to_string();
        assert_eq!(
            (shown("/a.B/Get", 0), shown("/a.B/Get", 1)),
            ("HTTP 500".to_owned(), "no reply".to_owned())
        );
        assert_eq!(
            (shown("/a.B/Set", 0), shown("/a.B/Set", 1)),
            ("the connection breaks".to_owned(), "no reply".to_owned())
        );
        assert_eq!(script.methods(), ["Get"]);
    }
}

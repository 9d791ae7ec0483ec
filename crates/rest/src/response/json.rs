//! JSON as messages.

use crate::messages::{is_http_body, make_readable, read_http_body, restore_empty};
use crate::methods::RestMethod;
use crate::problem::unreadable;
use bytes::{Bytes, BytesMut};
use gax_driver::__private::PREFIX;
use http::{HeaderValue, StatusCode};
use prost::Message as _;
use prost_reflect::{
    DeserializeOptions, DynamicMessage, FieldDescriptor, MessageDescriptor, Value as Reflected,
};
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::error::Category;
use serde_path_to_error::{Path, Segment, Track};
use std::sync::Arc;
use tonic::Status;

/// How the responses to a request are read.
#[derive(Debug, Clone)]
pub(crate) struct Reading {
    pub(crate) method: Arc<RestMethod>,
    /// The field that a response is; `None`: the whole message.
    pub(crate) field: Option<FieldDescriptor>,
    /// `true` if the request was a `HEAD`, whose response has no body.
    pub(crate) is_head: bool,
    pub(crate) is_java: bool,
}

/// Why a text is no message.
#[derive(Debug)]
pub(super) struct Unread {
    problem: String,
    /// The text ends too early.
    is_cut: bool,
}

impl Reading {
    /// The gRPC frame of the message that the body of a unary RPC's response is. There need not be one with that status, nor if
    /// the message has no fields.
    pub(crate) fn unary(
        &self,
        status: StatusCode,
        content_type: Option<&HeaderValue>,
        body: &[u8],
    ) -> Result<Bytes, Status> {
        if let Some(message) = self.http_body(content_type, body) {
            return self.framed(&message);
        }
        let has_none = self.is_head || status == StatusCode::NO_CONTENT;
        let may_be_blank = has_none || self.method.output.fields().len() == 0;
        if may_be_blank && body.trim_ascii().is_empty() {
            return self.framed(&DynamicMessage::new(self.method.output.clone()));
        }
        self.frame(body)
    }

    /// The message whose response is the bytes of a `google.api.HttpBody`; `None`: the response is JSON.
    fn http_body(&self, content_type: Option<&HeaderValue>, body: &[u8]) -> Option<DynamicMessage> {
        let kind = match &self.field {
            None => self.method.output.clone(),
            Some(field) => field.kind().as_message()?.clone(),
        };
        if !is_http_body(&kind) {
            return None;
        }
        let message = read_http_body(kind, content_type, body);
        let Some(field) = &self.field else { return Some(message) };
        let mut whole = DynamicMessage::new(self.method.output.clone());
        whole.set_field(field, Reflected::Message(message));
        Some(whole)
    }

    /// The gRPC frame of the message that a text is.
    pub(super) fn frame(&self, body: &[u8]) -> Result<Bytes, Status> {
        let output = &self.method.output;
        let message = match &self.field {
            None => read(output, body),
            Some(field) => {
                let key = Value::from(field.json_name()).to_string();
                let whole = [b"{", key.as_bytes(), b":", body, b"}"].concat();
                check(body).and_then(|()| read(output, &whole))
            }
        };
        let message = message.map_err(|Unread { problem, is_cut }| {
            let problem = format!("the response is not a {}: {problem}", output.full_name());
            unreadable(problem, is_cut, self.is_java)
        })?;
        self.framed(&message)
    }

    fn framed(&self, message: &DynamicMessage) -> Result<Bytes, Status> {
        frame(message).ok_or_else(|| {
            unreadable("the response is longer than a gRPC message can be".to_owned(), false, self.is_java)
        })
    }
}

/// The message with its prefix. Its length is written last: to ask a message for it takes as long as to write it (bench `rest`).
fn frame(message: &DynamicMessage) -> Option<Bytes> {
    let mut frame = BytesMut::zeroed(PREFIX);
    message.encode(&mut frame).ok()?;
    let length = u32::try_from(frame.len() - PREFIX).ok()?;
    frame.get_mut(1..PREFIX)?.copy_from_slice(&length.to_be_bytes());
    Some(frame.freeze())
}

/// The message that a text is. Fields and names of enums that it doesn't know are left out.
pub(super) fn read(kind: &MessageDescriptor, text: &[u8]) -> Result<DynamicMessage, Unread> {
    let mut json = serde_json::Deserializer::from_slice(text);
    let mut track = Track::new();
    let read = deserialize(kind, serde_path_to_error::Deserializer::new(&mut json, &mut track));
    match read {
        Ok(message) => match json.end() {
            Ok(()) => Ok(message),
            Err(error) => Err(Unread::new(&error, None)),
        },
        Err(error) => {
            let problem = || Err(Unread::new(&error, Some(&track.path())));
            read_mended(kind, text).unwrap_or_else(problem)
        }
    }
}

/// Checks that a text is JSON by itself.
fn check(text: &[u8]) -> Result<(), Unread> {
    match serde_json::from_slice::<IgnoredAny>(text) {
        Ok(_) => Ok(()),
        Err(error) => Err(Unread::new(&error, None)),
    }
}

fn deserialize<'de, D: serde::Deserializer<'de>>(
    kind: &MessageDescriptor,
    json: D,
) -> Result<DynamicMessage, D::Error> {
    let options = DeserializeOptions::new().deny_unknown_fields(false);
    DynamicMessage::deserialize_with_options(kind.clone(), json, &options)
}

impl Unread {
    fn new(error: &serde_json::Error, path: Option<&Path>) -> Self {
        let path = path.map(ToString::to_string).filter(|path| path != ".");
        let place = path.map(|path| format!("{path}: ")).unwrap_or_default();
        let problem = match error.classify() {
            Category::Data => format!("{place}{error}"),
            Category::Syntax => format!("{place}it is not JSON: {error}"),
            Category::Eof | Category::Io => format!("{place}it ends too early: {error}"),
        };
        Self { problem, is_cut: error.is_eof() }
    }
}

/// The message of a text that prost-reflect 0.16 refuses and need not: with an Any whose type is missing or unknown, or with the
/// greatest float, whose usual form, 3.4028235e38, is a little more than the number itself. `None`: there is no such thing in it.
fn read_mended(kind: &MessageDescriptor, text: &[u8]) -> Option<Result<DynamicMessage, Unread>> {
    // Each float is found by a separate error, so that a server could make it take long.
    const MOST: usize = 32;
    let mut value: Value = serde_json::from_slice(text).ok()?;
    let mut is_mended = make_readable(&mut value, kind);
    for _ in 0..MOST {
        let mut track = Track::new();
        match deserialize(kind, serde_path_to_error::Deserializer::new(&value, &mut track)) {
            Ok(mut message) => {
                restore_empty(&mut message);
                return Some(Ok(message));
            }
            Err(error) => {
                let path = track.path();
                if round(&mut value, &path).is_none() {
                    return is_mended.then(|| Err(Unread::new(&error, Some(&path))));
                }
                is_mended = true;
            }
        }
    }
    None
}

/// Rounds the number at that place to the greatest float, if that is the nearest one and a little less.
fn round(value: &mut Value, path: &Path) -> Option<()> {
    // Half of the way to the next power of two.
    const OUT_OF_REACH: f64 = 3.402_823_567_797_336_6e38;
    let place = path.iter().try_fold(value, |value, segment| match segment {
        Segment::Seq { index } => value.get_mut(index),
        Segment::Map { key } => value.get_mut(key.as_str()),
        Segment::Enum { .. } | Segment::Unknown => None,
    })?;
    let is_just_above = |number: &f64| number.abs() > f64::from(f32::MAX) && number.abs() < OUT_OF_REACH;
    let number = place.as_f64().filter(is_just_above)?;
    *place = f64::from(f32::MAX.copysign(if number < 0.0 { -1.0 } else { 1.0 })).into();
    Some(())
}

//! One way in which an RPC is reached over HTTP.

use crate::http_rule::HttpRule;
use crate::messages::{is_http_body, make_writable, restore_json, write_http_body};
use crate::request::floats::Floats;
use crate::request::path::{BoundPath, Mismatch};
use crate::request::query::Query;
use bytes::Bytes;
use http::{HeaderValue, Method};
use prost_reflect::{
    DynamicMessage, FieldDescriptor, Kind, MessageDescriptor, ReflectMessage as _, SerializeOptions, Value,
};

/// One way in which an RPC is reached over HTTP.
#[derive(Debug, Clone)]
pub(crate) struct Binding {
    verb: Method,
    path: BoundPath,
    body: BodyFields,
    /// The field that a response is; `None`: the whole message.
    response: Option<FieldDescriptor>,
}

/// The fields that are the body.
#[derive(Debug, Clone)]
enum BodyFields {
    None,
    /// All that the path doesn't have.
    Rest,
    One(FieldDescriptor),
}

/// The parts of an HTTP request that a message leads to.
#[derive(Debug)]
pub(crate) struct HttpParts {
    pub(crate) path_and_query: String,
    /// JSON, or the bytes of a `google.api.HttpBody` with their type; `None`: there is no body.
    pub(crate) body: Option<(Bytes, Option<HeaderValue>)>,
}

/// Why a message makes no request.
#[derive(Debug)]
pub(crate) enum Unfit {
    /// Its fields don't fit the path: another binding may do.
    Path(String),
    /// It can't be written.
    Message(String),
}

impl Binding {
    /// The binding of a rule, or why it can't be used.
    pub(crate) fn new(
        rule: &HttpRule,
        input: &MessageDescriptor,
        output: &MessageDescriptor,
    ) -> Result<Self, String> {
        let verb = match rule.verb.as_str() {
            // The method is left open.
            "*" if rule.body.is_empty() => Method::GET,
            "*" => Method::POST,
            verb => {
                Method::from_bytes(verb.as_bytes()).map_err(|_| format!("{verb:?} is not an HTTP method"))?
            }
        };
        let field = |message: &MessageDescriptor, name: &str, what: &str| {
            let found = message.get_field_by_name(name);
            found.ok_or_else(|| {
                format!("its {what} is {name:?}, a field that {} has not", message.full_name())
            })
        };
        let body = match rule.body.as_str() {
            "" => BodyFields::None,
            "*" => BodyFields::Rest,
            name => BodyFields::One(field(input, name, "body")?),
        };
        if !matches!(body, BodyFields::None) && matches!(verb, Method::GET | Method::HEAD) {
            return Err(format!("a {verb} has no body, but the rule has one"));
        }
        let response = match rule.response_body.as_str() {
            "" => None,
            name => Some(field(output, name, "response_body")?),
        };
        Ok(Self { verb, path: BoundPath::new(&rule.template, input)?, body, response })
    }

    pub(crate) fn verb(&self) -> &Method {
        &self.verb
    }

    /// The field that a response is; `None`: the whole message.
    pub(crate) fn response(&self) -> Option<&FieldDescriptor> {
        self.response.as_ref()
    }

    /// The request that a message leads to. `numeric_enums`: the response is asked for with numbers. `is_forced`: also where
    /// fields don't fit the path.
    pub(crate) fn parts(
        &self,
        message: &DynamicMessage,
        numeric_enums: bool,
        is_forced: bool,
    ) -> Result<HttpParts, Unfit> {
        let path = self.path.expand(message, is_forced).map_err(|Mismatch(why)| Unfit::Path(why))?;
        let mut others = message.clone();
        for field in self.path.fields() {
            field.clear(&mut others);
        }
        let mut query = Query::default();
        let body = match &self.body {
            BodyFields::Rest => Some(content(&mut others)?),
            BodyFields::One(field) => {
                let body = field_content(message, field)?;
                others.clear_field(field);
                query.push_fields(&others, "").map_err(Unfit::Message)?;
                Some(body)
            }
            BodyFields::None => {
                query.push_fields(&others, "").map_err(Unfit::Message)?;
                None
            }
        };
        if numeric_enums {
            query.push("$alt", "json;enum-encoding=int");
        }
        Ok(HttpParts { path_and_query: path + query.as_str(), body })
    }
}

/// A message as a body: as JSON, unless it is a `google.api.HttpBody`.
fn content(message: &mut DynamicMessage) -> Result<(Bytes, Option<HeaderValue>), Unfit> {
    if !is_http_body(&message.descriptor()) {
        return Ok((json(message)?, None));
    }
    match write_http_body(message) {
        Ok((data, kind)) => Ok((data, Some(kind))),
        Err(error) => Err(Unfit::Message(format!("content_type: {error}"))),
    }
}

/// The JSON of a message.
fn json(message: &mut DynamicMessage) -> Result<Bytes, Unfit> {
    if make_writable(message) {
        let mut json = write(message, serde_json::value::Serializer)?;
        restore_json(&mut json);
        return Ok(json.to_string().into());
    }
    let mut text = Vec::new();
    write(message, &mut serde_json::Serializer::new(&mut text))?;
    Ok(text.into())
}

fn write<S: serde::Serializer>(message: &DynamicMessage, serializer: S) -> Result<S::Ok, Unfit> {
    let mut track = serde_path_to_error::Track::new();
    let tracked = serde_path_to_error::Serializer::new(serializer, &mut track);
    let written = message.serialize_with_options(Floats(tracked), &SerializeOptions::new());
    written.map_err(|error| Unfit::Message(format!("{}: {error}", track.path())))
}

/// A field as a body.
fn field_content(
    message: &DynamicMessage,
    field: &FieldDescriptor,
) -> Result<(Bytes, Option<HeaderValue>), Unfit> {
    let mut value = message.get_field(field).into_owned();
    if let Value::Message(inner) = &mut value {
        return content(inner);
    }
    let mut alone = DynamicMessage::new(field.parent_message().clone());
    alone.set_field(field, value);
    let is_mended = make_writable(&mut alone);
    let mut all = write(&alone, serde_json::value::Serializer)?;
    if is_mended {
        restore_json(&mut all);
    }
    let found = all.get(field.json_name()).cloned();
    let found = found.unwrap_or_else(|| match field.kind() {
        _ if field.is_list() => serde_json::Value::Array(Vec::new()),
        _ if field.is_map() => serde_json::Value::Object(serde_json::Map::new()),
        Kind::Bool => false.into(),
        Kind::String | Kind::Bytes => "".into(),
        Kind::Enum(kind) => kind.default_value().name().into(),
        _ => 0.into(),
    });
    Ok((found.to_string().into(), None))
}

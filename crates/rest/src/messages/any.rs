//! `google.protobuf.Any` in the cases for which prost-reflect has no JSON: without a type, and of a type that no descriptors have.
//!
//! The JSON of the first is `{}`. The second is read as an Any of `google.protobuf.Struct`, whose fields are those of the JSON,
//! `@type` among them; and is written as that JSON.

use prost::Message as _;
use prost_reflect::{DynamicMessage, FieldDescriptor, Kind, MessageDescriptor, ReflectMessage as _, Value};
use serde_json::{Value as Json, json};

const ANY: &str = "google.protobuf.Any";
const STRUCT_URL: &str = "type.googleapis.com/google.protobuf.Struct";
/// In place of such an Any while prost-reflect reads or writes it. An empty text has no bytes.
const EMPTY: &str = "tonic-gax.empty/google.protobuf.StringValue";
const UNKNOWN: &str = "tonic-gax.unknown/google.protobuf.Struct";

/// Replaces what prost-reflect can't read in the JSON of a message of that type. Returns whether there was any; a message read of it
/// then wants [`restore_empty`].
pub(crate) fn make_readable(json: &mut Json, kind: &MessageDescriptor) -> bool {
    readable(json, kind, json!({"@type": EMPTY, "value": ""}))
}

/// `empty` stands for an Any without a type.
fn readable(json: &mut Json, kind: &MessageDescriptor, empty: Json) -> bool {
    let Some(object) = json.as_object_mut() else { return false };
    match kind.full_name() {
        "google.protobuf.Struct" | "google.protobuf.Value" => return false,
        ANY if object.is_empty() => {
            *json = empty;
            return true;
        }
        ANY => {
            let Some(url) = object.get("@type").and_then(Json::as_str) else { return false };
            let name = url.rsplit('/').next().unwrap_or_default();
            return match kind.parent_pool().get_message_by_name(name) {
                None => {
                    let unknown = json.take();
                    *json = json!({"@type": STRUCT_URL, "value": unknown});
                    true
                }
                // Its bytes are not looked at again.
                Some(inner) if inner.full_name() == ANY => {
                    object.get_mut("value").is_some_and(|value| readable(value, &inner, Json::Null))
                }
                Some(inner) => readable(json, &inner, Json::Null),
            };
        }
        _ => {}
    }
    let mut is_changed = false;
    for (name, value) in object {
        let field = kind.get_field_by_json_name(name).or_else(|| kind.get_field_by_name(name));
        let Some((field, inner)) = field.and_then(|field| Some((field.clone(), message_of(&field)?))) else {
            continue;
        };
        let values: Vec<&mut Json> = match value {
            Json::Array(list) if field.is_list() => list.iter_mut().collect(),
            Json::Object(map) if field.is_map() => map.values_mut().collect(),
            value => vec![value],
        };
        for value in values {
            is_changed |= readable(value, &inner, empty.clone());
        }
    }
    is_changed
}

/// The type of a field's messages.
fn message_of(field: &FieldDescriptor) -> Option<MessageDescriptor> {
    match field.kind() {
        Kind::Message(entry) if field.is_map() => entry.map_entry_value_field().kind().as_message().cloned(),
        Kind::Message(message) => Some(message),
        _ => None,
    }
}

/// Takes the type out again of each Any that had none.
pub(crate) fn restore_empty(message: &mut DynamicMessage) {
    each_any(message, &mut |any| {
        if type_url(any) == EMPTY {
            *any = DynamicMessage::new(any.descriptor());
        }
    });
}

/// Replaces what prost-reflect can't write in a message. Returns whether there was any; the JSON of it then wants [`restore_json`].
pub(crate) fn make_writable(message: &mut DynamicMessage) -> bool {
    let mut is_changed = false;
    each_any(message, &mut |any| {
        let url = type_url(any);
        let placeholder = if url.is_empty() {
            EMPTY
        } else if url == STRUCT_URL && is_unknown(any) {
            UNKNOWN
        } else {
            return;
        };
        any.set_field_by_name("type_url", Value::String(placeholder.to_owned()));
        is_changed = true;
    });
    is_changed
}

/// Puts the JSON instead of what stands for it.
pub(crate) fn restore_json(json: &mut Json) {
    match json.get("@type").and_then(Json::as_str) {
        Some(EMPTY) => *json = json!({}),
        Some(UNKNOWN) => *json = json.get_mut("value").map(Json::take).unwrap_or_default(),
        _ => match json {
            Json::Object(object) => object.values_mut().for_each(restore_json),
            Json::Array(list) => list.iter_mut().for_each(restore_json),
            _ => {}
        },
    }
}

fn each_any(message: &mut DynamicMessage, change: &mut dyn FnMut(&mut DynamicMessage)) {
    if message.descriptor().full_name() == ANY {
        change(message);
        return;
    }
    for (_, value) in message.fields_mut() {
        let values: Vec<&mut Value> = match value {
            Value::List(list) => list.iter_mut().collect(),
            Value::Map(map) => map.values_mut().collect(),
            value => vec![value],
        };
        for message in values.into_iter().filter_map(Value::as_message_mut) {
            each_any(message, change);
        }
    }
}

fn type_url(any: &DynamicMessage) -> String {
    any.get_field_by_name("type_url").and_then(|url| Some(url.as_str()?.to_owned())).unwrap_or_default()
}

/// Returns whether an Any of a Struct is one of a type that was not known.
fn is_unknown(any: &DynamicMessage) -> bool {
    let value = any.get_field_by_name("value");
    let fields = value.and_then(|value| prost_types::Struct::decode(value.as_bytes()?.clone()).ok());
    fields.is_some_and(|fields| fields.fields.contains_key("@type"))
}

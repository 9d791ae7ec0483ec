//! Single values as text, as paths and queries have them.

use crate::request::floats::{WithFloats, not_finite};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use prost_reflect::{Kind, ReflectMessage as _, Value};
use serde::Serialize;

/// A value as text: that of its JSON, without quotation marks. `None`: it has none, being several values.
pub(super) fn text(value: &Value, kind: &Kind) -> Option<Result<String, String>> {
    Some(match value {
        Value::Bool(value) => Ok(value.to_string()),
        Value::I32(value) => Ok(value.to_string()),
        Value::I64(value) => Ok(value.to_string()),
        Value::U32(value) => Ok(value.to_string()),
        Value::U64(value) => Ok(value.to_string()),
        Value::F32(value) if value.is_finite() => json(value),
        Value::F64(value) if value.is_finite() => json(value),
        Value::F32(value) => Ok(not_finite(f64::from(*value)).to_owned()),
        Value::F64(value) => Ok(not_finite(*value).to_owned()),
        Value::String(value) => Ok(value.clone()),
        Value::Bytes(value) => Ok(BASE64_STANDARD.encode(value)),
        Value::EnumNumber(number) => {
            let value = kind.as_enum().and_then(|kind| kind.get_value(*number));
            Ok(value.map_or_else(|| number.to_string(), |value| value.name().to_owned()))
        }
        Value::Message(message) if is_single(message.descriptor().full_name()) => json(message),
        Value::Message(_) | Value::List(_) | Value::Map(_) => return None,
    })
}

fn json(value: &impl Serialize) -> Result<String, String> {
    let text = serde_json::to_string(&WithFloats(value)).map_err(|error| error.to_string())?;
    if text.starts_with('"') {
        serde_json::from_str(&text).map_err(|error| error.to_string())
    } else {
        Ok(text)
    }
}

/// Returns whether the JSON of that message is a single value.
fn is_single(message: &str) -> bool {
    const NAMES: [&str; 12] = [
        "BoolValue",
        "BytesValue",
        "DoubleValue",
        "Duration",
        "FieldMask",
        "FloatValue",
        "Int32Value",
        "Int64Value",
        "StringValue",
        "Timestamp",
        "UInt32Value",
        "UInt64Value",
    ];
    message.strip_prefix("google.protobuf.").is_some_and(|name| NAMES.contains(&name))
}

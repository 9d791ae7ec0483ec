//! The header `x-goog-request-params`.

use crate::google::pattern;
use crate::google::value::{ShortText, Value, push_escaped};
use http::HeaderValue;
use std::borrow::Cow;

/// A parameter of `x-goog-request-params`, as in generated code.
#[derive(Debug, Clone)]
pub struct RequestParam {
    key: Cow<'static, str>,
    /// The numbers of the fields that lead to the value.
    path: Cow<'static, [u32]>,
    /// The type of the value, by the number that `google.protobuf.FieldDescriptorProto.Type` gives it.
    kind: i32,
    /// The value where the field is not there.
    absent: Cow<'static, str>,
    /// The segments before, in, and after what is taken of the value; `None`: all of it is.
    pattern: Option<[Cow<'static, str>; 3]>,
}

impl RequestParam {
    /// A parameter that is the whole of a field.
    #[must_use]
    pub const fn new(key: &'static str, path: &'static [u32], kind: i32, absent: &'static str) -> Self {
        let (key, path, absent) = (Cow::Borrowed(key), Cow::Borrowed(path), Cow::Borrowed(absent));
        Self { key, path, kind, absent, pattern: None }
    }

    /// A parameter that is taken out of a string.
    #[must_use]
    pub const fn taken(
        key: &'static str,
        path: &'static [u32],
        absent: &'static str,
        [before, taken, after]: [&'static str; 3],
    ) -> Self {
        let (key, path, absent) = (Cow::Borrowed(key), Cow::Borrowed(path), Cow::Borrowed(absent));
        let pattern = Some([Cow::Borrowed(before), Cow::Borrowed(taken), Cow::Borrowed(after)]);
        Self { key, path, kind: 9, absent, pattern }
    }

    /// Its value in a message; `None`: there is none, or it is of another form.
    fn value<'a>(&'a self, message: &'a [u8]) -> Option<Value<'a>> {
        let value = Value::find(message, &self.path, self.kind);
        let value = value.unwrap_or(Value::Bytes(self.absent.as_bytes()));
        let value = match (&self.pattern, value) {
            (None, value) => value,
            (Some([before, taken, after]), Value::Bytes(bytes)) => {
                let text = std::str::from_utf8(bytes).ok()?;
                Value::Bytes(pattern::taken(text, [&**before, &**taken, &**after])?.as_bytes())
            }
            (Some(_), _) => return None,
        };
        Some(value).filter(|value| *value != Value::Bytes(b""))
    }
}

#[cfg(feature = "descriptors")]
impl From<gax_table::RequestParam> for RequestParam {
    fn from(param: gax_table::RequestParam) -> Self {
        Self {
            key: param.key.into(),
            path: param.path.into(),
            kind: param.kind,
            absent: param.absent.into(),
            pattern: param.pattern.map(|parts| parts.map(Cow::Owned)),
        }
    }
}

/// The value of `x-goog-request-params` for a message; `None`: nothing of it is a parameter. Of several parameters with one key
/// the last that has a value counts (AIP-4222).
///
/// Nothing is allocated but the value, unless that is long.
pub(crate) fn request_params(params: &[RequestParam], message: &[u8]) -> Option<HeaderValue> {
    let mut text = ShortText::new();
    let mut rest = params;
    let mut before: &[RequestParam] = &[];
    while let Some((param, after)) = rest.split_first() {
        let has_key = |other: &&RequestParam| other.key == param.key;
        if !before.iter().any(|other| has_key(&other)) {
            let of_key = rest.iter().rev().filter(has_key);
            if let Some(value) = of_key.into_iter().find_map(|param| param.value(message)) {
                if !text.is_empty() {
                    text.push(b'&');
                }
                push_escaped(&mut text, param.key.as_bytes());
                text.push(b'=');
                value.write(&mut text);
            }
        }
        rest = after;
        before = params.get(..params.len() - rest.len()).unwrap_or_default();
    }
    if text.is_empty() {
        return None;
    }
    HeaderValue::from_bytes(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A message with a string as its field 1, and one as its field 2.
    fn message(one: &str, two: &str) -> Vec<u8> {
        let field =
            |tag: u8, text: &str| [&[tag, u8::try_from(text.len()).unwrap()], text.as_bytes()].concat();
        [field(0x0a, one), field(0x12, two)].concat()
    }

    fn shown(params: &[RequestParam], message: &[u8]) -> String {
        let value = request_params(params, message);
        value.map_or_else(|| "-".to_owned(), |value| value.to_str().unwrap().to_owned())
    }

    #[test]
    fn of_a_key_the_last_parameter_with_a_value_counts() {
        let params = [
            RequestParam::taken("id", &[1], "", ["", "projects/*", "**"]),
            RequestParam::new("two", &[2], 9, ""),
            RequestParam::taken("id", &[1], "", ["**", "instances/*", "**"]),
        ];
        for (one, two, expected) in [
            ("projects/p/instances/i/x", "2", "id=instances%2Fi&two=2"),
            ("projects/p/x", "2", "id=projects%2Fp&two=2"),
            ("other", "a b&c", "two=a%20b%26c"),
            ("projects/p", "", "id=projects%2Fp"),
            ("", "", "-"),
        ] {
            assert_eq!(shown(&params, &message(one, two)), expected, "{one} {two}");
        }
        assert_eq!(shown(&[], &message("a", "b")), "-");
        let long = message("", &"é".repeat(60));
        assert_eq!(shown(&params, &long), format!("two={}", "%C3%A9".repeat(60)));
    }

    #[test]
    fn a_field_that_is_not_there_has_its_default() {
        let params = [
            RequestParam::new("info.f_bool", &[3, 1], 8, "false"),
            RequestParam::new("info.f_double", &[3, 2], 1, "0.0"),
            RequestParam::new("info.f_kingdom", &[3, 3], 14, "0"),
            RequestParam::new("info.f_string", &[3, 4], 9, ""),
        ];
        assert_eq!(shown(&params, b""), "info.f_bool=false&info.f_double=0.0&info.f_kingdom=0");
        assert_eq!(
            shown(&params, b"\x1a\x04\x08\x01\x18\x02"),
            "info.f_bool=true&info.f_double=0.0&info.f_kingdom=2"
        );
    }
}

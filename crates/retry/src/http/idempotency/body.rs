//! One field of a JSON body.

use serde::Deserialize as _;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// The longest body that is searched. Metadata is far shorter; what is longer is payload.
const LONGEST: usize = 1 << 20;

/// Whether a JSON object holds a value at the path, names joined by dots, that is neither null nor an
/// empty text. Of a name given twice, the last counts. What is no valid JSON holds nothing.
///
/// Nothing is kept of the body but what was looked for, and nesting is followed no deeper than the path.
pub(super) fn holds(body: &[u8], path: &str) -> bool {
    if body.len() > LONGEST {
        return false;
    }
    let mut json = serde_json::Deserializer::from_slice(body);
    let found = At(path).deserialize(&mut json);
    found.unwrap_or(false) && json.end().is_ok()
}

/// The value at the rest of a path.
struct At<'a>(&'a str);

impl<'de> DeserializeSeed<'de> for At<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<bool, D::Error> {
        if !self.0.is_empty() {
            return value.deserialize_any(Object(self.0));
        }
        let value = <&RawValue>::deserialize(value)?;
        Ok(!matches!(value.get(), "null" | "\"\""))
    }
}

/// Looks for the first name of a path in an object.
struct Object<'a>(&'a str);

impl<'de> Visitor<'de> for Object<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
        let (name, rest) = self.0.split_once('.').unwrap_or((self.0, ""));
        let mut found = false;
        while let Some(IsName(same)) = map.next_key_seed(Name(name))? {
            if same {
                found = map.next_value_seed(At(rest))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

struct Name<'a>(&'a str);

struct IsName(bool);

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = IsName;

    fn deserialize<D: Deserializer<'de>>(self, key: D) -> Result<IsName, D::Error> {
        key.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = IsName;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<IsName, E> {
        Ok(IsName(key == self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_counts_when_it_holds_something() {
        for (body, held) in [
            (r#"{"etag":"CAE="}"#, true),
            (r#" {"bindings":[{"etag":"inner"}], "etag" : "x" } "#, true),
            (r#"{"\u0065tag":"x"}"#, true),
            (r#"{"etag":3}"#, true),
            (r#"{"etag":""}"#, false),
            (r#"{"etag":null}"#, false),
            (r#"{"etag":"x","etag":""}"#, false),
            (r#"{"bindings":[{"etag":"x"}]}"#, false),
            (r#"{"Etag":"x"}"#, false),
            (r#"["etag","x"]"#, false),
            (r#""etag":"x""#, false),
            ("", false),
        ] {
            assert_eq!(holds(body.as_bytes(), "etag"), held, "{body}");
        }
    }

    #[test]
    fn a_path_leads_into_objects() {
        let body = br#"{"policy":{"etag":"x","version":[1]}}"#;
        assert!(holds(body, "policy.etag"));
        assert!(holds(body, "policy.version"));
        assert!(!holds(body, "policy.etag.more"));
        assert!(!holds(body, "etag"));
    }

    #[test]
    fn hostile_bytes_hold_nothing() {
        let deep = [b"{\"a\":".repeat(200_000), b"\"etag\"".to_vec()].concat();
        let deep_then_etag =
            [br#"{"a":"#.to_vec(), b"[".repeat(300_000), b"]".repeat(300_000), br#","etag":"x"}"#.to_vec()]
                .concat();
        let long = [br#"{"etag":"x","a":""#.to_vec(), b"a".repeat(LONGEST), b"\"}".to_vec()].concat();
        for body in [
            &deep,
            &long,
            &br#"{"etag":"x"} trailing"#.to_vec(),
            &br#"{"etag":"x""#.to_vec(),
            &b"{\"etag\":\"\xff\"}".to_vec(),
            &b"\0\0\0\0".to_vec(),
        ] {
            assert!(!holds(body, "etag"), "{:?}", body.get(..40));
        }
        assert!(!holds(&deep_then_etag, "a.etag"));
        assert!(holds(&deep_then_etag, "etag"));
    }
}

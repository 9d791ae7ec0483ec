//! One field of a JSON body.

use crate::http::json::Json;

/// The longest body that is searched. Metadata is far shorter; what is longer is payload.
const LONGEST: usize = 1 << 20;

/// Returns whether a JSON object holds a value at the path, names joined by dots, that is neither null nor an
/// empty text. Of a name given twice, the last counts. What is no valid JSON holds nothing.
///
/// Nothing is kept of the body but what was looked for, and nesting is followed no deeper than the path.
pub(super) fn holds(body: &[u8], path: &str) -> bool {
    if body.len() > LONGEST {
        return false;
    }
    let mut json = Json(str::from_utf8(body).unwrap_or_default());
    holds_at(&mut json, path).unwrap_or(false) && json.is_at_end()
}

fn holds_at(json: &mut Json<'_>, path: &str) -> Option<bool> {
    let (name, rest) = path.split_once('.').unwrap_or((path, ""));
    let mut found = false;
    json.members(|json, member| {
        if member != name {
            return json.pass();
        }
        found = if rest.is_empty() { json.holds_something()? } else { holds_at(json, rest)? };
        Some(())
    })?;
    Some(found)
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

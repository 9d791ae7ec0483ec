//! The parts of a request that rules look at.

use super::Precondition;
use super::classification::Hedges;
use super::path::decoded;
use crate::http::json::Json;
use std::borrow::Cow;

/// The headers that requests of Cloud Storage's XML API have instead of `ifGenerationMatch` and `ifMetagenerationMatch`.
const XML: [(&str, Precondition); 2] = [
    ("ifGenerationMatch", Precondition::Header(Cow::Borrowed("x-goog-if-generation-match"))),
    ("ifMetagenerationMatch", Precondition::Header(Cow::Borrowed("x-goog-if-metageneration-match"))),
];

/// Headers that can be asked for by name.
pub trait HeaderLookup {
    /// The header's value, whatever the case of its name; the first, if it is there more than once.
    fn value(&self, name: &str) -> Option<&[u8]>;
}

impl HeaderLookup for [(&str, &str)] {
    fn value(&self, name: &str) -> Option<&[u8]> {
        self.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_bytes())
    }
}

impl<const N: usize> HeaderLookup for [(&str, &str); N] {
    fn value(&self, name: &str) -> Option<&[u8]> {
        self.as_slice().value(name)
    }
}

impl<H: HeaderLookup + ?Sized> HeaderLookup for &H {
    fn value(&self, name: &str) -> Option<&[u8]> {
        (**self).value(name)
    }
}

/// The parts of an HTTP request that decide whether it is safe to retry. They are borrowed and only read.
///
/// # Examples
///
/// ```
/// use gax_retry::http::{Idempotency, IdempotencyTable, RequestFacts};
///
/// let request = RequestFacts::new("DELETE", "/storage/v1/b/photos/o/cat.jpg?ifGenerationMatch=7");
/// let classification = IdempotencyTable::storage().classify(&request);
/// assert_eq!(classification.to_string(), "conditional: ifGenerationMatch");
/// assert_eq!(classification.rule(), Some("storage.objects.delete"));
/// ```
#[derive(Clone, Copy)]
#[must_use]
pub struct RequestFacts<'a> {
    method: &'a str,
    host: Option<&'a str>,
    path: &'a str,
    query: &'a str,
    headers: Option<&'a dyn HeaderLookup>,
    body: &'a [u8],
}

impl<'a> RequestFacts<'a> {
    /// A request with that method and target: the path, and the query after a question mark.
    pub fn new(method: &'a str, target: &'a str) -> Self {
        let target = target.split_once('#').map_or(target, |(before, _)| before);
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        Self { method, host: None, path, query, headers: None, body: &[] }
    }

    gax_text::setters! { self:
        /// The request to that host, with its port if it names one. Without a host, every rule applies. With one, the rules
        /// of Cloud Storage only apply to its own hosts.
        pub with_host(host: &'a str) => self.host = Some(host);

        /// The request with these headers.
        pub with_headers(headers: &'a dyn HeaderLookup) => self.headers = Some(headers);

        /// The request with that body. A body that can't be seen whole is left out.
        pub with_body(body: &'a [u8]) => self.body = body;
    }

    gax_text::getters! { self:
        pub(super) method: &'a str = self.method;

        pub(super) host: Option<&'a str> = self.host;

        pub(super) path: &'a str = self.path;
    }

    /// Returns whether it is a chunk of an upload's session, or asks how far that has come: two of them at once would get in each
    /// other's way.
    pub(super) fn is_of_session(&self) -> bool {
        self.headers.is_some_and(|headers| headers.value("Content-Range").is_some())
    }

    /// Returns whether it may be sent while an attempt is in flight, as its method has it.
    pub(super) fn hedges(&self) -> Hedges {
        match self.method {
            _ if self.is_of_session() => Hedges::Never,
            "GET" | "HEAD" | "OPTIONS" => Hedges::Yes,
            _ => Hedges::IfAllowed,
        }
    }

    /// Returns whether its query has that parameter with that value.
    pub(super) fn has_query(&self, name: &str, value: &str) -> bool {
        let mut parameters = self.query.split('&').filter_map(|parameter| parameter.split_once('='));
        parameters
            .any(|(known, own)| *decoded(known) == *name.as_bytes() && *decoded(own) == *value.as_bytes())
    }

    /// The condition that it carries as an XML request does; of several, any.
    pub(super) fn xml_condition(&self) -> Option<Precondition> {
        XML.into_iter().map(|(_, condition)| condition).find(|condition| self.meets(condition))
    }

    /// Its value, where it stands for that condition.
    pub(super) fn xml_condition_for(&self, wanted: &Precondition) -> Option<Precondition> {
        let Precondition::Query(wanted) = wanted else { return None };
        let (_, condition) = XML.into_iter().find(|(name, _)| name == wanted)?;
        self.meets(&condition).then_some(condition)
    }

    /// Returns whether the request carries the precondition.
    pub(super) fn meets(&self, precondition: &Precondition) -> bool {
        match precondition {
            Precondition::Query(name) => self.query.split('&').any(|parameter| {
                parameter
                    .split_once('=')
                    .is_some_and(|(known, value)| !value.is_empty() && *decoded(known) == *name.as_bytes())
            }),
            Precondition::Header(name) => {
                let value = self.headers.and_then(|headers| headers.value(name)).unwrap_or_default();
                !matches!(value.trim_ascii(), b"" | b"*")
            }
            Precondition::BodyField(path) => holds(self.body, path),
        }
    }
}

gax_text::short_debug! {
    self: RequestFacts<'_> { method: self.method, host: self.host, path: self.path, query: self.query, body: self.body.len() }
}

/// The longest body that is searched. Metadata is far shorter; what is longer is payload.
const LONGEST: usize = 1 << 20;

/// Returns whether a JSON object holds a value at the path, names joined by dots, that is neither null nor an
/// empty text. Of a name given twice, the last counts. What is no valid JSON holds nothing.
///
/// Nothing is kept of the body but what was looked for, and nesting is followed no deeper than the path.
fn holds(body: &[u8], path: &str) -> bool {
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

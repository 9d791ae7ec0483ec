//! The parameters of `x-goog-request-params`, by the annotations of a method.

use super::error::RoutingError;
use super::path_template::{PathGrammar, PathTemplate};

/// A parameter of the header `x-goog-request-params` (AIP-4222): the field of the request that has its value, and the
/// part of it that is used. Of several with one key, the last match applies.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestParam {
    /// The key in the annotation.
    pub key: String,
    /// The numbers of the fields that lead to the value.
    pub path: Vec<u32>,
    /// The type of the value, by the number that `google.protobuf.FieldDescriptorProto.Type` gives it.
    pub kind: i32,
    /// The value where the field is not there; nothing: no parameter.
    pub absent: String,
    /// The segments that the value has to have before, in, and after what is taken of it, each as one text with slashes;
    /// `None`: all of it is taken, whatever it is.
    pub pattern: Option<[String; 3]>,
}

/// A field of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "made by those who have descriptors")]
pub struct ProtoField {
    /// Its number.
    pub number: u32,
    /// Its type, by the number that `google.protobuf.FieldDescriptorProto.Type` gives it.
    pub kind: i32,
    /// `true` if it is a list or a map.
    pub is_repeated: bool,
    /// The full name of its message, with a dot before it, where it is one.
    pub type_name: String,
    /// The value that a proto2 file gives it if it is not set, as text; of an enum it is the number.
    pub default: Option<String>,
}

/// The fields of messages.
pub trait MessageFields {
    /// A field of a message, whose full name has a dot before it; `None`: there is none.
    fn field(&self, message: &str, name: &str) -> Option<ProtoField>;
}

/// The advice for a path that leads nowhere.
pub(super) const NAME_A_FIELD: &str = "name a field of the request, with dots between messages";

const DOUBLE: i32 = 1;
const FLOAT: i32 = 2;
const BOOL: i32 = 8;
const STRING: i32 = 9;
pub(super) const GROUP: i32 = 10;
pub(super) const MESSAGE: i32 = 11;
const BYTES: i32 = 12;

/// The parameters of `google.api.http`, given the path of its main binding: one for each variable. They are sent whole, whether they
/// are of the variable's form or not, and numbers, bools and enums even if they are not set, as gax-java does.
///
/// # Errors
///
/// The path is not a template, or names a field that the request does not have or that has no one value.
pub fn http_params(
    path: &str,
    request: &str,
    fields: &impl MessageFields,
) -> Result<Vec<RequestParam>, RoutingError> {
    let template = PathTemplate::parse(path, PathGrammar::Http)?;
    let param = |field: &str| param(field.to_owned(), field, request, fields, None);
    template.variables().iter().map(|variable| param(variable.field())).collect()
}

/// The parameters of `google.api.routing`, given the field and the `path_template` of each of its `routing_parameters`. An empty
/// template selects the whole field.
///
/// # Errors
///
/// A template does not parse or has not exactly one variable, or a field is not there or not a string.
pub fn routing_params<'a>(
    parameters: impl IntoIterator<Item = (&'a str, &'a str)>,
    request: &str,
    fields: &impl MessageFields,
) -> Result<Vec<RequestParam>, RoutingError> {
    let of = |(field, text): (&str, &str)| {
        let (key, pattern) = if text.is_empty() { (field.to_owned(), None) } else { pattern(text)? };
        let param = param(key, field, request, fields, pattern)?;
        if param.kind == STRING {
            return Ok(param);
        }
        let message = format!("the field {field:?} of {} is not a string", name(request));
        Err(RoutingError::new(message, "google.api.routing accepts only strings"))
    };
    parameters.into_iter().map(of).collect()
}

/// The key of a routing template, and its three parts.
fn pattern(text: &str) -> Result<(String, Option<[String; 3]>), RoutingError> {
    let template = PathTemplate::parse(text, PathGrammar::Routing)?;
    let [variable] = template.variables() else {
        let count = template.variables().len();
        let problem = format!("has {count} variables, where google.api.routing requires one");
        return Err(RoutingError::of_template(
            text,
            0,
            &problem,
            "put one key around the part to be sent: {key=segments}",
        ));
    };
    let (segments, taken) = (template.segments(), variable.segments());
    let part = |range| segments.get::<std::ops::Range<usize>>(range).unwrap_or_default().join("/");
    let parts = [part(0..taken.start), part(taken.clone()), part(taken.end..segments.len())];
    Ok((variable.field().to_owned(), Some(parts)))
}

/// A parameter whose value is at that path of fields.
fn param(
    key: String,
    field: &str,
    request: &str,
    fields: &impl MessageFields,
    pattern: Option<[String; 3]>,
) -> Result<RequestParam, RoutingError> {
    let (path, ProtoField { kind, default, .. }) = field_at(field, request, fields)?;
    if matches!(kind, MESSAGE | GROUP | BYTES) {
        let problem = format!("the field {field:?} of {} is a message or bytes", name(request));
        return Err(RoutingError::new(problem, "a request is routed by strings, numbers, bools and enums"));
    }
    let unset = match kind {
        STRING => "",
        BOOL => "false",
        DOUBLE | FLOAT => "0.0",
        _ => "0",
    };
    Ok(RequestParam { key, path, kind, absent: default.unwrap_or_else(|| unset.to_owned()), pattern })
}

/// The field at a path with dots between messages, and the numbers of the fields that lead there.
pub(super) fn field_at(
    path: &str,
    request: &str,
    fields: &impl MessageFields,
) -> Result<(Vec<u32>, ProtoField), RoutingError> {
    let (mut message, mut numbers, mut parts) = (request.to_owned(), Vec::new(), path.split('.').peekable());
    loop {
        let part = parts.next().unwrap_or_default();
        let Some(field) = fields.field(&message, part) else {
            let problem = format!("{} has no field {part:?}, which {path:?} names", name(&message));
            return Err(RoutingError::new(problem, NAME_A_FIELD));
        };
        numbers.push(field.number);
        if field.is_repeated {
            let problem = format!("the field {part:?} of {} has many values", name(&message));
            return Err(RoutingError::new(problem, "name a field of one value"));
        }
        if parts.peek().is_none() {
            return Ok((numbers, field));
        }
        if field.kind != MESSAGE {
            let request = name(request);
            let problem =
                format!("the field {path:?} of {request} leads through a field that is not a message");
            return Err(RoutingError::new(problem, NAME_A_FIELD));
        }
        message = field.type_name;
    }
}

/// A message's name without the dot before it.
pub(super) fn name(message: &str) -> &str {
    message.strip_prefix('.').unwrap_or(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `.pkg.Request`, in which `info` is another one.
    struct Fields;

    impl MessageFields for Fields {
        fn field(&self, message: &str, name: &str) -> Option<ProtoField> {
            assert_eq!(message, ".pkg.Request");
            let (number, kind, is_repeated, default) = match name {
                "name" => (1, STRING, false, None),
                "info" => (2, MESSAGE, false, None),
                "names" => (3, STRING, true, None),
                "flag" => (4, BOOL, false, None),
                "ratio" => (5, DOUBLE, false, None),
                "size" => (6, 3, false, None),
                "hash" => (7, BYTES, false, None),
                "level" => (8, 14, false, Some("3")),
                _ => return None,
            };
            let type_name = if kind == MESSAGE { ".pkg.Request".to_owned() } else { String::new() };
            Some(ProtoField { number, kind, is_repeated, type_name, default: default.map(str::to_owned) })
        }
    }

    fn shown(params: Result<Vec<RequestParam>, RoutingError>) -> String {
        let shown = |RequestParam { key, path, absent, pattern, .. }: &RequestParam| {
            let pattern =
                pattern.as_ref().map(|pattern| format!(" [{}]", pattern.join("|"))).unwrap_or_default();
            format!("{key}={path:?}{absent}{pattern}")
        };
        match params {
            Ok(params) => params.iter().map(shown).collect::<Vec<_>>().join("; "),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn every_variable_of_an_http_rule_is_a_parameter() {
        for (path, expected) in [
            ("/v1/{name=a/*}/{info.info.flag}:go", "name=[1]; info.info.flag=[2, 2, 4]false"),
            ("/v1/{ratio}/{info.size}/{level}", "ratio=[5]0.0; info.size=[2, 6]0; level=[8]3"),
            ("/v1/things", ""),
            ("/v1/{nam}", "pkg.Request has no field \"nam\", which \"nam\" names"),
            ("/v1/{info.nam}", "pkg.Request has no field \"nam\", which \"info.nam\" names"),
            ("/v1/{names}", "the field \"names\" of pkg.Request has many values"),
            ("/v1/{info}", "the field \"info\" of pkg.Request is a message or bytes"),
            ("/v1/{hash}", "the field \"hash\" of pkg.Request is a message or bytes"),
            (
                "/v1/{name.size}",
                "the field \"name.size\" of pkg.Request leads through a field that is not a message",
            ),
        ] {
            assert_eq!(shown(http_params(path, ".pkg.Request", &Fields)), expected);
        }
    }

    #[test]
    fn routing_parameters_have_one_variable_and_are_strings() {
        let two = |text| [("name", text), ("info.name", "")];
        for (text, expected) in [
            ("", "name=[1]; info.name=[2, 1]"),
            ("{id=projects/*}/**", "id=[1] [|projects/*|**]; info.name=[2, 1]"),
            ("a/**/{id=b/*}", "id=[1] [a/**|b/*|]; info.name=[2, 1]"),
            (
                "a/*",
                "the path template \"a/*\" has 0 variables, where google.api.routing requires one (character 1)",
            ),
        ] {
            assert_eq!(shown(routing_params(two(text), ".pkg.Request", &Fields)), expected);
        }
        let size = routing_params([("size", "")], ".pkg.Request", &Fields);
        assert_eq!(shown(size), "the field \"size\" of pkg.Request is not a string");
    }
}

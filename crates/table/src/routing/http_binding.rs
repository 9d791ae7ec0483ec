//! Bindings of `google.api.http`, against the messages that they are for.

use super::error::RoutingError;
use super::path_template::{PathGrammar, PathTemplate};
use super::request_param::{GROUP, MESSAGE, MessageFields, NAME_A_FIELD, field_at, name};

/// One way in which an RPC is reached over HTTP: a `google.api.HttpRule` without its additional bindings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "made by those who have descriptors")]
pub struct HttpBinding<'a> {
    /// The verb, such as `GET`; `*`: it is left open.
    pub verb: &'a str,
    /// The template of the path.
    pub path: &'a str,
    /// The field of the request that is the body, or `*`; empty: there is none.
    pub body: &'a str,
    /// The field of the response that the body is; empty: all of it.
    pub response_body: &'a str,
}

impl HttpBinding<'_> {
    /// Checks that requests can be made by it, given the full names of the messages with a dot before them.
    ///
    /// # Errors
    ///
    /// The path is not a template; a field is not there; one in the path is a message or has many values; or there is a body that
    /// the verb has no room for.
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_table::{HttpBinding, MessageFields, ProtoField};
    ///
    /// /// Messages without fields.
    /// struct Empty;
    ///
    /// impl MessageFields for Empty {
    ///     fn field(&self, _: &str, _: &str) -> Option<ProtoField> {
    ///         None
    ///     }
    /// }
    ///
    /// let binding = HttpBinding { verb: "POST", path: "/v1/books", body: "book", response_body: "" };
    /// let error = binding.check(".library.v1.CreateBookRequest", ".library.v1.Book", &Empty).unwrap_err();
    /// assert_eq!(error.to_string(), "library.v1.CreateBookRequest has no field \"book\", which body names");
    /// ```
    pub fn check(
        &self,
        request: &str,
        response: &str,
        fields: &impl MessageFields,
    ) -> Result<(), RoutingError> {
        let template = PathTemplate::parse(self.path, PathGrammar::Http)?;
        for variable in template.variables() {
            in_path(variable.field(), request, fields)?;
        }
        let is_bound =
            |place: usize| template.variables().iter().any(|variable| variable.segments().contains(&place));
        let mut segments = template.segments().iter().enumerate();
        if segments.any(|(place, segment)| segment.starts_with('*') && !is_bound(place)) {
            let problem = format!("the path template {:?} has a * outside of a variable", self.path);
            return Err(RoutingError::new(problem, "name the field that has its value: {name=*}"));
        }
        for (part, field, message) in
            [("body", self.body, request), ("response_body", self.response_body, response)]
        {
            let is_whole = field.is_empty() || (part == "body" && field == "*");
            if !is_whole && fields.field(message, field).is_none() {
                let problem = format!("{} has no field {field:?}, which {part} names", name(message));
                return Err(RoutingError::new(problem, "name a field of the message itself"));
            }
        }
        if !self.body.is_empty() && matches!(self.verb, "GET" | "HEAD") {
            let problem = format!("a {} has no body, but the rule has {:?}", self.verb, self.body);
            return Err(RoutingError::new(problem, "leave body out, or write another verb"));
        }
        Ok(())
    }
}

/// Returns whether a field, with dots between messages, can be in a path.
fn in_path(path: &str, request: &str, fields: &impl MessageFields) -> Result<(), RoutingError> {
    let (_, field) = field_at(path, request, fields)?;
    if matches!(field.kind, MESSAGE | GROUP) {
        let problem = format!("the field {path:?} of {} is a message", name(request));
        return Err(RoutingError::new(problem, NAME_A_FIELD));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::request_param::ProtoField;
    use super::*;

    /// `.pkg.Book`, in which `next` is another one.
    struct Fields;

    impl MessageFields for Fields {
        fn field(&self, message: &str, name: &str) -> Option<ProtoField> {
            assert_eq!(message, ".pkg.Book");
            let (kind, is_repeated) = match name {
                "name" => (9, false),
                "hash" => (12, false),
                "next" => (MESSAGE, false),
                "names" => (9, true),
                _ => return None,
            };
            let type_name = if kind == MESSAGE { ".pkg.Book".to_owned() } else { String::new() };
            Some(ProtoField { number: 1, kind, is_repeated, type_name, default: None })
        }
    }

    fn problem(verb: &str, path: &str, body: &str, response_body: &str) -> String {
        let binding = HttpBinding { verb, path, body, response_body };
        let checked = binding.check(".pkg.Book", ".pkg.Book", &Fields);
        checked.err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn bindings_that_requests_can_be_made_by_are_accepted() {
        for (verb, path, body, response_body) in [
            ("GET", "/v1/{name=books/*}/{next.next.hash}:read", "", ""),
            ("POST", "/v1/books", "*", "names"),
            ("DELETE", "/v1/{name}", "next", ""),
            ("*", "/v1/{name=**}", "", "next"),
        ] {
            assert_eq!(problem(verb, path, body, response_body), "", "{path}");
        }
    }

    #[test]
    fn others_say_why_not() {
        for (verb, path, body, response_body, expected) in [
            ("GET", "/v1//a", "", "", "the path template \"/v1//a\" has no segment here (character 5)"),
            ("GET", "/v1/*", "", "", "the path template \"/v1/*\" has a * outside of a variable"),
            ("GET", "/v1/{nam}", "", "", "pkg.Book has no field \"nam\", which \"nam\" names"),
            ("GET", "/v1/{next.nam}", "", "", "pkg.Book has no field \"nam\", which \"next.nam\" names"),
            ("GET", "/v1/{names}", "", "", "the field \"names\" of pkg.Book has many values"),
            ("GET", "/v1/{next}", "", "", "the field \"next\" of pkg.Book is a message"),
            (
                "GET",
                "/v1/{name.hash}",
                "",
                "",
                "the field \"name.hash\" of pkg.Book leads through a field that is not a message",
            ),
            ("PUT", "/v1", "nam", "", "pkg.Book has no field \"nam\", which body names"),
            ("PUT", "/v1", "*", "*", "pkg.Book has no field \"*\", which response_body names"),
            ("GET", "/v1", "*", "", "a GET has no body, but the rule has \"*\""),
            ("HEAD", "/v1", "next", "", "a HEAD has no body, but the rule has \"next\""),
        ] {
            assert_eq!(problem(verb, path, body, response_body), expected);
        }
    }
}

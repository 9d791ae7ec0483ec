//! The rule by which an RPC is reached over HTTP.

use gax_table::descriptors;

/// How an RPC is reached over HTTP: `google.api.HttpRule`, for RPCs whose proto says nothing about it, or something else than
/// the server at hand expects.
///
/// # Examples
///
/// ```
/// use gax_rest::{HttpRule, RestOptions};
///
/// // Operations are somewhere else in each API.
/// let rule = HttpRule::get("/v1/{name=projects/*/operations/*}");
/// let options = RestOptions::new().rule("google.longrunning.Operations.GetOperation", rule);
///
/// let rule = HttpRule::post("/v1/{parent=shelves/*}/books").body("book").or(HttpRule::post("/v1/books").body("book"));
/// # drop((options, rule));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpRule {
    pub(super) verb: String,
    pub(super) template: String,
    pub(super) body: String,
    pub(super) response_body: String,
    pub(super) additional: Vec<HttpRule>,
}

impl HttpRule {
    /// A rule with any verb, and the template of its path, such as `/v1/{name=shelves/*}:archive`. The verb `*`, which leaves it
    /// to the client, is `POST` where the rule has a body, and else `GET`.
    pub fn new(verb: impl Into<String>, template: impl Into<String>) -> Self {
        Self {
            verb: verb.into(),
            template: template.into(),
            body: String::new(),
            response_body: String::new(),
            additional: Vec::new(),
        }
    }

    /// A rule with `GET`.
    pub fn get(template: impl Into<String>) -> Self {
        Self::new("GET", template)
    }

    /// A rule with `PUT`.
    pub fn put(template: impl Into<String>) -> Self {
        Self::new("PUT", template)
    }

    /// A rule with `POST`.
    pub fn post(template: impl Into<String>) -> Self {
        Self::new("POST", template)
    }

    /// A rule with `DELETE`.
    pub fn delete(template: impl Into<String>) -> Self {
        Self::new("DELETE", template)
    }

    /// A rule with `PATCH`.
    pub fn patch(template: impl Into<String>) -> Self {
        Self::new("PATCH", template)
    }

    gax_text::setters! { self:
        /// The field of the request that is the body, or `*`: all fields that the path doesn't have. Default: there is no body, and
        /// the fields that the path doesn't have are the query.
        #[must_use]
        pub body(field: impl Into<String>) => self.body = field.into();

        /// The field of the response that the body is. Default: the body is the whole response.
        #[must_use]
        pub response_body(field: impl Into<String>) => self.response_body = field.into();
    }

    /// Another rule, for requests that don't fit this one (`additional_bindings`). The first that fits is used. The other rules
    /// of that rule follow it.
    #[must_use]
    pub fn or(mut self, mut rule: Self) -> Self {
        let others = std::mem::take(&mut rule.additional);
        self.additional.push(rule);
        self.additional.extend(others);
        self
    }

    /// The rule that descriptors have; `None`: it has no pattern.
    pub(super) fn of(rule: &descriptors::HttpRule) -> Option<Self> {
        let (verb, template) = rule.pattern()?;
        Some(Self {
            verb: verb.to_owned(),
            template: template.to_owned(),
            body: rule.body.clone(),
            response_body: rule.response_body.clone(),
            additional: rule.additional_bindings.iter().filter_map(Self::of).collect(),
        })
    }
}

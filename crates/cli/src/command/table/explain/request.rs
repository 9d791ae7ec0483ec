//! The HTTP request that is to be explained.

use crate::failure::{Failure, usage};
use gax_retry::http::{
    Classification, HeaderLookup, Idempotency, IdempotencyRule, IdempotencyStrategy, OperationClass,
    RequestFacts,
};
use gax_table::{HttpPolicy, HttpRule, HttpTable};
use gax_text::closest;

/// A request, or the requests of a rule, with what a table says of them.
pub(super) struct Request<'a> {
    /// As it was given.
    pub(super) shown: &'a str,
    /// `None`: no rule matches it.
    pub(super) rule: Option<HttpRule<'a>>,
    /// The table's word on its retries.
    pub(super) class: String,
    pub(super) is_safe: bool,
    pub(super) is_hedged: bool,
    /// `None`: the table has no settings for it.
    pub(super) policy: Option<HttpPolicy<'a>>,
}

/// Headers as they are given, `Name: value`.
pub(super) struct Headers<'a>(pub(super) &'a [String]);

impl HeaderLookup for Headers<'_> {
    fn value(&self, name: &str) -> Option<&[u8]> {
        let parts = self.0.iter().filter_map(|header| header.split_once(':'));
        let mut values = parts.filter(|(own, _)| own.trim().eq_ignore_ascii_case(name));
        values.next().map(|(_, value)| value.trim().as_bytes())
    }
}

/// The request of the arguments: by a rule's name, or by method and path, or method and URL. `None`: it is a name that no rule
/// has.
pub(super) fn find<'a>(
    http: &'a HttpTable,
    wanted: &'a str,
    headers: &Headers<'_>,
) -> Result<Option<Request<'a>>, Failure> {
    let named = || http.rules().find(|rule| rule.rule().name() == wanted).map(|rule| of_rule(wanted, rule));
    let Some((method, target)) = wanted.split_once(' ') else { return Ok(named()) };
    let target = target.trim();
    match check(method, target) {
        Ok(()) => Ok(Some(of_request(http, wanted, method, target, headers))),
        // A name may have spaces, too.
        Err(failure) => named().map(Some).ok_or(failure),
    }
}

/// Checks that a method and a target are those of a request.
fn check(method: &str, target: &str) -> Result<(), Failure> {
    const LOWER: [&str; 9] = ["get", "head", "options", "trace", "put", "delete", "post", "patch", "query"];
    let upper = method.to_ascii_uppercase();
    if method != upper && LOWER.contains(&method.to_ascii_lowercase().as_str()) {
        return Err(usage!("{method:?} is not a method: upper and lower case differ; write {upper:?}"));
    }
    let has_host =
        target.split_once("://").is_some_and(|(_, rest)| !rest.is_empty() && !rest.starts_with('/'));
    if target.starts_with('/') || has_host {
        return Ok(());
    }
    Err(usage!(
        "{target:?} is neither a path nor a URL; write /v1/things/7 or https://api.example.com/v1/things/7"
    ))
}

/// The error of a name that no rule has, in a table without RPCs.
pub(super) fn unknown(http: &HttpTable, wanted: &str) -> Failure {
    let advice = match closest(wanted, http.rules().map(|rule| rule.rule().name())) {
        Some(name) => format!("did you mean {name:?}?"),
        None => "write a rule's name, or a request such as \"GET /v1/things/7\"".to_owned(),
    };
    usage!("no rule of the table is called {wanted:?}; {advice}")
}

fn of_request<'a>(
    http: &'a HttpTable,
    shown: &'a str,
    method: &str,
    target: &str,
    headers: &Headers<'_>,
) -> Request<'a> {
    let after_scheme = target.split_once("://").map(|(_, rest)| rest);
    let (host, path) = match after_scheme {
        None => (None, target),
        Some(rest) => {
            let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
            let (host, path) = rest.split_at(end);
            (Some(host), if path.starts_with('/') { path } else { "/" })
        }
    };
    let facts = RequestFacts::new(method, path).with_headers(headers);
    let facts = host.into_iter().fold(facts, RequestFacts::with_host);
    let classification = http.idempotency().classify(&facts);
    let rule = http.idempotency().rule_of(&facts).map(IdempotencyRule::name);
    let policy = http.policy_of(rule);
    Request {
        shown,
        rule: rule.and_then(|name| http.rules().find(|rule| rule.rule().name() == name)),
        class: classification.to_string(),
        is_safe: is_safe(&classification),
        is_hedged: is_hedged(&classification, policy),
        policy,
    }
}

fn is_safe(classification: &Classification) -> bool {
    matches!(classification.idempotency(), Idempotency::Always | Idempotency::ConditionMet(_))
}

fn is_hedged(classification: &Classification, policy: Option<HttpPolicy<'_>>) -> bool {
    let hedging = policy.and_then(|policy| policy.hedging());
    hedging.is_some_and(|hedging| classification.is_hedged(IdempotencyStrategy::Conditional, &hedging))
}

/// The requests of a rule that carry what makes them safe.
fn of_rule<'a>(shown: &'a str, rule: HttpRule<'a>) -> Request<'a> {
    let own = rule.rule();
    let is_safe = own.class() != &OperationClass::Never;
    let may_run_twice =
        own.is_hedgeable().unwrap_or_else(|| matches!(own.method(), "GET" | "HEAD" | "OPTIONS"));
    let policy = rule.policy();
    Request {
        shown,
        rule: Some(rule),
        class: own.class().to_string(),
        is_safe,
        is_hedged: is_safe && may_run_twice && policy.is_some_and(|policy| policy.hedging().is_some()),
        policy,
    }
}

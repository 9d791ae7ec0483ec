//! Which HTTP requests a table calls safe to retry, and by which settings they are retried.

use crate::command::table::view::HttpView;
use gax_retry::http::{HostPattern, IdempotencyRule, IdempotencyTable, OperationClass};
use gax_table::{HttpTable, RetryTable};
use serde::Serialize;

/// HTTP requests: the rules, in the order in which they are asked.
#[derive(Debug, Serialize)]
pub(super) struct Requests<'a> {
    pub(super) prefixes: Vec<&'a str>,
    /// Of requests whose rule has none of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    settings: Option<HttpView<'a>>,
    pub(super) rules: Vec<Rule<'a>>,
}

#[derive(Debug, Serialize)]
pub(super) struct Rule<'a> {
    pub(super) name: &'a str,
    pub(super) method: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hosts: Vec<String>,
    pub(super) path: String,
    class: &'static str,
    preconditions: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hedgeable: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    settings: Option<HttpView<'a>>,
}

impl<'a> Rule<'a> {
    fn new(rule: &'a IdempotencyRule) -> Self {
        let (class, preconditions) = match rule.class() {
            OperationClass::Always => ("always", &[][..]),
            OperationClass::Never => ("never", &[][..]),
            OperationClass::Conditional(any) => ("conditional", &**any),
            OperationClass::ByMethod(any) => ("by-method", &**any),
        };
        Rule {
            name: rule.name(),
            method: rule.method(),
            hosts: rule.hosts().iter().map(HostPattern::to_string).collect(),
            path: rule.path().to_string(),
            class,
            preconditions: preconditions.iter().map(ToString::to_string).collect(),
            hedgeable: rule.is_hedgeable(),
            origin: None,
            settings: None,
        }
    }
}

impl<'a> From<&'a IdempotencyTable> for Requests<'a> {
    fn from(table: &'a IdempotencyTable) -> Self {
        let rules = table.rules().iter().map(Rule::new);
        Self { prefixes: table.prefixes().collect(), settings: None, rules: rules.collect() }
    }
}

impl<'a> Requests<'a> {
    /// Those of a table, with their settings.
    pub(super) fn of_table(table: &'a RetryTable, http: &'a HttpTable) -> Self {
        let rules = http.rules().map(|rule| Rule {
            origin: rule.origin().map(ToString::to_string),
            settings: rule
                .policy()
                .filter(|_| rule.has_own_policy())
                .map(|policy| HttpView::new(table, policy)),
            ..Rule::new(rule.rule())
        });
        Self {
            prefixes: http.idempotency().prefixes().collect(),
            settings: http.policy_of(None).map(|policy| HttpView::new(table, policy)),
            rules: rules.collect(),
        }
    }
}

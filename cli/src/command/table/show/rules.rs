//! Which HTTP requests a table calls safe to retry.

use gax_retry::http::{IdempotencyTable, OperationClass};
use serde::Serialize;

/// The rules, in the order in which they are asked.
#[derive(Debug, Serialize)]
pub(super) struct Rules<'a> {
    pub(super) prefixes: Vec<&'a str>,
    pub(super) rules: Vec<Rule<'a>>,
}

#[derive(Debug, Serialize)]
pub(super) struct Rule<'a> {
    pub(super) name: &'a str,
    pub(super) method: &'a str,
    pub(super) path: String,
    class: &'static str,
    preconditions: Vec<String>,
}

impl<'a> From<&'a IdempotencyTable> for Rules<'a> {
    fn from(table: &'a IdempotencyTable) -> Self {
        let rules = table.rules().iter().map(|rule| {
            let (class, preconditions) = match rule.class() {
                OperationClass::Always => ("always", Vec::new()),
                OperationClass::Never => ("never", Vec::new()),
                OperationClass::Conditional(any) => {
                    ("conditional", any.iter().map(ToString::to_string).collect())
                }
            };
            Rule {
                name: rule.name(),
                method: rule.method(),
                path: rule.path().to_string(),
                class,
                preconditions,
            }
        });
        Self { prefixes: table.prefixes().collect(), rules: rules.collect() }
    }
}

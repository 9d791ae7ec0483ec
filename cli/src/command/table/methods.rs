//! The methods that a table has something for.

use super::beside::Beside;
use super::source::Api;
use crate::failure::Failure;
use gax_retry::{Code, CodeSet, Policy};
use gax_table::{Dialect, HedgingPolicy, MethodPolicy, PolicyField, RetryTable, SourceLocation};
use gax_text::closest;
use std::collections::HashSet;

/// A method, or all methods of a service, with what a table says of it. A table may have thousands.
#[derive(Debug, Clone, Copy)]
pub(super) struct MethodRow<'a> {
    pub(super) service: &'a str,
    /// Empty for all methods of the service, which no protos tell.
    pub(super) method: &'a str,
    /// `None`: the table has nothing.
    pub(super) policy: Option<MethodPolicy<'a>>,
}

impl MethodRow<'_> {
    /// `pkg.Service/Method`, or `pkg.Service/*`.
    pub(super) fn name(&self) -> String {
        let method = if self.method.is_empty() { "*" } else { self.method };
        if self.service.is_empty() { "*".to_owned() } else { format!("{}/{method}", self.service) }
    }

    /// What the table says of its operations and batches.
    pub(super) fn beside(&self, table: &RetryTable) -> Beside {
        Beside::of(table, self.service, self.method)
    }

    /// What calls run by.
    pub(super) fn to_policy(self, dialect: Dialect) -> Option<Policy> {
        self.policy.map(|policy| policy.to_policy(dialect.compatibility()))
    }
}

/// Every method of the API or, if there is none, every name of the table, in its order.
pub(super) fn methods<'a>(table: &'a RetryTable, api: Option<&'a Api>) -> Vec<MethodRow<'a>> {
    let row = |service: &'a str, method: &'a str| MethodRow {
        policy: table.lookup(service, method).filter(|policy| policy.entry().is_some()),
        service,
        method,
    };
    if let Some(api) = api {
        let services = api.services.iter();
        return services
            .flat_map(|service| {
                service.methods().iter().map(move |method| row(service.name(), method.name()))
            })
            .collect();
    }
    let mut seen = HashSet::new();
    let names = table.names().filter(|name| seen.insert((name.service(), name.method())));
    let mut rows: Vec<MethodRow<'_>> =
        names.map(|name| row(name.service(), name.method().unwrap_or_default())).collect();
    let others = table.named_beside().into_iter();
    let others = others.filter(|(service, method)| seen.insert((service, Some(method))));
    rows.extend(others.map(|(service, method)| row(service, method)));
    rows
}

/// The method that a flag or argument names: `pkg.Service/Method`, or `Method` where one only has that
/// name.
pub(super) fn find<'a>(
    rows: Vec<MethodRow<'a>>,
    table: &'a RetryTable,
    wanted: &'a str,
) -> Result<MethodRow<'a>, Failure> {
    let text = wanted.strip_prefix('/').unwrap_or(wanted);
    if let Some((service, method)) = text.rsplit_once('/').or_else(|| text.rsplit_once('.')) {
        let policy = table.lookup(service, method).filter(|policy| policy.entry().is_some());
        if let Some(policy) = policy {
            return Ok(MethodRow { service, method, policy: Some(policy) });
        }
        return Err(unknown(&rows, wanted, |row| row.name() == text));
    }
    let all: Vec<String> = rows.iter().filter(|row| row.method == text).map(MethodRow::name).collect();
    if let [first, second, ..] = all.as_slice() {
        let sentence = format!("{wanted:?} is the name of several methods; write {first} or {second}");
        return Err(Failure::Usage(sentence));
    }
    let known = rows.iter().any(|row| row.method == text);
    if !known {
        return Err(unknown(&rows, wanted, |_| false));
    }
    rows.into_iter()
        .find(|row| row.method == text)
        .ok_or_else(|| Failure::Usage(format!("the table has no method {wanted:?}")))
}

fn unknown(rows: &[MethodRow<'_>], wanted: &str, is_known: impl Fn(&MethodRow<'_>) -> bool) -> Failure {
    if rows.iter().any(is_known) {
        let sentence =
            format!("the table has nothing for {wanted:?}: calls go through as they are, without a deadline");
        return Failure::Usage(sentence);
    }
    let names: Vec<(String, &str)> = rows.iter().map(|row| (row.name(), row.method)).collect();
    let advice = close_method(wanted, &names)
        .map_or_else(|| "write pkg.Service/Method".to_owned(), |name| format!("did you mean {name}?"));
    Failure::Usage(format!("the table has nothing for {wanted:?}; {advice}"))
}

/// The full name of the method that somebody may have meant, among full names and the methods in them: a name
/// without a service is one of a method.
pub(in crate::command) fn close_method<'n>(wanted: &str, names: &'n [(String, &str)]) -> Option<&'n str> {
    let is_full = wanted.contains(['/', '.']);
    let part = |name: &'n (String, &'n str)| if is_full { name.0.as_str() } else { name.1 };
    let close = closest(wanted, names.iter().map(part))?;
    names.iter().find(|name| part(name) == close).map(|name| name.0.as_str())
}

/// The codes that another attempt follows.
pub(super) fn recoverable_codes(policy: MethodPolicy<'_>) -> CodeSet {
    policy.hedging().map_or(policy.codes(), HedgingPolicy::non_fatal_codes)
}

/// The names of codes, for programs.
pub(super) fn code_names(codes: CodeSet) -> Vec<&'static str> {
    codes.iter().map(Code::name).collect()
}

/// The codes, or a word for none.
pub(super) fn codes_text(codes: CodeSet) -> String {
    if codes.is_empty() { "none".to_owned() } else { codes.to_string() }
}

/// `file:line` of a value; empty where the table does not give it.
pub(super) fn line_of(policy: MethodPolicy<'_>, field: PolicyField) -> String {
    policy.origin_of(field).map(short_place).unwrap_or_default()
}

/// A place without its column and folders.
pub(super) fn short_place(origin: &SourceLocation) -> String {
    let file = origin.file().unwrap_or_default();
    let name = file.rsplit(['/', '\\']).next().unwrap_or_default();
    format!("{name}:{}", origin.line())
}

//! The methods that a table has something for.

use super::method_view::MethodView;
use crate::command::table::source::Api;
use crate::failure::{Failure, usage};
use gax_table::RetryTable;
use gax_text::closest;
use std::collections::HashSet;

/// Every method of the API or, if there is none, every name of the table, in its order.
pub(crate) fn methods<'a>(table: &'a RetryTable, api: Option<&'a Api>) -> Vec<MethodView<'a>> {
    let view = |(service, method)| MethodView::new(table, service, method);
    if let Some(api) = api {
        let of_service = |service: &'a gax_table::ServiceDescription| {
            let methods = service.methods().iter();
            methods.map(|method| view((service.name(), method.name())).described(method))
        };
        return api.services.iter().flat_map(of_service).collect();
    }
    let mut seen = HashSet::new();
    let named = table.names().map(|name| (name.service(), name.method()));
    let others = table.named_beside().into_iter().map(|(service, method)| (service, Some(method)));
    let all = named.chain(others).filter(|name| seen.insert(*name));
    all.map(|(service, method)| view((service, method.unwrap_or_default()))).collect()
}

/// The method that a flag or argument names: `pkg.Service/Method`, or `Method` where one only has that
/// name.
pub(crate) fn find<'a>(
    rows: &[MethodView<'a>],
    table: &'a RetryTable,
    wanted: &'a str,
) -> Result<MethodView<'a>, Failure> {
    let text = wanted.strip_prefix('/').unwrap_or(wanted);
    if let Some((service, method)) = text.rsplit_once('/').or_else(|| text.rsplit_once('.')) {
        let view = MethodView::new(table, service, method);
        if view.policy.is_some() {
            // What its proto says of it is known of the row.
            return Ok(rows.iter().find(|row| row.name() == text).cloned().unwrap_or(view));
        }
        return Err(unknown(rows, wanted, |row| row.name() == text));
    }
    let all: Vec<String> = rows.iter().filter(|row| row.method == text).map(MethodView::name).collect();
    if let [first, second, ..] = all.as_slice() {
        return Err(usage!("{wanted:?} is the name of several methods; write {first} or {second}"));
    }
    match rows.iter().find(|row| row.method == text) {
        Some(row) => Ok(row.clone()),
        None => Err(unknown(rows, wanted, |_| false)),
    }
}

/// The error of a method that the table says nothing about.
pub(crate) fn has_nothing(wanted: &str) -> Failure {
    usage!("the table has no entry for {wanted:?}: calls pass through unchanged, without a deadline")
}

fn unknown(rows: &[MethodView<'_>], wanted: &str, is_known: impl Fn(&MethodView<'_>) -> bool) -> Failure {
    if rows.iter().any(is_known) {
        return has_nothing(wanted);
    }
    let names: Vec<(String, &str)> = rows.iter().map(|row| (row.name(), row.method)).collect();
    let advice = close_method(wanted, &names)
        .map_or_else(|| "write pkg.Service/Method".to_owned(), |name| format!("did you mean {name}?"));
    usage!("the table has no entry for {wanted:?}; {advice}")
}

/// The full name of the method that may have been meant, among full names and the methods in them: a name without a
/// service is one of a method.
pub(in crate::command) fn close_method<'n>(wanted: &str, names: &'n [(String, &str)]) -> Option<&'n str> {
    let is_full = wanted.contains(['/', '.']);
    let part = |name: &'n (String, &'n str)| if is_full { name.0.as_str() } else { name.1 };
    // Without its package, or with another.
    let tail = wanted.rsplit_once('.').map_or(wanted, |(_, tail)| tail);
    let ends_so = |name: &str| name.strip_suffix(tail).is_some_and(|rest| rest.ends_with('.'));
    if let Some((name, _)) = names.iter().find(|(name, _)| tail.contains('/') && ends_so(name)) {
        return Some(name);
    }
    let close = closest(wanted, names.iter().map(part))?;
    names.iter().find(|name| part(name) == close).map(|name| name.0.as_str())
}

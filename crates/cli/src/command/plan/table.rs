//! A method of a retry table.

use super::args::PlanArgs;
use crate::command::table::close_method;
use crate::failure::{Failure, usage};
use crate::input::Input;
use gax_retry::{CodeSet, Hedging, RetryBudget, RetrySettings};
use gax_table::{Finding, HedgingPolicy, RetryTable};
use gax_text::Escaped;
use std::collections::BTreeSet;
use std::fmt;

/// A method with its settings in a table.
#[derive(Debug)]
pub(super) struct TableMethod {
    /// `pkg.Service/Method`.
    pub(super) name: String,
    pub(super) settings: RetrySettings,
    pub(super) codes: CodeSet,
    pub(super) hedging: Option<Hedging>,
    place: String,
    params_key: String,
    /// About the table.
    pub(super) findings: Vec<Finding>,
    /// The table's retry throttling, from a full bucket on.
    pub(super) budget: Option<RetryBudget>,
}

impl fmt::Display for TableMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, params_key, place, .. } = self;
        write!(f, "{}", Escaped(format_args!("{name}, {params_key} at {place}")))
    }
}

/// The method that the flags name, if they name a table.
pub(super) fn method(args: &PlanArgs) -> Result<Option<TableMethod>, Failure> {
    let (file, method) = match (&args.table, &args.method) {
        (Some(file), Some(method)) => (file, method),
        (Some(_), None) => {
            return Err(usage!("--table needs --method; add the method's name, such as pkg.Service/Method"));
        }
        (None, Some(_)) => return Err(usage!("--method needs --table; add the table's file")),
        (None, None) if args.dialect.is_some() => {
            return Err(usage!("--dialect has no effect without --table; leave it out"));
        }
        (None, None) => return Ok(None),
    };
    let dialect = args.dialect.unwrap_or_default();
    let file = Input::table(file)?;
    let table = RetryTable::reader().dialect(dialect).file_name(&file.name).read(&file.content);
    let table = table.map_err(|error| usage!("--table: {error}"))?;
    let file = file.name.as_str();
    let (service, method) = named(&table, method, file)?;
    let policy = table.lookup(&service, &method).ok_or_else(|| unknown(&table, &service, &method, file))?;
    Ok(Some(TableMethod {
        name: format!("{service}/{method}"),
        settings: policy.settings().clone(),
        codes: policy.codes(),
        hedging: policy.hedging().map(HedgingPolicy::to_hedging),
        place: policy.origin().map_or_else(|| file.to_owned(), ToString::to_string),
        params_key: policy.params_key().to_owned(),
        findings: table.findings().to_vec(),
        budget: table.throttling().map(|throttling| throttling.budget()),
    }))
}

/// Service and method of what the flag says.
fn named(table: &RetryTable, text: &str, file: &str) -> Result<(String, String), Failure> {
    let full = text.strip_prefix('/').unwrap_or(text);
    if let Some((service, method)) = full.rsplit_once('/').or_else(|| full.rsplit_once('.')) {
        if service.is_empty() || method.is_empty() {
            return Err(usage!(
                "--method {text:?} is not a method's name; write pkg.Service/Method, or just Method"
            ));
        }
        return Ok((service.to_owned(), method.to_owned()));
    }
    let services: BTreeSet<&str> =
        table.names().filter(|name| name.method() == Some(full)).map(|name| name.service()).collect();
    let mut services = services.into_iter();
    match (services.next(), services.next()) {
        (Some(service), None) => Ok((service.to_owned(), full.to_owned())),
        (Some(first), Some(second)) => Err(usage!(
            "--method {full:?} is the name of several methods in {file}; write {first}/{full} or {second}/{full}{}",
            if services.next().is_some() { ", or with another service" } else { "" }
        )),
        (None, _) => Err(unknown(table, "", full, file)),
    }
}

/// A name that the table has no entry for.
fn unknown(table: &RetryTable, service: &str, method: &str, file: &str) -> Failure {
    let wanted = if service.is_empty() { method.to_owned() } else { format!("{service}/{method}") };
    let names: Vec<(String, &str)> = table
        .names()
        .filter_map(|name| Some((format!("{}/{}", name.service(), name.method()?), name.method()?)))
        .collect();
    let advice = match close_method(&wanted, &names) {
        Some(name) => format!("did you mean {name}?"),
        None if service.is_empty() => "write the full name, pkg.Service/Method".to_owned(),
        None => "the call would pass through unchanged, without a deadline or retries".to_owned(),
    };
    usage!("--method {wanted:?} has no entry in {file}; {advice}")
}

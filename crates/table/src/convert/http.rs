//! The settings of HTTP requests, which TOML alone has a place for.

use super::toml::{allowed, inline_field};
use crate::model::HttpSection;
use crate::values::quoted;
use crate::{Finding, HttpTable, RetryTable, Severity, Suppression};
use gax_retry::http::{IdempotencyRule, IdempotencyTable, OperationClass, Precondition};
use std::fmt;

/// Writes what a table says of HTTP requests after a text in TOML. Rules that a base has as they are come from it.
pub(super) fn add_http(whole: &RetryTable, http: &HttpTable, out: &mut dyn fmt::Write) -> fmt::Result {
    let table = http.without_key.as_ref().unwrap_or(&http.idempotency);
    let (name, base) = base_of(table);
    let is_own = |prefix: &&str| base.prefixes().all(|known| known != *prefix);
    let list = |texts: &mut dyn Iterator<Item = &str>| texts.map(quoted).collect::<Vec<_>>().join(", ");
    writeln!(out, "\n[http]\nbase = {}", quoted(name))?;
    for (field, texts) in
        [("hosts", list(&mut table.hosts())), ("prefixes", list(&mut table.prefixes().filter(is_own)))]
    {
        if !texts.is_empty() {
            writeln!(out, "{field} = [{texts}]")?;
        }
    }
    if http.without_key.is_some() {
        out.write_str("idempotency_key = true\n")?;
    }
    settings(whole, &http.defaults, out)?;
    for rule in table.rules().iter().filter(|rule| !base.rules().contains(rule)) {
        write!(out, "\n[[http.rule]]\nname = {}\nmethod = {}\n", quoted(rule.name()), quoted(rule.method()))?;
        if !rule.hosts().is_empty() {
            let hosts: Vec<String> = rule.hosts().iter().map(|host| quoted(&host.to_string())).collect();
            writeln!(out, "hosts = [{}]", hosts.join(", "))?;
        }
        writeln!(out, "path = {}", quoted(&rule.path().to_string()))?;
        let own = http.own.iter().find(|section| *section.name == *rule.name());
        let is_written = own.is_none_or(|own| own.origins.iter().any(|(field, _)| *field == "class"));
        if let Some(class) = class(rule, is_written) {
            writeln!(out, "{class}")?;
        }
        if let Some(hedgeable) = rule.is_hedgeable() {
            writeln!(out, "hedgeable = {hedgeable}")?;
        }
        if let Some(own) = own {
            settings(whole, own, out)?;
        }
    }
    Ok(())
}

/// The base whose rules stand last in the table, as they are; those of Cloud Storage are for its hosts alone, and come from nowhere
/// else.
fn base_of(table: &IdempotencyTable) -> (&'static str, IdempotencyTable) {
    let methods = IdempotencyTable::http_methods();
    if table.is_of_storage() {
        ("storage", IdempotencyTable::storage())
    } else if table.rules().ends_with(methods.rules()) {
        ("http-methods", methods)
    } else {
        ("none", IdempotencyTable::new())
    }
}

/// The class, if it is written or not the one that the method has anyway.
fn class(rule: &IdempotencyRule, is_written: bool) -> Option<String> {
    match rule.class() {
        class if !is_written && *class == OperationClass::of_method(rule.method()) => None,
        OperationClass::Always => Some("class = \"always\"".to_owned()),
        OperationClass::Never => Some("class = \"never\"".to_owned()),
        OperationClass::ByMethod(_) => None,
        OperationClass::Conditional(any) => {
            let any: Vec<String> = any.iter().map(condition).collect();
            Some(format!("if_any = [{}]", any.join(", ")))
        }
    }
}

/// The settings as they are written, and the findings that are allowed.
fn settings(whole: &RetryTable, section: &HttpSection, out: &mut dyn fmt::Write) -> fmt::Result {
    section.written.iter().filter_map(inline_field).try_for_each(|line| writeln!(out, "{line}"))?;
    let is_here = |suppression: &&Suppression| {
        let is_in_file = suppression.origin().file() == section.origin.file();
        is_in_file && suppression.extent.as_ref().is_some_and(|extent| *extent == section.extent)
    };
    let allowed: Vec<String> = whole.suppressions().filter(is_here).map(allowed).collect();
    if allowed.is_empty() { Ok(()) } else { writeln!(out, "allow = [{}]", allowed.join(", ")) }
}

fn condition(condition: &Precondition) -> String {
    format!("{{ {} = {} }}", condition.part(), quoted(condition.name()))
}

/// That the rules are lost.
pub(super) fn lost_rules() -> Finding {
    let finding =
        Finding::new("not-expressible", Severity::Warning, "http of the file can't be expressed there");
    finding.with_help("only TOML can express it")
}

//! The settings of HTTP requests, which TOML alone has a place for.

use super::text::quoted;
use crate::{Finding, Severity};
use gax_retry::http::{IdempotencyTable, OperationClass, Precondition};
use std::fmt;

/// Writes the rules after a text in TOML, each written out, but for those of Cloud Storage as they are: these are for its hosts
/// alone, and come from the base.
pub(super) fn add_rules(table: &IdempotencyTable, out: &mut dyn fmt::Write) -> fmt::Result {
    let base = if table.is_of_storage() { IdempotencyTable::storage() } else { IdempotencyTable::new() };
    let is_own = |prefix: &&str| base.prefixes().all(|known| known != *prefix);
    let prefixes: Vec<String> = table.prefixes().filter(is_own).map(quoted).collect();
    out.write_str("\n[http]\n")?;
    if table.is_of_storage() {
        let hosts: Vec<String> = table.hosts().map(quoted).collect();
        write!(out, "base = \"storage\"\nhosts = [{}]\n", hosts.join(", "))?;
    }
    writeln!(out, "prefixes = [{}]", prefixes.join(", "))?;
    for rule in table.rules().iter().filter(|rule| !base.rules().contains(rule)) {
        let class = match rule.class() {
            OperationClass::Always => "class = \"always\"".to_owned(),
            OperationClass::Never => "class = \"never\"".to_owned(),
            OperationClass::Conditional(any) => {
                let any: Vec<String> = any.iter().map(condition).collect();
                format!("if_any = [{}]", any.join(", "))
            }
        };
        write!(
            out,
            "\n[[http.rule]]\nname = {}\nmethod = {}\npath = {}\n{class}\n",
            quoted(rule.name()),
            quoted(rule.method()),
            quoted(&rule.path().to_string()),
        )?;
        if let Some(hedgeable) = rule.is_hedgeable() {
            writeln!(out, "hedgeable = {hedgeable}")?;
        }
    }
    Ok(())
}

fn condition(condition: &Precondition) -> String {
    format!("{{ {} = {} }}", condition.part(), quoted(condition.name()))
}

/// That the rules are lost.
pub(super) fn lost_rules() -> Finding {
    let finding = Finding::new("not-expressible", Severity::Warning, "http of the file can't be said there");
    finding.with_help("only TOML has a place for it")
}

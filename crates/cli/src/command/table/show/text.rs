//! A table for people.

use crate::command::table::view::{HttpView, MethodView, short_place};
use crate::failure::Failure;
use crate::render::{Align, Cell, DIM, Grid, HEAD, grouped, table};
use gax_retry::http::HostPattern;
use gax_table::{HttpRule, HttpTable, RetryTable};
use gax_text::Escaped;
use std::io::Write;

/// Writes the methods, those of which the table says the same together.
pub(super) fn render(methods: &[MethodView<'_>], out: &mut dyn Write) -> Result<(), Failure> {
    // By the entry, and what stands next to it.
    let keyed = methods.iter().map(|method| ((method.entry(), method.sentences()), method));
    for (_, group) in grouped(keyed) {
        for method in &group {
            writeln!(out, "{HEAD}{}{HEAD:#}", Escaped(method.name()))?;
        }
        if let Some(method) = group.first() {
            writeln!(out, "{method}")?;
        }
    }
    Ok(())
}

/// Writes what the table says of HTTP requests: the settings of all, the rules, and the settings of single rules.
pub(super) fn render_http(table: &RetryTable, http: &HttpTable, out: &mut dyn Write) -> Result<(), Failure> {
    writeln!(out, "{HEAD}HTTP requests{HEAD:#}")?;
    match http.policy_of(None) {
        Some(policy) => writeln!(out, "{}", HttpView::new(table, policy))?,
        None => writeln!(out, "  the table has no settings for all of them\n")?,
    }
    let (own, others): (Vec<_>, Vec<_>) = http.rules().partition(|rule| rule.origin().is_some());
    if !own.is_empty() {
        let mut rows = rules_table();
        for rule in &own {
            rows.push(row(rule));
        }
        writeln!(out, "{}", self::table(&rows, 2))?;
    }
    if !others.is_empty() {
        let these = if own.is_empty() { "all of them" } else { "what matches none of these" };
        writeln!(out, "  {these}: {} rules of the base, which --format json lists\n", others.len())?;
    }
    for rule in own.iter().filter(|rule| rule.has_own_policy()) {
        let Some(policy) = rule.policy() else { continue };
        writeln!(out, "{HEAD}{}{HEAD:#}", Escaped(rule.rule().name()))?;
        let place = rule.origin().map(short_place).unwrap_or_default();
        let (method, path) = (rule.rule().method(), rule.rule().path());
        writeln!(out, "  {DIM}{} {} at {}{DIM:#}", Escaped(method), Escaped(path), Escaped(place))?;
        writeln!(out, "{}", HttpView::new(table, policy))?;
    }
    Ok(())
}

fn rules_table() -> Grid {
    let columns = ["rule", "method", "host", "path", "safe to retry"];
    Grid::new(columns.map(|column| (column, Align::Left)))
}

fn row(rule: &HttpRule<'_>) -> [Cell; 5] {
    let rule = rule.rule();
    let hosts: Vec<String> = rule.hosts().iter().map(HostPattern::to_string).collect();
    let hosts = if hosts.is_empty() { "any".to_owned() } else { hosts.join(", ") };
    let (path, class) = (rule.path().to_string(), rule.class().to_string());
    [rule.name(), rule.method(), &hosts, &path, &class].map(Cell::from)
}

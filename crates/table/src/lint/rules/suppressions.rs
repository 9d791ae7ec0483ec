//! Suppressions if there is nothing to suppress.

use crate::lint::rule::{Needs, Rule, declare};
use crate::{Finding, Suppression};
use gax_text::closest;
use std::collections::HashSet;

declare! {
    UNUSED_ALLOW: "unused-allow", Warning, Table,
        "a suppression without a finding",
        "Remove the suppression, or correct the rule's name.";
}

/// The findings about suppressions that are for nothing. One for a rule that could not be applied is left alone.
pub(in crate::lint) fn unused_suppressions(
    suppressions: &[&Suppression],
    used: &HashSet<usize>,
    rules: &[&Rule],
    knows_services: bool,
) -> Vec<Finding> {
    let mut unused = Vec::new();
    for (number, suppression) in suppressions.iter().enumerate() {
        let rule = rules.iter().find(|rule| rule.id() == suppression.rule());
        let (message, help) = match rule {
            None => {
                let close = closest(suppression.rule(), rules.iter().map(|rule| rule.id()));
                let help = close.map_or("remove it".to_owned(), |close| format!("did you mean {close}?"));
                (format!("there is no rule {:?}", suppression.rule()), help)
            }
            Some(rule) if !is_applied(rule, knows_services) || used.contains(&number) => continue,
            Some(rule) => (format!("{rule} finds nothing here"), "remove the suppression".to_owned()),
        };
        let finding = Finding::new(UNUSED_ALLOW.id(), UNUSED_ALLOW.severity(), message);
        unused.push(finding.with_help(help).at(suppression.origin().clone()));
    }
    unused
}

/// Returns whether the rule has been applied for sure.
fn is_applied(rule: &Rule, knows_services: bool) -> bool {
    match rule.needs() {
        Needs::Table => true,
        Needs::Services => knows_services,
        Needs::Text | Needs::Siblings | Needs::MaxLoad => false,
    }
}

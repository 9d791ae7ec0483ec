//! Findings as they come up.

use super::rule::Rule;
use super::subject::{EntryView, Rpc};
use crate::{Finding, PolicyField, SourceLocation, TableName};
use gax_retry::{Code, CodeSet};
use std::borrow::Cow;

/// The findings of the rules.
#[derive(Debug, Default)]
pub(super) struct Report {
    findings: Vec<Finding>,
}

/// Where a finding points, and which method or service it is about.
#[derive(Debug, Clone, Default)]
pub(super) struct Place<'a> {
    origin: Option<&'a SourceLocation>,
    name: Option<String>,
}

impl Report {
    /// Adds a finding: what is the matter, and what to do.
    pub(super) fn add(
        &mut self,
        rule: &Rule,
        place: Place<'_>,
        message: impl Into<String>,
        help: impl Into<Cow<'static, str>>,
    ) {
        let finding = Finding::new(rule.id(), rule.severity(), message).with_help(help);
        let finding = finding.at(place.origin.cloned());
        self.findings.push(match place.name {
            Some(name) => finding.about(name),
            None => finding,
        });
    }

    /// Takes in the findings of another one.
    #[cfg(feature = "http")]
    pub(super) fn extend(&mut self, findings: impl Iterator<Item = Finding>) {
        self.findings.extend(findings);
    }

    pub(super) fn into_findings(self) -> Vec<Finding> {
        self.findings
    }
}

impl<'a> Place<'a> {
    /// A name: its method, else its service.
    pub(super) fn name(name: &TableName<'a>) -> Self {
        Self { origin: name.origin(), name: Some(name.to_string()) }
    }

    /// The service of a name.
    pub(super) fn service(name: &TableName<'a>) -> Self {
        Self { origin: name.service_origin(), name: Some(name.to_string()) }
    }

    /// A value of an entry or, where the entry does not give it, its first name.
    pub(super) fn value(entry: &EntryView<'a>, field: PolicyField) -> Self {
        let own = entry.policy.origin_of(field);
        Self { origin: own.or(Self::entry(entry).origin), name: entry.only_name() }
    }

    /// The first of these codes in an entry's list.
    pub(super) fn code(entry: &EntryView<'a>, codes: CodeSet) -> Self {
        let is_meant = |code: &Code| codes.contains(*code);
        let mut origins =
            Code::ALL.into_iter().filter(is_meant).filter_map(|code| entry.policy.origin_of_code(code));
        let first = origins.next().map(|first| {
            origins.fold(
                first,
                |first, other| if other.span().start < first.span().start { other } else { first },
            )
        });
        let list = Self::value(entry, PolicyField::RetryableCodes);
        Self { origin: first.or(list.origin), ..list }
    }

    /// An entry as a whole: its first name.
    pub(super) fn entry(entry: &EntryView<'a>) -> Self {
        let first = entry.names.first().and_then(TableName::origin);
        Self { origin: first.or(entry.policy.origin()), name: entry.only_name() }
    }

    /// A method: where the table names it or, if it does not, its service.
    pub(super) fn method(rpc: &Rpc<'a>) -> Self {
        Self { origin: rpc.origin(), name: Some(rpc.full_name()) }
    }

    /// A place of what has that name.
    #[cfg(feature = "http")]
    pub(super) fn named(origin: &'a SourceLocation, name: String) -> Self {
        Self { origin: Some(origin), name: Some(name) }
    }

    /// The place of something that counts for all calls together.
    pub(super) fn of(origin: Option<&'a SourceLocation>) -> Self {
        Self { origin, name: None }
    }

    /// Something that the table does not name, next to that name.
    pub(super) fn beside(name: Option<&TableName<'a>>, missing: String) -> Self {
        Self { origin: name.and_then(TableName::service_origin), name: Some(missing) }
    }
}

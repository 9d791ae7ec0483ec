//! Which of a table's suppressions are for a finding.

use crate::{Finding, RetryTable, Suppression};
use std::collections::HashMap;

/// The suppressions of a table, found by rule and place.
#[derive(Debug)]
pub(super) struct Suppressions<'a> {
    all: Vec<&'a Suppression>,
    /// Per rule the numbers of those for whole files.
    of_files: HashMap<&'a str, Vec<usize>>,
    /// Per rule the numbers of those for entries, in the order of the text.
    of_entries: HashMap<&'a str, Vec<usize>>,
}

impl<'a> Suppressions<'a> {
    pub(super) fn new(table: &'a RetryTable) -> Self {
        let all: Vec<&Suppression> = table.suppressions().collect();
        let (mut of_files, mut of_entries) = (HashMap::<_, Vec<_>>::new(), HashMap::<_, Vec<_>>::new());
        for (number, suppression) in all.iter().enumerate() {
            let by_rule = if suppression.extent.is_some() { &mut of_entries } else { &mut of_files };
            by_rule.entry(suppression.rule()).or_default().push(number);
        }
        for numbers in of_entries.values_mut() {
            numbers.sort_by_key(|number| all.get(*number).map(|suppression| start(suppression)));
        }
        Self { all, of_files, of_entries }
    }

    /// The numbers of those that are for a finding.
    pub(super) fn of(&self, finding: &Finding) -> Vec<usize> {
        let covers = |number: &&usize| {
            let suppression = self.all.get(**number);
            suppression.is_some_and(|suppression| suppression.covers(finding.rule(), finding.origin()))
        };
        let of_files = self.of_files.get(finding.rule()).into_iter().flatten();
        let place = finding.origin().map(|origin| origin.span().start);
        let of_entries = self.of_entries.get(finding.rule()).zip(place).map(|(numbers, place)| {
            let start = |number: &usize| self.all.get(*number).map_or(0, |suppression| start(suppression));
            let after = numbers.partition_point(|number| start(number) <= place);
            let last = numbers.get(after.saturating_sub(1)).map_or(0, start);
            let first = numbers.partition_point(|number| start(number) < last);
            numbers.get(first..after).unwrap_or_default()
        });
        of_files.chain(of_entries.into_iter().flatten()).filter(covers).copied().collect()
    }

    /// All of them, by their numbers.
    pub(super) fn all(&self) -> &[&'a Suppression] {
        &self.all
    }
}

/// Where what a suppression is for begins.
fn start(suppression: &Suppression) -> usize {
    suppression.extent.as_ref().map_or(0, |extent| extent.start)
}

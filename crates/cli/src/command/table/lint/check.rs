//! The findings of all files.

use super::config::{Config, Ignore};
use crate::command::table::source::Loaded;
use crate::failure::{Failure, usage};
use crate::input::Input;
use crate::render::grouped;
use gax_table::clients::{self, Client, ClientOptions};
use gax_table::lint::{Linter, Needs, Rule, Target, rules, sibling_drift};
use gax_table::{Finding, RetryTable, Severity, TableError};
use gax_text::closest;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// All findings.
#[derive(Debug, Default)]
pub(super) struct Checked {
    pub(super) findings: Vec<Finding>,
    /// How many findings a `gax.toml` ignores.
    pub(super) ignored: usize,
}

/// A `gax.toml`, or none, with the linter that does as it says.
struct Rulings {
    config: Option<Config>,
    linter: Linter,
    used: BTreeSet<usize>,
}

/// The findings of all files, file by file, by the `gax.toml` of each.
pub(super) fn check(
    inputs: &[Loaded],
    linter: &Linter,
    knows_services: bool,
    are_one: bool,
    clients: &[Client],
) -> Result<Checked, Failure> {
    let mut rulings: BTreeMap<Option<PathBuf>, Rulings> = BTreeMap::new();
    let mut checked = Checked::default();
    let tables: Vec<RetryTable> =
        inputs.iter().filter_map(|file| file.table.as_ref().ok().cloned()).collect();
    // A finding about what no table says belongs to the first one.
    let first = inputs.first().map(|file| file.input.name.as_str()).unwrap_or_default();
    let by_file = |findings: Vec<Finding>| -> BTreeMap<String, Vec<Finding>> {
        let file =
            |finding: &Finding| finding.origin().and_then(|origin| origin.file()).unwrap_or(first).to_owned();
        grouped(findings.into_iter().map(|finding| (file(&finding), finding))).into_iter().collect()
    };
    let mut merged = BTreeMap::new();
    if are_one {
        let table = RetryTable::merged(tables.iter().cloned()).map_err(|error| usage!("{error}"))?;
        merged = by_file(linter.run(&table));
    }
    let mut drift = if tables.len() > 1 { by_file(sibling_drift(&tables)) } else { BTreeMap::new() };
    for file in inputs {
        let path = Path::new(&file.input.name);
        let config = Config::path_for(path);
        let rulings = match rulings.entry(config.clone()) {
            std::collections::btree_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::btree_map::Entry::Vacant(place) => place.insert(Rulings::read(config, linter)?),
        };
        let mut found = match &file.table {
            Ok(_) if are_one => rulings.linter.apply(merged.remove(&file.input.name).unwrap_or_default()),
            _ => findings_of(file, &rulings.linter),
        };
        if is_service_config(&file.input) {
            let mut named = clients.to_vec();
            let own = rulings.config.iter().flat_map(|config| &config.clients);
            named.extend(own.filter(|client| !clients.contains(client)));
            let (name, text, options) = (&file.input.name, &file.input.content, ClientOptions::default());
            let read = |client: &Client| client.read_file(Some(name), text, &options, None, None);
            let others = if named.is_empty() {
                let worst = clients::disagreement(&Client::ALL.each_ref().map(read));
                worst.filter(|worst| !is_said(&found, worst)).into_iter().collect()
            } else {
                clients::findings(&named.iter().map(read).collect::<Vec<_>>())
            };
            found.extend(rulings.linter.apply(others));
        }
        let table = file.table.as_ref().ok();
        let drift = drift.remove(&file.input.name).unwrap_or_default();
        let drift = drift
            .into_iter()
            .filter(|finding| table.is_none_or(|table| table.suppression_for(finding).is_none()));
        found.extend(rulings.linter.apply(drift.collect()));
        let all = found.len();
        found.retain(|finding| rulings.is_left(finding, table, path));
        checked.ignored += all - found.len();
        let was_applied = |rule: &Rule| match rule.needs() {
            Needs::Services => knows_services,
            Needs::Siblings => tables.len() > 1,
            Needs::MaxLoad => false,
            _ => true,
        };
        found.extend(rulings.linter.apply(rulings.unused(path, was_applied)));
        checked.findings.extend(found);
    }
    let files: Vec<&str> = inputs.iter().map(|file| file.input.name.as_str()).collect();
    for rulings in rulings.values() {
        checked.findings.extend(rulings.linter.apply(rulings.selecting_nothing(&files, &tables)));
    }
    Ok(checked)
}

impl Rulings {
    fn read(path: Option<PathBuf>, linter: &Linter) -> Result<Self, Failure> {
        let config = path.map(|path| Config::read(&path)).transpose()?;
        let mut linter = linter.clone();
        if let Some(config) = &config {
            linter = config.deny.iter().fold(linter, |linter, target| linter.deny(*target));
            linter = config.allow.iter().fold(linter, |linter, target| linter.allow(*target));
        }
        Ok(Self { config, linter, used: BTreeSet::new() })
    }

    /// Returns whether nothing ignores a finding.
    fn is_left(&mut self, finding: &Finding, table: Option<&RetryTable>, file: &Path) -> bool {
        let Some(config) = &self.config else { return true };
        let ignoring = config.ignoring(finding, table, file);
        let is_left = ignoring.is_empty();
        self.used.extend(ignoring);
        is_left
    }

    /// Findings that are ignored in that file and were not found there, though they were looked for.
    fn unused(&self, file: &Path, was_applied: impl Fn(&Rule) -> bool) -> Vec<Finding> {
        let config = self.config.iter();
        let unused = config.flat_map(|config| config.expected(file)).filter(|(number, _, rule)| {
            let rule = rules().find(|known| known.id() == *rule);
            !self.used.contains(number) && rule.is_some_and(&was_applied)
        });
        let finding = |(_, ignore, rule): (usize, &Ignore, &str)| {
            let file = file.display();
            unused_allow(format!("{} ignores {rule} in {file}, where it is not found", ignore.place), None)
        };
        unused.map(finding).collect()
    }

    /// Findings about what ignores nothing since no file has that path, or since a name is nearly one of the tables'.
    fn selecting_nothing(&self, files: &[&str], tables: &[RetryTable]) -> Vec<Finding> {
        let Some(config) = &self.config else { return Vec::new() };
        let names: BTreeSet<String> =
            tables.iter().flat_map(RetryTable::names).map(|name| name.to_string()).collect();
        let unused = config.ignores.iter().enumerate().filter(|(number, _)| !self.used.contains(number));
        let finding = |(_, ignore): (usize, &Ignore)| {
            let place = &ignore.place;
            let Target::Rule(rule) = ignore.rule else { return None };
            if let Some(path) = config.missing(ignore, files) {
                let message = format!("{place} ignores {rule} in {path}, which is no file");
                return Some(unused_allow(message, closest(path, files.iter().copied())));
            }
            let name = ignore.name().filter(|name| !names.contains(*name))?;
            let close = closest(name, names.iter().map(String::as_str))?;
            let message = format!("{place} ignores {rule} for {name}, which no table names");
            Some(unused_allow(message, Some(close)))
        };
        unused.filter_map(finding).collect()
    }
}

fn unused_allow(message: String, close: Option<&str>) -> Finding {
    let finding = Finding::new("unused-allow", Severity::Warning, message);
    match close {
        Some(close) => finding.with_help(format!("did you mean {close:?}?")),
        None => finding.with_help("remove it from gax.toml"),
    }
}

/// Returns whether a warning is about the same line already, but for those that only another reader refuses the file.
fn is_said(found: &[Finding], other: &Finding) -> bool {
    let line = |finding: &Finding| finding.origin().map(gax_table::SourceLocation::line);
    let counts = |known: &&Finding| {
        let is_refusal = ["dropped-file", "refused-by-grpc", "refused-by-gax-java"].contains(&known.rule());
        known.severity() >= Severity::Warning && !is_refusal
    };
    found.iter().filter(counts).any(|known| line(known) == line(other))
}

/// Returns whether a file is meant for gRPC's own clients.
fn is_service_config(input: &Input) -> bool {
    let text = input.text();
    let is_toml = Path::new(&input.name).extension().is_some_and(|ending| ending == "toml");
    let is_json = !is_toml && text.trim_start().starts_with(['{', '[', '/', '#']);
    is_json && ["ethodConfig", "ethod_config"].iter().any(|field| text.contains(field))
}

fn findings_of(file: &Loaded, linter: &Linter) -> Vec<Finding> {
    match &file.table {
        Ok(table) => linter.run(table),
        Err(error) => {
            let finding = |error: &TableError| {
                Finding::new("unreadable-table", Severity::Error, error.message()).at_error(error)
            };
            linter.apply(std::iter::once(error).chain(error.others()).map(finding).collect())
        }
    }
}

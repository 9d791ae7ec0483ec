//! `gax.toml`: what is denied, allowed and ignored in the tables next to it and below.

use super::rule_or_severity;
use crate::failure::{Failure, usage};
use crate::input::from_root;
use crate::value::parsed;
use gax_table::clients::Client;
use gax_table::lint::Target;
use gax_table::{Finding, RetryTable};
use gax_text::Escaped;
use glob::{MatchOptions, Pattern};
use serde::Deserialize;
use std::fs;
use std::path::{Path, PathBuf};
use toml::Spanned;

/// Its name.
const NAME: &str = "gax.toml";

/// A `gax.toml`.
#[derive(Debug)]
pub(super) struct Config {
    /// The folder that it is in.
    folder: PathBuf,
    pub(super) deny: Vec<Target>,
    pub(super) allow: Vec<Target>,
    pub(super) clients: Vec<Client>,
    pub(super) ignores: Vec<Ignore>,
}

/// Findings that are left out, for a reason.
#[derive(Debug)]
pub(super) struct Ignore {
    /// `None`: in all files.
    file: Option<Pattern>,
    pub(super) rule: Target,
    /// A method, or a service with all its methods; `None`: whatever a finding is about.
    name: Option<String>,
    /// Where it stands: file and line.
    pub(super) place: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    lint: Lint,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Lint {
    deny: Vec<Spanned<String>>,
    allow: Vec<Spanned<String>>,
    client: Vec<Spanned<String>>,
    ignore: Vec<IgnoreTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct IgnoreTable {
    rule: Spanned<String>,
    file: Option<Spanned<String>>,
    name: Option<String>,
    reason: Spanned<String>,
}

/// A `gax.toml` that is being read.
struct Reader<'a> {
    path: &'a Path,
    text: &'a str,
}

impl Config {
    /// Where the `gax.toml` is that counts for a table: next to it, or in a folder above. Folders above that of a
    /// Git repository don't count.
    pub(super) fn path_for(table: &Path) -> Option<PathBuf> {
        let absolute = from_root(table).ok()?;
        for folder in absolute.ancestors().skip(1) {
            let path = folder.join(NAME);
            if path.is_file() {
                return Some(path);
            }
            if folder.join(".git").exists() {
                return None;
            }
        }
        None
    }

    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let unreadable = |error| usage!("can't read {} ({error})", path.display());
        let text = fs::read_to_string(path).map_err(unreadable)?;
        let reader = Reader { path, text: &text };
        let File { lint } = toml::from_str(&text)
            .map_err(|error| reader.fault(error.span().unwrap_or_default().start, error.message()))?;
        let targets = |names: &[Spanned<String>]| -> Result<Vec<Target>, Failure> {
            names.iter().map(|name| reader.named(name, rule_or_severity)).collect()
        };
        Ok(Self {
            folder: path.parent().unwrap_or(Path::new("")).to_owned(),
            deny: targets(&lint.deny)?,
            allow: targets(&lint.allow)?,
            clients: lint.client.iter().map(|name| reader.named(name, parsed)).collect::<Result<_, _>>()?,
            ignores: lint.ignore.iter().map(|ignore| reader.ignore(ignore)).collect::<Result<_, _>>()?,
        })
    }

    /// The numbers of what ignores a finding of that table, in that file.
    pub(super) fn ignoring(&self, finding: &Finding, table: Option<&RetryTable>, file: &Path) -> Vec<usize> {
        let numbered = self.ignores.iter().enumerate();
        let is_meant = |ignore: &Ignore| {
            let is_rule = match ignore.rule {
                Target::Rule(id) => id == finding.rule(),
                Target::Severity(severity) => severity == finding.severity(),
                _ => false,
            };
            is_rule && self.is_for(ignore, file) && ignore.is_about(finding, table)
        };
        numbered.filter(|(_, ignore)| is_meant(ignore)).map(|(number, _)| number).collect()
    }

    /// The entries that ignore findings in that very file, of that rule alone: each should ignore some.
    pub(super) fn expected(&self, file: &Path) -> impl Iterator<Item = (usize, &Ignore, &'static str)> {
        self.ignores.iter().enumerate().filter_map(move |(number, ignore)| match ignore.rule {
            Target::Rule(rule) if ignore.file.is_some() && self.is_for(ignore, file) => {
                Some((number, ignore, rule))
            }
            _ => None,
        })
    }

    /// The path that it is for, if it is none of a file: neither of those files, nor of one in the folder.
    pub(super) fn missing<'a>(&self, ignore: &'a Ignore, files: &[&str]) -> Option<&'a str> {
        let pattern = ignore.file.as_ref()?;
        let path = Path::new(&Pattern::escape(&self.folder.to_string_lossy())).join(pattern.as_str());
        let is_there = files.iter().any(|file| self.is_for(ignore, Path::new(file)))
            || glob::glob(&path.to_string_lossy()).is_ok_and(|mut found| found.next().is_some());
        (!is_there).then_some(pattern.as_str())
    }

    fn is_for(&self, ignore: &Ignore, file: &Path) -> bool {
        let Some(pattern) = &ignore.file else { return true };
        let options = MatchOptions { require_literal_separator: true, ..MatchOptions::new() };
        let relative = from_root(file).ok();
        let relative = relative.as_deref().and_then(|path| path.strip_prefix(&self.folder).ok());
        relative.is_some_and(|relative| pattern.matches_path_with(relative, options))
    }
}

impl Ignore {
    /// The method or the service that it is for.
    pub(super) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns whether a finding is about what the ignore names: the finding itself says so, or its entry has that name.
    fn is_about(&self, finding: &Finding, table: Option<&RetryTable>) -> bool {
        let Some(name) = &self.name else { return true };
        let is_meant = |other: &str| {
            other == name || other.strip_prefix(name).is_some_and(|method| method.starts_with('/'))
        };
        if let Some(about) = finding.name() {
            return is_meant(about);
        }
        let entry =
            table.zip(finding.origin()).and_then(|(table, origin)| Some((table, table.entry_at(origin)?)));
        entry.is_some_and(|(table, entry)| table.names_of(entry).any(|name| is_meant(&name.to_string())))
    }
}

impl Reader<'_> {
    /// A name of a rule, a severity or a client.
    fn named<T>(&self, name: &Spanned<String>, read: fn(&str) -> Result<T, String>) -> Result<T, Failure> {
        read(name.get_ref())
            .map_err(|problem| self.fault(name.span().start, &format!("{:?} {problem}", name.get_ref())))
    }

    fn ignore(&self, table: &IgnoreTable) -> Result<Ignore, Failure> {
        if table.reason.get_ref().trim().is_empty() {
            return Err(
                self.fault(table.reason.span().start, "the reason is empty; say why the finding is meant")
            );
        }
        let file = table.file.as_ref().map(|file| {
            Pattern::new(file.get_ref()).map_err(|error| {
                let problem = format!(
                    "{:?} is not a path: {}; write one with * for any name",
                    file.get_ref(),
                    error.msg
                );
                self.fault(file.span().start, &problem)
            })
        });
        let place = format!("{}:{}", self.path.display(), self.line(table.rule.span().start));
        Ok(Ignore {
            file: file.transpose()?,
            rule: self.named(&table.rule, rule_or_severity)?,
            name: table.name.clone(),
            place,
        })
    }

    fn line(&self, byte: usize) -> usize {
        self.text.get(..byte).unwrap_or_default().matches('\n').count() + 1
    }

    fn fault(&self, byte: usize, problem: &str) -> Failure {
        let problem = Escaped(problem.trim().replace('\n', ", ")).to_string();
        usage!("{}:{}: {problem}", self.path.display(), self.line(byte))
    }
}

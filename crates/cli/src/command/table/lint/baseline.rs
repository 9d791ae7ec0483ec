//! Findings that are known: a file lists them, and only others are reported.

use crate::command::pretty_json;
use crate::failure::{Failure, usage};
use crate::input::from_root;
use gax_table::Finding;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The findings that a baseline lists, each as often as it may come.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Baseline {
    findings: Vec<KnownFinding>,
}

#[derive(Debug, Serialize, Deserialize)]
struct KnownFinding {
    #[serde(flatten)]
    key: Key,
    count: usize,
}

/// Identifies a finding, wherever in its file it stands.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Key {
    /// As seen from the baseline.
    file: Option<String>,
    rule: String,
    name: Option<String>,
    message: String,
}

impl Baseline {
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let fault = |problem: String| {
            usage!("--baseline: {problem}; write one with --write-baseline {}", path.display())
        };
        let text = fs::read_to_string(path)
            .map_err(|error| fault(format!("can't read {} ({error})", path.display())))?;
        serde_json::from_str(&text)
            .map_err(|error| fault(format!("{} is not a baseline ({error})", path.display())))
    }

    /// Writes these findings as those that are known.
    pub(super) fn write(findings: &[Finding], path: &Path) -> Result<(), Failure> {
        let mut counts: BTreeMap<Key, usize> = BTreeMap::new();
        for finding in findings {
            *counts.entry(Key::of(finding, path)).or_default() += 1;
        }
        let findings = counts.into_iter().map(|(key, count)| KnownFinding { key, count }).collect();
        fs::write(path, pretty_json(&Self { findings })?).map_err(|error| {
            usage!("--write-baseline: can't write {} ({error}); name another file", path.display())
        })
    }

    /// The findings that are not known, how many are, and how many of the known ones did not come.
    pub(super) fn split(self, findings: Vec<Finding>, path: &Path) -> (Vec<Finding>, usize, usize) {
        let mut left: BTreeMap<Key, usize> = BTreeMap::new();
        for KnownFinding { key, count } in self.findings {
            *left.entry(key).or_default() += count;
        }
        let mut known = 0;
        let is_new = |finding: &Finding| match left.get_mut(&Key::of(finding, path)) {
            Some(count) if *count > 0 => {
                *count -= 1;
                known += 1;
                false
            }
            _ => true,
        };
        let new = findings.into_iter().filter(is_new).collect();
        (new, known, left.values().sum())
    }
}

impl Key {
    fn of(finding: &Finding, baseline: &Path) -> Self {
        let file = finding.origin().and_then(|origin| origin.file());
        Self {
            file: file.map(|file| relative(Path::new(file), baseline)),
            rule: finding.rule().to_owned(),
            name: finding.name().map(str::to_owned),
            message: without_places(finding.message()),
        }
    }
}

/// A path as seen from the folder of the baseline.
fn relative(file: &Path, baseline: &Path) -> String {
    let absolute = |path: &Path| from_root(path).unwrap_or_else(|_| path.to_owned());
    let (file, baseline) = (absolute(file), absolute(baseline));
    let folder = baseline.parent().unwrap_or(Path::new(""));
    file.strip_prefix(folder).unwrap_or(&file).to_string_lossy().replace('\\', "/")
}

/// A message without the place that it names at its end or in brackets: lines move.
fn without_places(message: &str) -> String {
    match message.split_once(" (at ").and_then(|(before, after)| Some((before, after.split_once(')')?.1))) {
        Some((before, after)) => format!("{before}{after}"),
        None => message.to_owned(),
    }
}

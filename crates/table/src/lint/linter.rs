//! Runs the rules.

use super::report::Report;
use super::rule::Rule;
use super::rules::{check, check_load, rules, unused_suppressions};
use super::subject::Subject;
use super::suppressed::Suppressions;
use crate::{Finding, RetryTable, ServiceDescription, Severity, SourceLocation};
use gax_text::closest;
use std::collections::HashSet;
use std::str::FromStr;

/// Checks retry tables by the [rules](super::rules).
///
/// # Defaults
///
/// | option | default |
/// | --- | --- |
/// | `services` | not known: the rules that need them say nothing |
/// | `imported` | none |
/// | `allow` | nothing |
/// | `deny` | nothing |
/// | `max_load` | any load is allowed |
///
/// # Examples
///
/// ```
/// use gax_table::{RetryTable, Severity};
/// use gax_table::lint::Linter;
///
/// let text = r#"{"methodConfig": [{"name": [{"service": "a.B"}], "timeout": "2s"}]}"#;
/// let findings = Linter::new().deny("short-timeout".parse()?).run(&RetryTable::parse(text)?);
/// assert_eq!(findings[0].severity(), Severity::Error);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
#[must_use = "findings come from run()"]
pub struct Linter {
    services: Option<Vec<ServiceDescription>>,
    imported: Vec<ServiceDescription>,
    allowed: Vec<Target>,
    denied: Vec<Target>,
    max_load: Option<f64>,
}

/// The findings that are allowed or denied: those of one rule, or all findings of a severity and above.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Target {
    /// The rule of that name.
    Rule(&'static str),
    /// Findings of this severity; if they are denied, graver ones too.
    Severity(Severity),
}

impl Linter {
    /// A linter that knows no services, and allows and denies nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// The services that the tables are for, so that the rules that need them can tell.
    pub fn services(mut self, services: impl IntoIterator<Item = ServiceDescription>) -> Self {
        self.services = Some(services.into_iter().collect());
        self
    }

    /// Further services that a table may name, without having to: those of imported protos.
    pub fn imported(mut self, services: impl IntoIterator<Item = ServiceDescription>) -> Self {
        self.imported.extend(services);
        self
    }

    /// Leaves findings out. May be called several times.
    pub fn allow(mut self, target: Target) -> Self {
        self.allowed.push(target);
        self
    }

    /// Makes findings errors. May be called several times; what is allowed stays allowed.
    pub fn deny(mut self, target: Target) -> Self {
        self.denied.push(target);
        self
    }

    /// How often a service may get a call, on average, while it refuses every attempt immediately: an entry that leads to
    /// more is an error, `outage-load`. That is [`Impact::load`](gax_retry::plan::Impact::load) or, with retry throttling,
    /// [`throttled_load`](gax_retry::plan::Impact::throttled_load). Default: any load is allowed, since many published tables
    /// lead to more than 20. NaN allows any load.
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_table::RetryTable;
    /// use gax_table::lint::Linter;
    ///
    /// let table = RetryTable::parse(
    ///     r#"{"methodConfig": [{
    ///         "name": [{"service": "a.B"}],
    ///         "timeout": "60s",
    ///         "retryPolicy": {
    ///             "maxAttempts": 5, "initialBackoff": "0.1s", "maxBackoff": "10s", "backoffMultiplier": 1.3,
    ///             "retryableStatusCodes": ["UNAVAILABLE"]
    ///         }
    ///     }]}"#,
    /// )?;
    /// assert!(Linter::new().max_load(5.0).run(&table).is_empty());
    /// assert_eq!(Linter::new().max_load(4.0).run(&table)[0].rule(), "outage-load");
    /// # Ok::<(), gax_table::TableError>(())
    /// ```
    pub fn max_load(mut self, load: f64) -> Self {
        self.max_load = Some(load);
        self
    }

    /// The findings about a table, in the order of its text; those without a place come last. What the table itself
    /// [allows](crate::Suppression) is left out.
    #[must_use]
    pub fn run(&self, table: &RetryTable) -> Vec<Finding> {
        let subject = Subject::new(table, self.services.as_deref(), &self.imported);
        let mut report = Report::default();
        check(&subject, &mut report);
        if let Some(most) = self.max_load {
            check_load(&subject, most, &mut report);
        }
        let unusable = table.unusable_entries(self.services.as_deref().unwrap_or_default());
        let unusable: HashSet<_> = unusable.iter().map(|error| error.origin().map(place_of)).collect();
        let findings = table.findings().iter().cloned().map(|finding| {
            let is_harmful =
                finding.rule() == "skipped-entry" && unusable.contains(&finding.origin().map(place_of));
            if is_harmful { finding.with_severity(Severity::Error) } else { finding }
        });
        let mut findings: Vec<Finding> = findings.collect();
        findings.extend(report.into_findings());
        let mut findings = self.without_consequences(table, findings);
        let suppressions = Suppressions::new(table);
        let mut used = HashSet::new();
        findings.retain(|finding| {
            let numbers = suppressions.of(finding);
            used.extend(&numbers);
            numbers.is_empty()
        });
        let all: Vec<&Rule> = rules().collect();
        findings.extend(unused_suppressions(suppressions.all(), &used, &all, self.services.is_some()));
        self.apply(findings)
    }

    /// One finding for each mistake: that of a reader which refuses the file joins the finding at its place, unless it is denied, and
    /// what an entry lacks is not said again where a field of it is misspelt.
    fn without_consequences(&self, table: &RetryTable, mut findings: Vec<Finding>) -> Vec<Finding> {
        let entry = |finding: &Finding| finding.origin().and_then(|origin| table.entry_at(origin));
        let misspelt: HashSet<_> =
            findings.iter().filter(|finding| finding.rule() == "unknown-field").filter_map(entry).collect();
        let too_low: HashSet<_> = findings
            .iter()
            .filter(|finding| finding.rule() == "max-below-initial")
            .map(|finding| finding.origin().map(|origin| origin.span().start))
            .collect();
        findings.retain(|finding| {
            let is_missing = MISSING.contains(&finding.rule());
            let is_twice = finding.rule() == "max-equals-initial"
                && too_low.contains(&finding.origin().map(|origin| origin.span().start));
            !(is_twice || is_missing && entry(finding).is_some_and(|entry| misspelt.contains(&entry)))
        });
        for (rule, consequence) in REFUSALS {
            if self.denied.contains(&Target::Rule(rule)) {
                continue;
            }
            let refusal =
                findings.iter().find(|finding| finding.rule() == rule && finding.origin().is_some());
            let Some(refusal) = refusal.cloned() else { continue };
            let is_reason = |finding: &&mut Finding| {
                finding.origin() == refusal.origin()
                    && REFUSALS.iter().all(|(refusal, _)| *refusal != finding.rule())
            };
            let Some(reason) = findings.iter_mut().find(is_reason) else { continue };
            let severity = refusal.severity().max(reason.severity());
            let help = match reason.help() {
                Some(help) if help.contains(consequence) => help.to_owned(),
                Some(help) => format!("{help} ({consequence})"),
                None => consequence.to_owned(),
            };
            *reason = reason.clone().with_help(help).with_severity(severity);
            findings.retain(|finding| *finding != refusal);
        }
        findings
    }

    /// Findings that were made elsewhere, allowed or denied and put in order as [`run`](Self::run) does.
    #[must_use]
    pub fn apply(&self, findings: Vec<Finding>) -> Vec<Finding> {
        let mut kept: Vec<Finding> = findings
            .into_iter()
            .filter(|finding| !self.allowed.iter().any(|target| target.is(finding)))
            .map(|finding| {
                let denied = self.denied.iter().any(|target| target.reaches(&finding));
                if denied { finding.with_severity(Severity::Error) } else { finding }
            })
            .collect();
        kept.sort_by(|one, other| place(one).cmp(&place(other)));
        without_repeats(kept)
    }
}

/// The order of findings: by their file, then their place in it.
fn place(finding: &Finding) -> (bool, Option<&str>, usize) {
    let origin = finding.origin();
    (origin.is_none(), origin.and_then(SourceLocation::file), origin.map_or(0, |origin| origin.span().start))
}

/// Rules about other readers that refuse a file, and what follows for the help of the finding that says why.
const REFUSALS: [(&str, &str); 3] = [
    ("refused-by-grpc", "gRPC itself rejects the whole file"),
    ("dropped-file", "Google's Java generator drops the whole file without a message"),
    ("refused-by-gax-java", "Google's Java generator stops, or its client fails"),
];
/// Rules about what a policy lacks, and the rule about fields that have other names.
const MISSING: [&str; 2] = ["no-codes", "missing-backoff"];

/// Findings in their order, of those that say the same of a place the first.
fn without_repeats(mut findings: Vec<Finding>) -> Vec<Finding> {
    let mut seen = HashSet::with_capacity(findings.len());
    let is_first =
        findings.iter().map(|finding| seen.insert((finding.rule(), place(finding), finding.message())));
    let mut is_first = is_first.collect::<Vec<bool>>().into_iter();
    findings.retain(|_| is_first.next().unwrap_or(true));
    findings
}

fn place_of(origin: &SourceLocation) -> (Option<&str>, usize) {
    (origin.file(), origin.span().start)
}

impl Target {
    fn is(self, finding: &Finding) -> bool {
        match self {
            Target::Rule(id) => id == finding.rule(),
            Target::Severity(severity) => severity == finding.severity(),
        }
    }

    fn reaches(self, finding: &Finding) -> bool {
        self.is(finding) || matches!(self, Target::Severity(severity) if severity <= finding.severity())
    }
}

impl FromStr for Target {
    type Err = UnknownTargetError;

    /// Reads a rule's name, or `note`, `warning` or `error`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let severities =
            [("note", Severity::Note), ("warning", Severity::Warning), ("error", Severity::Error)];
        let severities = severities.map(|(name, severity)| (name, Self::Severity(severity)));
        let targets = || severities.into_iter().chain(rules().map(Rule::id).map(|id| (id, Self::Rule(id))));
        let target = targets().find(|(name, _)| *name == text).map(|(_, target)| target);
        target.ok_or_else(|| UnknownTargetError {
            text: text.to_owned(),
            suggestion: closest(text, targets().map(|(name, _)| name)).map(str::to_owned),
        })
    }
}

/// A text that names neither a rule nor a severity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownTargetError {
    text: String,
    suggestion: Option<String>,
}

gax_text::error_text! { UnknownTargetError { text, suggestion }, "{text:?} is neither a rule nor a severity{}", advice(suggestion.as_deref()) }

impl UnknownTargetError {
    /// The rule or severity with a similar name.
    #[must_use]
    pub fn suggestion(&self) -> Option<&str> {
        self.suggestion.as_deref()
    }
}

fn advice(suggestion: Option<&str>) -> String {
    suggestion.map_or_else(String::new, |name| format!("; did you mean {name}?"))
}

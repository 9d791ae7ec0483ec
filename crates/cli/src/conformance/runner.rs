//! Takes lines, runs the cases on them and keeps count.

use super::bare::bare;
use super::case::{Callable, Case, Polled, Recorded, Streaming, Unary, Validated};
use super::compare::{Difference, Extent, difference};
use super::drive;
use super::fault::{Fault, shortened};
use super::record::Record;
use super::summary::{CaseFailure, Problem, Summary};
use gax_retry::gax_java::RawSettings;
use serde_json::Value;
use std::fmt;

/// Runs recorded cases, line by line or file by file, and keeps count of them.
///
/// See [the module](crate::conformance) for the form of a case.
#[derive(Debug, Default)]
pub(crate) struct Runner {
    summary: Summary,
    file: Option<String>,
    line: usize,
}

impl Runner {
    /// A runner without any cases so far.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Runs all cases of a file. Its name is for the messages.
    ///
    /// # Errors
    ///
    /// The first line that is no case, or a file without any case. The cases before it are counted.
    pub(crate) fn run_file(&mut self, name: &str, content: &[u8]) -> Result<(), NotCases> {
        self.file = Some(name.to_owned());
        self.line = 0;
        let before = self.summary.total();
        for line in content.split(|byte| *byte == b'\n') {
            let Ok(line) = std::str::from_utf8(line) else {
                self.line += 1;
                return Err(self.not_cases("it is not UTF-8".to_owned()));
            };
            self.run_line(line)?;
        }
        if self.summary.total() == before {
            return Err(NotCases { file: self.file.clone(), line: None, reason: String::new() });
        }
        Ok(())
    }

    /// Runs the case on one line. An empty line is passed over.
    ///
    /// # Errors
    ///
    /// The line is no case: not a JSON object, or one that has no `kind`.
    pub(crate) fn run_line(&mut self, line: &str) -> Result<(), NotCases> {
        self.line += 1;
        let line = line.trim_start_matches('\u{feff}').trim();
        if line.is_empty() {
            return Ok(());
        }
        let case: Value = serde_json::from_str(line).map_err(|error| self.not_cases(error.to_string()))?;
        let Some(kind) = case.get("kind").and_then(Value::as_str) else {
            let reason = if case.is_object() { "it has no \"kind\"" } else { "it is not a JSON object" };
            return Err(self.not_cases(reason.to_owned()));
        };
        self.run_case(kind, &case);
        Ok(())
    }

    /// The results of the cases so far.
    pub(crate) fn summary(&self) -> &Summary {
        &self.summary
    }

    fn run_case(&mut self, kind: &str, case: &Value) {
        let label =
            |name: &str| case.get(name).and_then(Value::as_str).map(|text| shortened(text.to_owned()));
        let id = label("id").unwrap_or_else(|| "a case without an id".to_owned());
        let category = label("category").unwrap_or_else(|| "none".to_owned());
        let kind_label = shortened(kind.to_owned());
        let counts = self.summary.category(&kind_label, &category);
        let problems = match outcomes(kind, case) {
            Ok(outcomes) => {
                let passed = outcomes.differences.is_empty();
                counts.count(passed, outcomes.compared, outcomes.traced);
                outcomes.differences.into_iter().map(Problem::Different).collect()
            }
            Err(fault) => {
                counts.count_unreadable();
                vec![Problem::Unreadable(fault)]
            }
        };
        for problem in problems {
            self.summary.add(CaseFailure {
                id: id.clone(),
                kind: kind_label.clone(),
                category: category.clone(),
                file: self.file.clone(),
                line: self.line,
                problem,
            });
        }
    }

    fn not_cases(&self, reason: String) -> NotCases {
        NotCases { file: self.file.clone(), line: Some(self.line), reason }
    }
}

/// A file, or a line of it, that isn't a recorded case.
#[derive(Debug)]
pub(crate) struct NotCases {
    file: Option<String>,
    /// The line that is no case; `None` if the whole file has none.
    line: Option<usize>,
    reason: String,
}

impl fmt::Display for NotCases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, reason } = self;
        match (file, line) {
            (Some(file), Some(line)) => write!(f, "{file}:{line} is not a recorded case: {reason}"),
            (None, Some(line)) => write!(f, "line {line} is not a recorded case: {reason}"),
            (file, None) => write!(f, "{} holds no recorded case", file.as_deref().unwrap_or("the file")),
        }
    }
}

/// The comparisons of a case.
#[derive(Default)]
struct Outcomes {
    differences: Vec<Difference>,
    compared: usize,
    traced: usize,
}

impl Outcomes {
    fn add(&mut self, difference: Option<Difference>) {
        self.compared += 1;
        self.differences.extend(difference);
    }

    fn compare(&mut self, place: &str, expected: &Recorded, got: Option<&Record>, extent: Extent) {
        let is_traced = |record: Option<&Record>| record.is_some_and(|record| record.tracer.is_some());
        self.traced += usize::from(is_traced(expected.as_ref()) && is_traced(got));
        self.add(difference(place, expected.as_ref(), got, extent));
    }
}

fn outcomes(kind: &str, case: &Value) -> Result<Outcomes, Fault> {
    match Case::read(kind, case)? {
        Case::Unary(case) => unary(&case),
        Case::Streaming(case) => streaming(&case),
        Case::Poll(case) => poll(&case),
        Case::Validate(case) => Ok(validate(&case)),
    }
}

fn unary(case: &Unary) -> Result<Outcomes, Fault> {
    // The algorithm alone has no call contexts.
    let needs_bare = case.context.is_none() || matches!(case.callable, Callable::Same);
    if case.bare.is_none() && needs_bare {
        return Err(Fault("expected is missing".to_owned()));
    }
    let mut outcomes = Outcomes::default();
    outcomes.differences.extend(logical_timeout(&case.settings));
    if let Some(expected) = &case.bare {
        outcomes.compare("expected", expected, bare(case)?.as_ref(), Extent::Whole);
    }
    let got = drive::callable(case)?;
    match (&case.callable, &case.bare) {
        (Callable::Recorded(expected), _) => {
            outcomes.compare("expected_callable", expected, got.as_ref(), Extent::Attempts);
        }
        (Callable::Same, Some(record)) => {
            let place = "expected_callable (the same as expected)";
            outcomes.add(difference(place, record.as_ref(), got.as_ref(), Extent::AsCalled));
        }
        (Callable::Same, None) => {}
    }
    Ok(outcomes)
}

fn streaming(case: &Streaming) -> Result<Outcomes, Fault> {
    let mut outcomes = Outcomes::default();
    outcomes.differences.extend(logical_timeout(&case.settings));
    outcomes.compare("expected", &case.expected, drive::streaming(case)?.as_ref(), Extent::Attempts);
    Ok(outcomes)
}

fn poll(case: &Polled) -> Result<Outcomes, Fault> {
    let mut outcomes = Outcomes::default();
    outcomes.differences.extend(logical_timeout(&case.settings));
    outcomes.compare("expected", &case.expected, drive::poll(case)?.as_ref(), Extent::Attempts);
    Ok(outcomes)
}

fn validate(case: &Validated) -> Outcomes {
    let mut outcomes = Outcomes::default();
    outcomes.differences.extend(logical_timeout(&case.settings));
    let error = case.settings.raw.validate().err().map(|error| error.to_string());
    let ok = error.is_none();
    let difference = if case.ok == ok {
        let text = |error: Option<String>| error.unwrap_or_else(|| "null".to_owned());
        (case.error != error).then(|| Difference::new("error", text(case.error.clone()), text(error)))
    } else {
        Some(Difference::new("ok", case.ok, ok))
    };
    outcomes.add(difference);
    outcomes
}

/// Settings made with `setLogicalTimeout` are recorded with what came of it.
fn logical_timeout(settings: &super::case::Settings) -> Option<Difference> {
    let mut made = settings.raw.clone();
    made.set_logical_timeout(settings.logical_timeout_us?);
    let RawSettings { total_timeout_us, initial_rpc_timeout_us, max_rpc_timeout_us, .. } = settings.raw;
    let checks = [
        ("total_timeout_us", total_timeout_us, made.total_timeout_us),
        ("initial_rpc_timeout_us", initial_rpc_timeout_us, made.initial_rpc_timeout_us),
        ("max_rpc_timeout_us", max_rpc_timeout_us, made.max_rpc_timeout_us),
    ];
    let field = checks.into_iter().find(|(_, recorded, made)| recorded != made);
    if let Some((field, recorded, made)) = field {
        return Some(Difference::new(format!("settings.{field}"), recorded, made));
    }
    let (recorded, made) = (settings.raw.rpc_timeout_multiplier, made.rpc_timeout_multiplier);
    (recorded.to_bits() != made.to_bits())
        .then(|| Difference::new("settings.rpc_timeout_multiplier", recorded, made))
}

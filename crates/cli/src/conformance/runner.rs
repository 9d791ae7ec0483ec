//! Takes files, runs the cases in them and keeps count.

use super::bare::bare;
use super::case::{Callable, Case, Recorded, Unary, Validated, shortened};
use super::compare::{Difference, Extent, difference};
use super::drive;
use super::record::Record;
use super::summary::{CaseFailure, Summary};
use gax_retry::gax_java::RawSettings;
use gax_text::Escaped;
use serde_json::Value;

impl Summary {
    /// Runs all cases of a file. Its name is for the messages.
    ///
    /// # Errors
    ///
    /// The first line that is no case (it is not a JSON object, or one without a `kind`), or a file without any case. The cases
    /// before it are counted.
    pub(crate) fn run_file(&mut self, name: &str, content: &[u8]) -> Result<(), String> {
        let before = self.total();
        for (line, text) in (1..).zip(content.split(|byte| *byte == b'\n')) {
            let not_cases = |reason: &str| format!("{name}:{line} is not a recorded case: {reason}");
            let text = std::str::from_utf8(text).map_err(|_| not_cases("it is not UTF-8"))?;
            let text = text.trim_start_matches('\u{feff}').trim();
            if text.is_empty() {
                continue;
            }
            let case: Value = serde_json::from_str(text).map_err(|error| not_cases(&error.to_string()))?;
            let Some(kind) = case.get("kind").and_then(Value::as_str) else {
                let reason = if case.is_object() { "it has no \"kind\"" } else { "it is not a JSON object" };
                return Err(not_cases(reason));
            };
            self.run_case(kind, &case, name, line);
        }
        if self.total() == before {
            return Err(format!("{name} holds no recorded case"));
        }
        Ok(())
    }

    fn run_case(&mut self, kind: &str, case: &Value, file: &str, line: usize) {
        let label = |name: &str| case.get(name).and_then(Value::as_str).map(shortened);
        let id = label("id").unwrap_or_else(|| "a case without an id".to_owned());
        let category = label("category").unwrap_or_else(|| "none".to_owned());
        let kind_label = shortened(kind);
        let outcomes = outcomes(kind, case);
        let labels = [&*id, &*kind_label, &*category];
        let place = format!("{} ({}:{line})", Escaped(&id), Escaped(file));
        let counts = self.categories.entry((kind_label.clone(), category.clone())).or_default();
        let failures: Vec<CaseFailure> = match outcomes {
            Ok(outcomes) => {
                counts.compared += outcomes.compared;
                counts.traced += outcomes.traced;
                let failure = |difference: Difference| {
                    CaseFailure::new(labels, line, format!("{place}: {difference}")).with(difference)
                };
                outcomes.differences.into_iter().map(failure).collect()
            }
            Err(reason) => {
                counts.unreadable += 1;
                vec![CaseFailure::new(labels, line, format!("{place}: {}", Escaped(&reason)))]
            }
        };
        let ended = if failures.is_empty() { &mut counts.passed } else { &mut counts.failed };
        *ended += 1;
        self.failures.extend(failures);
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

fn outcomes(kind: &str, case: &Value) -> Result<Outcomes, String> {
    let case = Case::read(kind, case)?;
    let mut outcomes = Outcomes::default();
    outcomes.differences.extend(logical_timeout(case.settings()));
    let extent = Extent::Attempts;
    match case {
        Case::Unary(case) => unary(&case, &mut outcomes)?,
        Case::Streaming(case) => {
            outcomes.compare("expected", &case.expected, drive::streaming(&case)?.as_ref(), extent);
        }
        Case::Poll(case) => {
            outcomes.compare("expected", &case.expected, drive::poll(&case)?.as_ref(), extent);
        }
        Case::Validate(case) => outcomes.add(validate(&case)),
    }
    Ok(outcomes)
}

fn unary(case: &Unary, outcomes: &mut Outcomes) -> Result<(), String> {
    // The algorithm alone has no call contexts.
    let needs_bare = case.context.is_none() || matches!(case.callable, Callable::Same);
    if case.bare.is_none() && needs_bare {
        return Err("expected is missing".to_owned());
    }
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
    Ok(())
}

fn validate(case: &Validated) -> Option<Difference> {
    let error = case.settings.raw.validate().err().map(|error| error.to_string());
    let ok = error.is_none();
    if case.ok != ok {
        return Some(Difference::new("ok", case.ok, ok));
    }
    let text = |error: Option<String>| error.unwrap_or_else(|| "null".to_owned());
    (case.error != error).then(|| Difference::new("error", text(case.error.clone()), text(error)))
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

//! A case of the suite, and what a client made of it.

use crate::command::serve::{EARLY, Seen, between};
use crate::failure::{Failure, usage};
use crate::folder::files_in;
use crate::input::Input;
use crate::render::Ms;
use gax_testing::{Arrival, Script};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::Duration;

/// How much later an attempt may arrive: clients and machines are slow.
const SLACK: Duration = Duration::from_millis(250);

/// A case, as its file has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    #[serde(skip)]
    pub(super) name: String,
    /// The paragraph that it is about.
    cite: String,
    /// Its text.
    says: String,
    /// Why the text leaves room, if it does.
    unclear: Option<String>,
    /// The client's service config.
    pub(super) config: String,
    #[serde(deserialize_with = "script")]
    pub(super) script: Script,
    attempts: usize,
    /// Before each attempt but the first, the least and the most milliseconds.
    #[serde(default)]
    gaps: Vec<(u64, u64)>,
    /// The value of each attempt's header; -1: it has none.
    #[serde(default)]
    previous: Vec<i64>,
}

/// The result of a case.
#[derive(Serialize)]
pub(super) struct Verdict {
    pub(super) name: String,
    pub(super) cite: String,
    pub(super) says: String,
    pub(super) unclear: Option<String>,
    pub(super) attempts: usize,
    pub(super) gaps_ms: Vec<Ms>,
    pub(super) differences: Vec<String>,
}

fn script<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Script, D::Error> {
    String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
}

impl Case {
    /// All cases in a folder, in the order of their names.
    pub(super) fn all(folder: &Path) -> Result<Vec<Self>, Failure> {
        let wrong = |problem: String| usage!("{}: {problem}", folder.display());
        let files = files_in(folder)
            .map_err(|error| wrong(format!("can't be read ({error}); name the folder of a suite")))?;
        let files = files.iter().filter(|path| path.extension().is_some_and(|extension| extension == "toml"));
        let cases = files.map(|path| {
            let input = Input::read(path, "a case")?;
            let mut case: Self = toml::from_str(&input.text())
                .map_err(|error| usage!("{}: {}", input.name, error.message()))?;
            case.name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            Ok(case)
        });
        let cases = cases.collect::<Result<Vec<_>, Failure>>()?;
        if cases.is_empty() {
            Err(wrong("has no cases; name the folder of a suite".to_owned()))
        } else {
            Ok(cases)
        }
    }

    /// Compares what arrived with what the text says.
    pub(super) fn judge(self, arrivals: &[Arrival]) -> Verdict {
        let seen = Seen::all(&arrivals.iter().collect::<Vec<_>>());
        let mut differences = Vec::new();
        if seen.len() != self.attempts {
            differences.push(format!("{} attempts, by the text {}", seen.len(), self.attempts));
        }
        let gaps: Vec<Ms> = seen.iter().filter_map(|seen| seen.gap_ms).collect();
        for (index, (gap, (low, high))) in gaps.iter().zip(&self.gaps).enumerate() {
            let (low, high) = (Duration::from_millis(*low), Duration::from_millis(*high));
            if gap.0 + EARLY < low || gap.0 > high + SLACK {
                let number = index + 2;
                differences
                    .push(format!("attempt {number} came after {gap}, by the text {}", between(low, high)));
            }
        }
        for (seen, expected) in seen.iter().zip(&self.previous) {
            let found = seen.previous_attempts.and_then(|count| i64::try_from(count).ok()).unwrap_or(-1);
            if found != *expected {
                let words = |count: i64| if count < 0 { "none".to_owned() } else { count.to_string() };
                differences.push(format!(
                    "attempt {} says that {} were made before it, by the text {}",
                    seen.attempt,
                    words(found),
                    words(*expected)
                ));
            }
        }
        let Self { name, cite, says, unclear, .. } = self;
        Verdict { name, cite, says, unclear, attempts: seen.len(), gaps_ms: gaps, differences }
    }
}

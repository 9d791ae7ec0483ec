//! How each dialect reads the method.

use crate::command::table::hedged::most_attempts;
use crate::command::table::methods::{code_names, recoverable_codes};
use crate::render::{Ms, times};
use gax_retry::plan::Impact;
use gax_table::{Dialect, RetryTable, TableError};
use serde::Serialize;

/// What a dialect makes of the method.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Reader {
    pub(super) dialect: &'static str,
    pub(super) codes: Option<Vec<&'static str>>,
    pub(super) total_timeout_ms: Option<Ms>,
    pub(super) max_attempts: Option<u32>,
    pub(super) worst_case_ms: Option<Ms>,
    pub(super) load: Option<f64>,
    pub(super) load_capped: Option<bool>,
    #[serde(skip)]
    pub(super) load_text: String,
    pub(super) problem: Option<String>,
}

impl Reader {
    /// One that makes nothing of it.
    fn with_problem(dialect: Dialect, problem: String) -> Self {
        Self {
            dialect: dialect.as_str(),
            codes: None,
            total_timeout_ms: None,
            max_attempts: None,
            worst_case_ms: None,
            load: None,
            load_capped: None,
            load_text: "-".to_owned(),
            problem: Some(problem),
        }
    }

    /// One that does not take the file.
    pub(super) fn refusing(dialect: Dialect, error: &TableError) -> Self {
        let place = error.origin().map_or_else(String::new, |origin| format!(" (line {})", origin.line()));
        Self::with_problem(dialect, format!("refuses the whole file: {}{place}", error.message()))
    }

    /// What the table, read in that dialect, says of the method.
    pub(super) fn of_table(table: &RetryTable, dialect: Dialect, service: &str, method: &str) -> Self {
        if table.findings().iter().any(|finding| finding.rule() == "dropped-file") {
            return Self::with_problem(dialect, "drops the file in silence".to_owned());
        }
        let Some(policy) = table.lookup(service, method).filter(|policy| policy.entry().is_some()) else {
            return Self::with_problem(dialect, "has nothing for the method".to_owned());
        };
        let impact = Impact::of(&policy.to_policy(dialect.compatibility()));
        Self {
            dialect: dialect.as_str(),
            codes: Some(code_names(recoverable_codes(policy))),
            total_timeout_ms: policy.settings().total_timeout().map(Ms),
            max_attempts: match policy.hedging() {
                Some(_) => Some(most_attempts(&impact)),
                None => policy.settings().max_attempts(),
            },
            worst_case_ms: impact.worst_case().map(Ms),
            load: Some(impact.load()),
            load_capped: Some(impact.is_load_capped()),
            load_text: times(&impact),
            problem: None,
        }
    }
}

//! How each dialect reads the method.

use crate::command::table::by_policy::ByPolicy;
use crate::command::table::view::{MethodView, code_names};
use crate::render::{Ms, times};
use gax_retry::RetrySettings;
use gax_table::{Dialect, RetryTable, TableError};
use serde::Serialize;

/// A method as a dialect reads it.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Reader {
    pub(super) dialect: &'static str,
    pub(super) codes: Option<Vec<&'static str>>,
    pub(super) total_timeout_ms: Option<Ms>,
    pub(super) max_attempts: Option<u32>,
    pub(super) worst_case_ms: Option<Ms>,
    load: Option<f64>,
    load_capped: Option<bool>,
    #[serde(skip)]
    pub(super) load_text: String,
    /// Why it has nothing for the method.
    pub(super) problem: Option<String>,
}

impl Reader {
    fn with_problem(dialect: Dialect, problem: impl Into<String>) -> Self {
        Self { dialect: dialect.as_str(), problem: Some(problem.into()), ..Self::default() }
    }

    /// One that does not take the file.
    pub(super) fn refusing(dialect: Dialect, error: &TableError) -> Self {
        let place = error.origin().map_or_else(String::new, |origin| format!(" (line {})", origin.line()));
        Self::with_problem(dialect, format!("rejects the whole file: {}{place}", error.message()))
    }

    /// One that has read the table.
    pub(super) fn of_table(table: &RetryTable, dialect: Dialect, service: &str, method: &str) -> Self {
        if table.findings().iter().any(|finding| finding.rule() == "dropped-file") {
            return Self::with_problem(dialect, "drops the file without a message");
        }
        let view = MethodView::new(table, service, method).estimated(&mut ByPolicy::new());
        let Some(impact) = view.impact() else {
            return Self::with_problem(dialect, "has nothing for the method");
        };
        Self {
            dialect: dialect.as_str(),
            codes: Some(code_names(view.codes())),
            total_timeout_ms: view.settings().and_then(RetrySettings::total_timeout).map(Ms),
            max_attempts: view.max_attempts(),
            worst_case_ms: impact.worst_case().map(Ms),
            load: Some(impact.load()),
            load_capped: Some(impact.is_load_capped()),
            load_text: times(impact),
            problem: None,
        }
    }
}

//! The settings of HTTP requests, for people and for programs.

use super::json::{hedging_members, ms};
use super::method_view::MethodView;
use super::text::{refused, settings_table};
use super::words::{count_limit, delay, limit, line_of, or_none, rpc_timeout, short_place};
use crate::render::{Cell, Grid, Ordered, Role, table};
use gax_retry::http::{TransportFailure, TransportFailures};
use gax_retry::{AttemptPlan, NoJitter, Policy};
use gax_table::{HttpPolicy, PolicyField, RetryTable};
use serde::{Serialize, Serializer};
use serde_json::json;
use std::fmt;

/// The settings of HTTP requests. It serialises to the form of `gax table show --format json`, and prints as `gax table show` does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HttpView<'a> {
    table: &'a RetryTable,
    pub(crate) policy: HttpPolicy<'a>,
}

impl<'a> HttpView<'a> {
    pub(crate) fn new(table: &'a RetryTable, policy: HttpPolicy<'a>) -> Self {
        Self { table, policy }
    }

    /// The policy that requests run by which are retried.
    pub(crate) fn to_policy(self) -> Policy {
        let policy = self.policy.policy().to_policy(self.table.dialect().compatibility()).with_hedging(None);
        match self.policy.applies_retry_after() {
            Some(heeded) => policy.with_server_delays(heeded),
            None => policy,
        }
    }

    /// The policy that requests run by which may run twice at once.
    pub(crate) fn to_hedged_policy(self) -> Policy {
        self.to_policy().with_hedging(self.policy.hedging())
    }

    pub(crate) fn failures(self) -> Vec<&'static str> {
        let of = |failures: TransportFailures| {
            TransportFailure::ALL
                .iter()
                .filter(move |kind| failures.contains(**kind))
                .map(|kind| kind.as_str())
        };
        of(self.policy.transport_failures()).collect()
    }

    /// Each setting with its value and its line.
    pub(crate) fn settings(self) -> Grid {
        let (policy, settings) = (self.policy.policy(), self.policy.settings());
        let statuses_line = self.policy.origin_of_statuses().map(short_place).unwrap_or_default();
        let attempts = count_limit(settings.max_attempts());
        let line = |field| line_of(policy, field);
        let mut rows = vec![
            ("statuses", or_none(self.policy.statuses().to_string()), statuses_line),
            ("failures", or_none(self.failures().join(", ")), String::new()),
            ("total timeout", limit(settings.total_timeout()), line(PolicyField::TotalTimeout)),
            ("attempt timeout", rpc_timeout(settings), line(PolicyField::InitialRpcTimeout)),
            ("delay", delay(policy, self.table.dialect()), line(PolicyField::InitialRetryDelay)),
            ("attempts", attempts, line(PolicyField::MaxAttempts)),
        ];
        if let Some(hedging) = self.policy.hedging() {
            let text = format!("up to {} attempts, {}", hedging.max_attempts(), hedging.spacing());
            rows.push(("hedging", text, line(PolicyField::Hedging)));
        }
        if self.policy.applies_retry_after() == Some(false) {
            rows.push(("Retry-After", "not read".to_owned(), String::new()));
        }
        let only = settings.only_with_server_delay();
        if !only.is_empty() {
            rows.push(("only if delayed", only.to_string(), line(PolicyField::OnlyWithServerDelay)));
        }
        let mut grid = settings_table();
        for (name, value, line) in rows {
            grid.push([Cell::from(name), Cell::from(value), Cell::new(&line, Role::Faint)]);
        }
        grid
    }
}

impl fmt::Display for HttpView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&table(&self.settings(), 2))?;
        writeln!(f, "  {}", refused(&AttemptPlan::refused(&self.to_policy(), &mut NoJitter)))
    }
}

impl Serialize for HttpView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let view = MethodView::of_policy(self.table, Some(self.policy.policy()));
        let mut members: Vec<(&str, serde_json::Value)> = vec![
            ("statuses", json!(self.policy.statuses().iter().collect::<Vec<_>>())),
            ("failures", json!(self.failures())),
            ("retry_after", json!(self.policy.applies_retry_after())),
        ];
        let without_codes = view.members().into_iter().filter(|(name, ..)| *name != "codes");
        members.extend(without_codes.map(|(name, _, value)| (name, value)));
        let hedging = self.policy.policy().hedging().map(|policy| {
            let members = hedging_members(policy).0.into_iter();
            Ordered(members.filter(|(name, _)| *name != "non_fatal_codes").collect())
        });
        members.push(("hedging", json!(hedging)));
        let plan = AttemptPlan::refused(&self.to_policy(), &mut NoJitter);
        let starts: Vec<_> = plan.attempts().iter().map(|attempt| ms(Some(attempt.start()))).collect();
        members.push(("refused_at_ms", json!(starts)));
        serializer.collect_map(members)
    }
}

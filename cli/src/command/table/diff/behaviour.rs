//! What callers and services see of a policy.

use super::growth::Growth;
use crate::command::table::by_policy::{ByPolicy, PolicyKey};
use crate::command::table::hedged::most_attempts;
use crate::command::table::methods::recoverable_codes;
use crate::render::times;
use gax_retry::plan::Impact;
use gax_retry::{BatchingSettings, CodeSet, RetrySettings};
use gax_table::{HedgingPolicy, MethodPolicy, PolicyField, RetryTable, SourceLocation};
use std::rc::Rc;
use std::time::Duration;

/// What a method does by a table.
#[derive(Debug, Clone)]
pub(super) struct Behaviour {
    pub(super) has_entry: bool,
    /// The codes that another attempt follows.
    pub(super) codes: CodeSet,
    pub(super) total_timeout: Option<Duration>,
    pub(super) rpc_timeout: Option<Growth>,
    pub(super) delay: Option<Growth>,
    /// `None`: nothing is retried one after the other.
    pub(super) is_jittered: Option<bool>,
    pub(super) max_server_delay: Option<Duration>,
    /// The codes that another attempt follows only if the server asks for a delay.
    pub(super) only_with_server_delay: CodeSet,
    pub(super) max_attempts: Option<u32>,
    /// What the policy leads to; `None`: there is none, or it is the other table's too.
    impact: Option<Rc<Impact>>,
    pub(super) polling: Option<RetrySettings>,
    pub(super) batching: Option<BatchingSettings>,
    pub(super) hedging: Option<HedgingPolicy>,
    /// `None`: the table doesn't say.
    pub(super) idempotent: Option<bool>,
    pub(super) places: Places,
}

/// Where a table says so.
#[derive(Debug, Clone, Default)]
pub(super) struct Places {
    pub(super) entry: Option<SourceLocation>,
    pub(super) codes: Option<SourceLocation>,
    pub(super) total_timeout: Option<SourceLocation>,
    pub(super) max_server_delay: Option<SourceLocation>,
    pub(super) only_with_server_delay: Option<SourceLocation>,
    pub(super) max_attempts: Option<SourceLocation>,
    pub(super) hedging: Option<SourceLocation>,
    pub(super) idempotent: Option<SourceLocation>,
}

impl Behaviour {
    /// What each of two tables says of a method, which may have another name in the first.
    pub(super) fn of_both(
        tables: [&RetryTable; 2],
        names: [(&str, &str); 2],
        impacts: &mut ByPolicy<Impact>,
    ) -> [Self; 2] {
        let [old, new] = tables;
        let [before, now] = names;
        let [was, is] = [(old, before), (new, now)].map(|(table, (service, method))| {
            table.lookup(service, method).filter(|policy| policy.entry().is_some())
        });
        // Equal policies lead to the same.
        let is_compared = was.map(PolicyKey::from) != is.map(PolicyKey::from);
        [(old, before, was), (new, now, is)].map(|(table, name, policy)| {
            let impact = policy.filter(|_| is_compared).map(|policy| {
                impacts.get(policy, || Impact::of(&policy.to_policy(table.dialect().compatibility())))
            });
            Self::of(table, name, policy, impact)
        })
    }

    fn of(
        table: &RetryTable,
        (service, method): (&str, &str),
        policy: Option<MethodPolicy<'_>>,
        impact: Option<Rc<Impact>>,
    ) -> Self {
        let hedging = policy.and_then(|policy| policy.hedging());
        let codes = policy.map_or(CodeSet::EMPTY, recoverable_codes);
        let settings = policy.map(|policy| policy.settings());
        let max_attempts = match hedging {
            Some(_) => impact.as_deref().map(most_attempts),
            None => settings.and_then(RetrySettings::max_attempts).filter(|_| !codes.is_empty()),
        };
        let place = |field| policy.and_then(|policy| policy.origin_of(field)).cloned();
        Self {
            has_entry: policy.is_some(),
            codes,
            total_timeout: settings.and_then(RetrySettings::total_timeout),
            rpc_timeout: policy.and_then(Growth::of_rpc_timeout),
            delay: policy.and_then(|policy| Growth::of_delay(policy, table.dialect())),
            is_jittered: settings
                .filter(|_| !codes.is_empty() && hedging.is_none())
                .map(RetrySettings::jittered),
            max_server_delay: settings
                .and_then(RetrySettings::max_server_delay)
                .filter(|_| !codes.is_empty()),
            only_with_server_delay: settings
                .map(RetrySettings::only_with_server_delay)
                .unwrap_or_default()
                .iter()
                .filter(|code| codes.contains(*code))
                .collect(),
            max_attempts,
            impact,
            polling: table.polling(service, method).cloned(),
            batching: table.batching(service, method).cloned(),
            hedging: hedging.cloned(),
            idempotent: table.idempotent(service, method),
            places: Places {
                entry: policy.and_then(|policy| policy.origin()).cloned(),
                codes: place(PolicyField::RetryableCodes),
                total_timeout: place(PolicyField::TotalTimeout),
                max_server_delay: place(PolicyField::MaxServerDelay),
                only_with_server_delay: place(PolicyField::OnlyWithServerDelay),
                max_attempts: place(PolicyField::MaxAttempts),
                hedging: place(PolicyField::Hedging),
                idempotent: place(PolicyField::Idempotent),
            },
        }
    }

    /// `None`: a call may take any time.
    pub(super) fn worst_case(&self) -> Option<Duration> {
        self.impact.as_ref()?.worst_case()
    }

    /// How many attempts an outage makes of an operation, on average.
    pub(super) fn load(&self) -> f64 {
        self.impact.as_ref().map_or(1.0, |impact| impact.load())
    }

    /// That load for people.
    pub(super) fn load_text(&self) -> String {
        self.impact.as_ref().map_or_else(|| "1.0".to_owned(), |impact| times(impact))
    }

    /// When attempts start if each is refused at once, without jitter.
    pub(super) fn starts(&self) -> &[Duration] {
        self.impact.as_ref().map_or(&[], |impact| impact.refused())
    }

    pub(super) fn first_retry(&self) -> Option<Duration> {
        self.starts().get(1).copied()
    }

    /// How many attempts of a call a service gets that doesn't reply.
    pub(super) fn attempts_of_silence(&self) -> usize {
        self.impact.as_ref().map_or(1, |impact| impact.attempts_of_silence())
    }

    /// The same for people: `1 attempt`.
    pub(super) fn silence(&self) -> String {
        let attempts = self.attempts_of_silence();
        format!("{attempts} attempt{}", if attempts == 1 { "" } else { "s" })
    }
}

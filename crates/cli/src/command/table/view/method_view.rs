//! A method, with what a table says of it.

use super::words::{batching, polling};
use crate::command::table::by_policy::ByPolicy;
use crate::render::{Human, times};
use gax_retry::plan::Impact;
use gax_retry::{BatchingSettings, CodeSet, MethodKind, Policy, RetrySettings};
use gax_table::{HedgingPolicy, MethodDescription, MethodPolicy, PolicyField, RetryTable, SourceLocation};
use std::rc::Rc;
use std::time::Duration;

/// A method, or all methods of a service, with what a table says of it. A table may have thousands. It serialises to the form
/// of `gax table show --format json`, and prints as `gax table show` does.
#[derive(Debug, Clone)]
pub(crate) struct MethodView<'a> {
    pub(crate) table: &'a RetryTable,
    pub(crate) service: &'a str,
    /// Empty for all methods of the service, whose names only protos have.
    pub(crate) method: &'a str,
    /// `None`: the table has nothing.
    pub(crate) policy: Option<MethodPolicy<'a>>,
    /// By its proto, if that is known.
    description: Option<&'a MethodDescription>,
    /// Of the policy, where it has been estimated.
    impact: Option<Rc<Impact>>,
}

/// In place of the name of a method, for HTTP requests: no method is called so.
const HTTP: &str = "\0http";

/// `pkg.Service/Method`, or `pkg.Service/*`.
pub(crate) fn full_name(service: &str, method: &str) -> String {
    let method = if method.is_empty() { "*" } else { method };
    if service.is_empty() { "*".to_owned() } else { format!("{service}/{method}") }
}

/// The codes that another attempt follows.
pub(crate) fn recoverable_codes(policy: MethodPolicy<'_>) -> CodeSet {
    policy.hedging().map_or(policy.codes(), HedgingPolicy::non_fatal_codes)
}

/// How many attempts a hedged call makes at most: while the service is silent, or as it refuses them.
pub(crate) fn most_attempts(impact: &Impact) -> u32 {
    impact.load_of_silence().max(u32::try_from(impact.most_attempts()).unwrap_or(u32::MAX))
}

fn streams_responses(method: &MethodDescription) -> bool {
    matches!(method.kind(), MethodKind::ServerStreaming | MethodKind::BidiStreaming)
}

impl<'a> MethodView<'a> {
    pub(crate) fn new(table: &'a RetryTable, service: &'a str, method: &'a str) -> Self {
        let policy = table.lookup(service, method).filter(|policy| policy.entry().is_some());
        Self { table, service, method, policy, description: None, impact: None }
    }

    /// The policy of HTTP requests, which have no name.
    pub(crate) fn of_policy(table: &'a RetryTable, policy: Option<MethodPolicy<'a>>) -> Self {
        Self { policy, ..Self::new(table, "", HTTP) }
    }

    /// As the method's proto describes it.
    pub(super) fn described(self, method: &'a MethodDescription) -> Self {
        Self { description: Some(method), ..self }
    }

    /// With the impact of its policy, if it has one.
    pub(crate) fn estimated(mut self, impacts: &mut ByPolicy<Impact>) -> Self {
        let compatibility = self.table.dialect().compatibility();
        let estimate = |policy: MethodPolicy<'_>| Impact::of(&policy.to_policy(compatibility));
        self.impact = self.policy.map(|policy| impacts.get(policy, || estimate(policy)));
        self
    }

    /// The policy that calls run by.
    pub(crate) fn to_policy(&self) -> Option<Policy> {
        self.policy.map(|policy| policy.to_policy(self.table.dialect().compatibility()))
    }

    pub(crate) fn origin_of(&self, field: PolicyField) -> Option<&'a SourceLocation> {
        self.policy?.origin_of(field)
    }

    gax_text::getters! { self:
        pub(crate) name: String = full_name(self.service, self.method);

        pub(crate) entry: Option<usize> = self.policy?.entry();

        /// Where the table has its entry.
        pub(crate) origin: Option<&'a SourceLocation> = self.policy?.origin();

        pub(crate) settings: Option<&'a RetrySettings> = self.policy.map(|policy| policy.settings());

        pub(crate) hedging: Option<&'a HedgingPolicy> = self.policy?.hedging();

        /// The codes that another attempt follows.
        pub(crate) codes: CodeSet = self.policy.map_or(CodeSet::EMPTY, recoverable_codes);

        /// Of operations that it may start.
        pub(crate) polling: Option<&'a RetrySettings> = self
            .table
            .polling(self.service, self.method)
            .filter(|_| self.description.is_none_or(MethodDescription::is_long_running));

        /// Of requests that may be merged.
        pub(crate) batching: Option<&'a BatchingSettings> = self
            .table
            .batching(self.service, self.method)
            .filter(|_| self.description.is_none_or(|is| is.kind() == MethodKind::Unary && !is.returns_operation()));

        /// `None`: the table doesn't say.
        pub(crate) idempotent: Option<bool> = self.table.idempotent(self.service, self.method);

        pub(crate) impact: Option<&Impact> = self.impact.as_deref();

        /// How many attempts an outage makes of an operation, on average.
        pub(crate) load: f64 = self.impact().map_or(1.0, Impact::load);

        /// That load for people.
        pub(crate) load_text: String = self.impact().map_or_else(|| "1.0".to_owned(), times);

        /// `None`: a call may take any time.
        pub(crate) worst_case: Option<Duration> = self.impact()?.worst_case();

        /// The worst case if no server asks for a delay.
        pub(crate) worst_case_without_server_delays: Option<Duration> =
            self.impact()?.worst_case_without_server_delays();

        /// When attempts start if each is refused immediately, without jitter.
        pub(crate) starts: &[Duration] = self.impact().map_or(&[], Impact::refused);

        /// How many attempts of a call a service gets that doesn't reply.
        pub(crate) attempts_of_silence: usize = self.impact().map_or(1, Impact::attempts_of_silence);
    }

    /// Those of the codes that another attempt follows only if the server asks for a delay.
    pub(crate) fn only_with_server_delay(&self) -> CodeSet {
        let only = self.settings().map(RetrySettings::only_with_server_delay).unwrap_or_default();
        only.iter().filter(|code| self.codes().contains(*code)).collect()
    }

    /// Returns whether attempts follow one after the other.
    pub(crate) fn is_retried(&self) -> bool {
        self.hedging().is_none() && !self.codes().is_empty()
    }

    /// Returns whether delays are jittered. `None`: there are none.
    pub(crate) fn is_jittered(&self) -> Option<bool> {
        self.settings().filter(|_| self.is_retried()).map(RetrySettings::jittered)
    }

    /// By its settings; of a hedged method the most that its policy leads to.
    pub(crate) fn max_attempts(&self) -> Option<u32> {
        match self.hedging() {
            Some(_) => self.impact().map(most_attempts),
            None => self.settings().and_then(RetrySettings::max_attempts),
        }
    }

    /// Returns whether the table has more for it than an entry.
    pub(crate) fn has_more(&self) -> bool {
        self.polling().is_some() || self.batching().is_some() || self.idempotent().is_some()
    }

    /// A sentence for each thing besides retries, without its full stop.
    pub(crate) fn sentences(&self) -> Vec<String> {
        let polled =
            self.polling().map(|settings| format!("its operations are polled {}", polling(settings)));
        let batched =
            self.batching().map(|settings| format!("its requests are batched {}", batching(settings)));
        let idempotent = self.idempotent().map(|idempotent| {
            let sentence = if idempotent {
                "the table says that it is idempotent: hedging that is set in code is for it"
            } else {
                "the table says that it is not idempotent"
            };
            sentence.to_owned()
        });
        let total = self.settings().and_then(RetrySettings::total_timeout);
        let total = total.filter(|_| self.description.is_some_and(streams_responses));
        let cut = total.map(|total| {
            format!("its stream of responses is cut after {:#}, however much it has delivered", Human(total))
        });
        cut.into_iter().chain(polled).chain(batched).chain(idempotent).collect()
    }

    /// Their number for people: `1 attempt`.
    pub(crate) fn silence(&self) -> String {
        let attempts = self.attempts_of_silence();
        format!("{attempts} attempt{}", if attempts == 1 { "" } else { "s" })
    }
}

//! The settings of all RPCs of a service.

use crate::settings::call_settings::CallSettings;
use crate::settings::method_info::MethodInfo;
use crate::settings::operation_call_settings::OperationCallSettings;
use gax_retry::settings::SettingsProblem;
use gax_retry::{Code, Hedging, MethodKind, MethodPolicies, MethodSettings, RetrySettings, SettingsError};
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// The inside of a generated `StubSettings` and of its builder.
#[derive(Clone)]
pub struct StubSettings {
    methods: &'static [MethodInfo],
    calls: Vec<CallSettings>,
    /// Of the methods that start long-running operations, in their order.
    operations: Vec<OperationCallSettings>,
    /// Of these methods, where settings were applied to all: how they stood before and after.
    applied: Vec<Option<Applied>>,
}

/// The settings of an RPC before and after others were applied to it together with all RPCs.
#[derive(Clone)]
struct Applied {
    before: CallSettings,
    after: CallSettings,
}

/// Short: how many RPCs there are, and the settings of those that the program has changed.
impl fmt::Debug for StubSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let calls = self.methods.iter().zip(&self.calls);
        let changed = calls.filter(|(method, call)| **call != call_by_table(method));
        let changed: BTreeMap<_, _> = changed.map(|(method, call)| (method.name(), call)).collect();
        f.debug_struct("StubSettings")
            .field("methods", &self.methods.len())
            .field("changed", &changed)
            .finish_non_exhaustive()
    }
}

impl StubSettings {
    /// The settings of the retry table.
    #[must_use]
    pub fn new(methods: &'static [MethodInfo]) -> Self {
        let operations: Vec<_> = methods.iter().filter_map(operation_by_table).collect();
        Self {
            methods,
            calls: methods.iter().map(call_by_table).collect(),
            applied: vec![None; operations.len()],
            operations,
        }
    }

    /// The settings of an RPC, by its index.
    ///
    /// # Panics
    ///
    /// If the service has no RPC of that index. Generated code never passes one.
    #[must_use]
    pub fn call(&self, index: usize) -> &CallSettings {
        self.calls.get(index).expect("generated code indexes the methods that it was generated with")
    }

    /// The settings of an RPC, by its index, to be changed.
    ///
    /// # Panics
    ///
    /// If the service has no RPC of that index. Generated code never passes one.
    #[must_use]
    pub fn call_mut(&mut self, index: usize) -> &mut CallSettings {
        self.calls.get_mut(index).expect("generated code indexes the methods that it was generated with")
    }

    /// The settings of the operations that an RPC starts, by its index among the RPCs that start any.
    ///
    /// # Panics
    ///
    /// If the service has no such RPC of that index. Generated code never passes one.
    #[must_use]
    pub fn operation(&self, index: usize) -> &OperationCallSettings {
        self.operations.get(index).expect("generated code indexes the methods that it was generated with")
    }

    /// The settings of the operations that an RPC starts, by its index among the RPCs that start any, to be
    /// changed.
    ///
    /// # Panics
    ///
    /// If the service has no such RPC of that index. Generated code never passes one.
    #[must_use]
    pub fn operation_mut(&mut self, index: usize) -> &mut OperationCallSettings {
        self.operations.get_mut(index).expect("generated code indexes the methods that it was generated with")
    }

    /// Changes the settings of every unary RPC, paged ones included.
    pub fn apply_to_all_unary_methods(&mut self, mut apply: impl FnMut(&mut CallSettings)) {
        let by_name: Vec<CallSettings> = self.by_name().collect();
        for (method, call) in self.methods.iter().zip(&mut self.calls) {
            if method.kind().is_unary() {
                apply(call);
            }
        }
        let after = self.methods.iter().zip(&self.calls).filter(|(method, _)| method.starts_operations());
        let applied = by_name
            .into_iter()
            .zip(after)
            .map(|(before, (_, after))| Some(Applied { before, after: after.clone() }));
        self.applied = applied.collect();
    }

    /// The settings of each RPC that starts operations, as far as they are set by its name.
    fn by_name(&self) -> impl Iterator<Item = CallSettings> {
        let calls = self.methods.iter().zip(&self.calls).filter(|(method, _)| method.starts_operations());
        calls.zip(&self.applied).map(|((_, call), applied)| match applied {
            Some(applied) => call.over(&applied.after, &applied.before),
            None => call.clone(),
        })
    }

    /// The settings as they are now.
    ///
    /// # Errors
    ///
    /// One error for all RPCs to which the program has given settings that can't work: retryable codes without a total
    /// timeout or a number of attempts (nothing would be retried), `OK` among the codes, a number that isn't a code,
    /// polling without a limit (nothing would be polled), a resumption, a wait or an idle timeout of an RPC that does not
    /// respond with a stream to one message, a resumption for other messages, a wait or an idle timeout of zero. What the table says is not checked here, but by the linter.
    pub fn build(mut self) -> Result<Self, SettingsError> {
        let calls = self.methods.iter().zip(&self.calls);
        let calls = calls.filter(|(method, call)| **call != call_by_table(method));
        let calls = calls.flat_map(|(method, call)| problems(method, call));
        let table = self.methods.iter().filter_map(|method| Some((method, operation_by_table(method)?)));
        let operations = table.zip(&self.operations).filter(|((_, table), now)| table != *now);
        let operations = operations.flat_map(|((method, table), now)| {
            let start = now.initial_call_settings();
            let changed = now.is_own() && start != table.initial_call_settings();
            let start = if changed { problems(method, start) } else { Vec::new() };
            start.into_iter().chain(polling_problem(method, now.polling_settings()))
        });
        SettingsError::check(calls.chain(operations).collect())?;
        let by_name: Vec<CallSettings> = self.by_name().collect();
        for (operation, call) in self.operations.iter_mut().zip(by_name) {
            operation.follow(|| call);
        }
        Ok(self)
    }

    /// The shortest time that an RPC's first attempt has, of all RPCs that have one.
    pub(crate) fn shortest_timeout(&self) -> Option<Duration> {
        let settings = self.calls.iter().map(CallSettings::retry_settings);
        settings
            .flat_map(|settings| [settings.initial_rpc_timeout(), settings.total_timeout()])
            .flatten()
            .min()
    }

    /// The RPCs that start operations, and the settings of these.
    #[cfg(feature = "longrunning")]
    pub(crate) fn operations(&self) -> impl Iterator<Item = (&'static MethodInfo, &OperationCallSettings)> {
        self.methods.iter().filter(|method| method.starts_operations()).zip(&self.operations)
    }

    /// These settings, with those of the first call of an operation for each RPC that starts some.
    #[cfg(feature = "longrunning")]
    pub(crate) fn starting_operations(&self) -> Self {
        let mut starting = self.clone();
        let calls = starting.methods.iter().zip(&mut starting.calls);
        let calls = calls.filter(|(method, _)| method.starts_operations());
        for ((_, call), operation) in calls.zip(&starting.operations) {
            call.clone_from(operation.initial_call_settings());
        }
        starting
    }

    /// As [`ClientConfig::hedge_by_verb`](super::ClientConfig::hedge_by_verb).
    pub(crate) fn hedge_by_verb(&mut self, is_hedged: impl Fn(&str, &str) -> bool) {
        for (method, call) in self.methods.iter().zip(&mut self.calls) {
            if !is_hedged(method.service(), method.name()) {
                *call = call.clone().hedged_only_if_allowed();
            }
        }
    }

    pub(crate) fn calls(&self) -> impl Iterator<Item = (&'static MethodInfo, &CallSettings)> {
        self.methods.iter().zip(&self.calls)
    }

    /// The paths of the RPCs, by the names that a retry table has for them. Those that are mixed in have two.
    pub(crate) fn paths(&self) -> impl Iterator<Item = String> {
        self.calls().flat_map(|(method, _)| {
            let (service, own) = (method.table_service(), method.service());
            let path = |service| format!("{service}/{}", method.name());
            [Some(path(service)), (own != service).then(|| path(own))].into_iter().flatten()
        })
    }

    /// The settings of each RPC as they would be if the client had been generated with those policies. What the program has
    /// changed overrides it; but hedging that is for idempotent RPCs only is off where the policies say that the RPC is not.
    pub(crate) fn calls_by(&self, policies: &MethodPolicies) -> Vec<CallSettings> {
        let calls = self.calls().map(|(method, own)| {
            let path = format!("{}/{}", method.table_service(), method.name());
            let by_policies = policies.find(&path).cloned().map(CallSettings::from).unwrap_or_default();
            let call = own.over(&call_by_table(method), &by_policies);
            match policies.is_idempotent(&path) {
                Some(false) => call.hedged_only_if_allowed(),
                _ => call,
            }
        });
        calls.collect()
    }
}

fn call_by_table(method: &MethodInfo) -> CallSettings {
    let settings = MethodSettings::new(method.retry_settings().clone(), method.retryable_codes())
        .hedging(method.hedging().copied())
        .wait_for_ready(method.wait_for_ready())
        .stream_timeouts(method.wait_timeout(), method.idle_timeout());
    CallSettings { batching: method.batching_settings().cloned(), ..settings.into() }
}

fn operation_by_table(method: &MethodInfo) -> Option<OperationCallSettings> {
    Some(OperationCallSettings::of_table(call_by_table(method), method.polling_settings()?.clone()))
}

/// The problems of an RPC's settings: what can't work.
fn problems(method: &MethodInfo, call: &CallSettings) -> Vec<SettingsProblem> {
    const FIELD: &str = "retryable_codes";
    const NO_LIMIT: &str = "nothing is retried without a limit: set total_timeout or max_attempts";
    let codes = call.retryable_codes();
    let wrong = call.method.codes().err().map(|wrong| SettingsProblem::of_code(&wrong));
    let of_codes = |reason| SettingsProblem::new(FIELD, codes.to_string(), reason);
    let ok = codes.contains(Code::Ok).then(|| of_codes("OK is a success, which is never retried"));
    let needs_no_limit = call.resumption.as_ref().is_some_and(|resumption| resumption.is_endless);
    let is_endless = !codes.is_empty() && is_endless(call.retry_settings()) && !needs_no_limit;
    let endless = is_endless.then(|| of_codes(NO_LIMIT));
    let hedging = call.hedging().map(|hedging| hedging_problems(method, &hedging));
    let stream = stream_problems(method, call);
    let problems = [wrong, ok, endless].into_iter().flatten().chain(stream);
    let problems = problems.chain(hedging.into_iter().flatten());
    problems.map(|problem| problem.of_rpc(method.name())).collect()
}

/// The RPC is none that streams are resumed of, or watched.
const NO_STREAM: &str = "the RPC does not respond with a stream to one message";

/// Why settings of streams can't be used for that RPC.
fn stream_problems(method: &MethodInfo, call: &CallSettings) -> Vec<SettingsProblem> {
    let timeouts = if method.kind() == MethodKind::ServerStreaming {
        call.method.stream_problems()
    } else {
        let settings = &call.method;
        let timeouts = [("wait_timeout", settings.wait_timeout()), ("idle_timeout", settings.idle_timeout())];
        let problem = |(name, timeout): (_, Option<Duration>)| {
            Some(SettingsProblem::new(name, format!("{:?}", timeout?), NO_STREAM))
        };
        timeouts.into_iter().filter_map(problem).collect()
    };
    resumption_problem(method, call).into_iter().chain(timeouts).collect()
}

/// Why the resumption can't be used for that RPC.
fn resumption_problem(method: &MethodInfo, call: &CallSettings) -> Option<SettingsProblem> {
    let resumption = call.resumption.as_ref()?;
    let [request, response] = resumption.type_names();
    let of_types = format!("of {request} and {response}");
    match method.messages() {
        None => Some(SettingsProblem::new("resumption", of_types, NO_STREAM)),
        Some(messages) if resumption.is_for(messages) => None,
        Some(_) => Some(SettingsProblem::new("resumption", of_types, "the RPC has messages of other types")),
    }
}

fn hedging_problems(method: &MethodInfo, hedging: &Hedging) -> Vec<SettingsProblem> {
    const UNSAFE: &str = "neither the retry table nor the protos say that the RPC is idempotent: add \
                          allow_non_idempotent() if it may be carried out more than once";
    let may = method.is_idempotent() || hedging.allows_non_idempotent();
    let unsafe_twice = (!may).then(|| SettingsProblem::new("hedging", "set", UNSAFE));
    hedging.problems().into_iter().chain(unsafe_twice).collect()
}

fn polling_problem(method: &MethodInfo, polling: &RetrySettings) -> Option<SettingsProblem> {
    const NO_LIMIT: &str = "nothing is polled without a limit: set total_timeout or max_attempts";
    let problem =
        || SettingsProblem::new("polling_settings", "without limits", NO_LIMIT).of_rpc(method.name());
    is_endless(polling).then(problem)
}

fn is_endless(settings: &RetrySettings) -> bool {
    settings.total_timeout().is_none() && settings.max_attempts().is_none()
}

//! All that a table's files say, as one.

use crate::document::{Located, Span};
use crate::model::written::{HedgingPolicy, MethodConfig, OwnFields, RetryPolicy, ServiceConfig, Throttling};
use crate::model::{Definitions, Entry, EntryName, TableFile};
use crate::values::nanos;
use crate::{RetryTable, RetryThrottling};
use gax_retry::{CodeSet, RetrySettings};
use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

/// The entries of the files, in their order; of a name in several files only the last is kept.
pub(super) fn gather(table: &RetryTable) -> Cow<'_, ServiceConfig> {
    if let [file] = table.files() {
        return file.config.as_ref().map_or_else(|| Cow::Owned(from_entries(file)), Cow::Borrowed);
    }
    let mut all = ServiceConfig::default();
    for file in table.files() {
        let config = file.config.clone().unwrap_or_else(|| from_entries(file));
        let taken: HashSet<_> = config
            .methods
            .iter()
            .flat_map(|method| &*method.names)
            .map(|name| (&name.service, &name.method))
            .collect();
        let is_left = |name: &&EntryName| !taken.contains(&(&name.service, &name.method));
        for method in &mut all.methods {
            if !method.names.iter().all(|name| is_left(&name)) {
                method.names = method.names.iter().filter(is_left).cloned().collect();
            }
        }
        all.methods.extend(config.methods);
        all.beside.extend(config.beside);
        all.rest.extend(config.rest);
        all.suppressions.extend(config.suppressions);
        all.throttling = config.throttling.or(all.throttling);
    }
    Cow::Owned(all)
}

/// The settings of a file of another kind, or of code, in the terms of a service config.
fn from_entries(file: &TableFile) -> ServiceConfig {
    let mut config = ServiceConfig {
        methods: file.entries.iter().map(|entry| method(entry)).collect(),
        throttling: file.throttling.map(throttling),
        ..ServiceConfig::default()
    };
    let mut extras: Vec<_> = file
        .extras
        .iter()
        .flat_map(|(service, methods)| methods.iter().map(move |(method, extras)| (service, method, extras)))
        .collect();
    extras.sort_by_key(|(service, method, _)| (*service, *method));
    for (service, method, extras) in extras {
        let own = OwnFields {
            polling: extras.polling.as_deref().cloned(),
            batching: extras.batching.as_deref().cloned(),
            idempotent: extras.idempotent.map(here),
            ..OwnFields::default()
        };
        let names = Arc::new([EntryName::new(service, method)]);
        config.beside.push(MethodConfig { names, own: own.into(), ..MethodConfig::default() });
    }
    config
}

fn method(entry: &Entry) -> MethodConfig {
    let settings = &entry.settings;
    let one_timeout = settings.rpc_timeout_multiplier().to_bits() == 1.0_f64.to_bits()
        && settings.initial_rpc_timeout() == settings.total_timeout()
        && settings.max_rpc_timeout() == settings.total_timeout();
    let definitions = match &entry.definitions {
        Definitions::Named { codes, params } => Some((codes.clone(), params.clone())),
        _ => None,
    };
    let mut own = OwnFields {
        jittered: (!settings.jittered()).then(|| here(false)),
        max_server_delay: settings.max_server_delay().map(time),
        only_with_server_delay: Some(settings.only_with_server_delay())
            .filter(|codes| !codes.is_empty())
            .map(here),
        idempotent: entry.idempotent.map(here),
        wait_timeout: entry.wait_timeout.map(time),
        idle_timeout: entry.idle_timeout.map(time),
        definitions,
        ..OwnFields::default()
    };
    if !one_timeout {
        own.total_timeout = settings.total_timeout().map(time);
        own.initial_rpc_timeout = settings.initial_rpc_timeout().map(time);
        own.rpc_timeout_multiplier = Some(here(settings.rpc_timeout_multiplier()));
        own.max_rpc_timeout = settings.max_rpc_timeout().map(time);
    }
    let retries = !entry.codes.is_empty() || has_back_off(settings);
    MethodConfig {
        names: Arc::clone(&entry.names),
        timeout: settings.total_timeout().filter(|_| one_timeout).map(time),
        retry: retries.then(|| Box::new(policy(settings, entry.codes))),
        hedging: entry.hedging.as_ref().map(|hedging| {
            Box::new(HedgingPolicy {
                span: Span::default(),
                max_attempts: hedging.max_attempts().map(here),
                delay: Some(time(hedging.delay())),
                percentile: hedging.percentile().map(here),
                non_fatal_codes: Some(codes(hedging.non_fatal_codes())),
            })
        }),
        wait_for_ready: entry.wait_for_ready.map(here),
        own: own.into(),
        ..MethodConfig::default()
    }
}

fn has_back_off(settings: &RetrySettings) -> bool {
    settings.initial_retry_delay().is_some()
        || settings.max_retry_delay().is_some()
        || settings
            .retry_delay_multiplier()
            .is_some_and(|multiplier| multiplier.to_bits() != 1.0_f64.to_bits())
        || settings.max_attempts().is_some()
}

fn policy(settings: &RetrySettings, retried: CodeSet) -> RetryPolicy {
    RetryPolicy {
        span: Span::default(),
        max_attempts: settings.max_attempts().map(here),
        initial_backoff: settings.initial_retry_delay().map(time),
        max_backoff: settings.max_retry_delay().map(time),
        multiplier: settings.retry_delay_multiplier().map(here),
        codes: Some(codes(retried)),
    }
}

fn codes(codes: CodeSet) -> Located<Vec<Located<gax_retry::Code>>> {
    here(codes.iter().map(here).collect())
}

fn throttling(throttling: RetryThrottling) -> Throttling {
    Throttling {
        span: Span::default(),
        max_tokens: Some(here(throttling.max_tokens())),
        token_ratio: Some(here(throttling.token_ratio())),
    }
}

fn here<T>(value: T) -> Located<T> {
    Located { value, span: Span::default() }
}

fn time(duration: Duration) -> Located<i128> {
    here(nanos(duration))
}

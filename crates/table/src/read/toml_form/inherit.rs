//! `inherit = true`: what an entry does not say is as in the entry for its service.

use crate::TableError;
use crate::document::{Source, Span};
use crate::model::written::{MethodConfig, OwnFields, RetryPolicy};
use std::collections::HashMap;
use std::sync::Arc;

/// Fills in what the entries that inherit leave open. `heirs` are their places among the entries.
pub(super) fn fill_in(
    source: &Source,
    methods: &mut [MethodConfig],
    heirs: &[(usize, Span)],
) -> Result<(), TableError> {
    let mut defaults: HashMap<Arc<str>, MethodConfig> = HashMap::new();
    if !heirs.is_empty() {
        for method in methods.iter() {
            for name in method.names.iter().filter(|name| name.method.is_empty()) {
                defaults.insert(name.service.clone(), method.clone());
            }
        }
    }
    for (heir, span) in heirs {
        let Some(method) = methods.get_mut(*heir) else { continue };
        let service = method.names.first().map(|name| name.service.clone()).unwrap_or_default();
        let one_service = method.names.iter().all(|name| name.service == service && !name.method.is_empty());
        if service.is_empty() || !one_service {
            let help = "inherit only in an entry for methods of one service";
            return Err(source.fault(*span, "must inherit from exactly one service", help));
        }
        let Some(default) = defaults.get(&service) else {
            let problem = format!("inherits from an entry for {service}, which does not exist");
            return Err(source.fault(*span, &problem, format!("add an entry for \"{service}\"")));
        };
        complete(method, default);
    }
    Ok(())
}

fn complete(method: &mut MethodConfig, default: &MethodConfig) {
    let mut own = (*method.own).clone();
    let has_own_timeout = method.timeout.is_some();
    method.timeout = method.timeout.or(default.timeout);
    if !has_own_timeout {
        complete_timeouts(&mut own, &default.own);
    }
    own.jittered = own.jittered.or(default.own.jittered);
    own.idempotent = own.idempotent.or(default.own.idempotent);
    own.wait_timeout = own.wait_timeout.or(default.own.wait_timeout);
    own.idle_timeout = own.idle_timeout.or(default.own.idle_timeout);
    own.polling = own.polling.take().or_else(|| default.own.polling.clone());
    own.batching = own.batching.take().or_else(|| default.own.batching.clone());
    method.own = own.into();
    method.wait_for_ready = method.wait_for_ready.or(default.wait_for_ready);
    if method.hedging.is_none() && method.retry.is_none() {
        method.hedging.clone_from(&default.hedging);
    }
    method.retry = match (method.retry.take(), &default.retry) {
        (Some(own), Some(default)) => Some(Box::new(RetryPolicy {
            span: own.span,
            max_attempts: own.max_attempts.or(default.max_attempts),
            initial_backoff: own.initial_backoff.or(default.initial_backoff),
            max_backoff: own.max_backoff.or(default.max_backoff),
            multiplier: own.multiplier.or(default.multiplier),
            codes: own.codes.or_else(|| default.codes.clone()),
        })),
        (own, _) if own.is_some() || method.hedging.is_some() => own,
        (_, default) => default.clone(),
    };
}

fn complete_timeouts(own: &mut OwnFields, default: &OwnFields) {
    own.total_timeout = own.total_timeout.or(default.total_timeout);
    own.initial_rpc_timeout = own.initial_rpc_timeout.or(default.initial_rpc_timeout);
    own.rpc_timeout_multiplier = own.rpc_timeout_multiplier.or(default.rpc_timeout_multiplier);
    own.max_rpc_timeout = own.max_rpc_timeout.or(default.max_rpc_timeout);
    own.max_server_delay = own.max_server_delay.or(default.max_server_delay);
    own.only_with_server_delay = own.only_with_server_delay.or(default.only_with_server_delay);
}

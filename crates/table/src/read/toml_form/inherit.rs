//! `inherit = true`: what an entry does not say is as in the entry for its service.

use crate::TableError;
use crate::document::{Source, Span};
use crate::model::written::MethodConfig;
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
    // Takes over what isn't there.
    macro_rules! fill {
        ($own:ident from $default:expr; $($field:ident)+) => {
            $($own.$field = $own.$field.take().or_else(|| $default.$field.clone());)+
        };
    }
    let mut own = (*method.own).clone();
    if method.timeout.is_none() {
        fill! { own from default.own; total_timeout initial_rpc_timeout rpc_timeout_multiplier max_rpc_timeout }
        fill! { own from default.own; max_server_delay only_with_server_delay }
    }
    fill! { own from default.own; jittered idempotent wait_timeout idle_timeout polling batching }
    method.own = own.into();
    if method.hedging.is_none() && method.retry.is_none() {
        method.hedging.clone_from(&default.hedging);
    }
    match (&mut method.retry, &default.retry) {
        (Some(retry), Some(default)) => {
            fill! { retry from default; max_attempts initial_backoff max_backoff multiplier codes }
        }
        (None, default) if method.hedging.is_none() => method.retry.clone_from(default),
        _ => {}
    }
    fill! { method from default; timeout wait_for_ready }
}

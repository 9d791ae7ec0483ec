//! A file as each dialect reads it.

use super::as_written::{resolve_as_written, resolve_throttling};
use super::form::Form;
use super::gax_java::resolve_gax_java;
use super::grpc::{resolve_grpc, resolve_grpc_throttling};
use crate::diagnostics::Findings;
use crate::document::Source;
use crate::model::written::{MethodConfig, OwnFields, ServiceConfig};
use crate::model::{MethodExtras, TableFile};
use crate::{Dialect, TableError};
use std::collections::HashMap;
use std::sync::Arc;

/// Entries, throttling and findings of what a file says, in whichever form.
#[cfg_attr(
    not(feature = "convert"),
    expect(clippy::needless_pass_by_value, reason = "what writes tables keeps it")
)]
pub(crate) fn resolve(
    source: &Source,
    form: Form<'_>,
    config: ServiceConfig,
    dialect: Dialect,
    mut findings: Findings,
) -> Result<TableFile, TableError> {
    let throttling = config.throttling.as_ref();
    let (entries, throttling) = match dialect {
        Dialect::AsWritten => (
            resolve_as_written(source, &config, form, &mut findings)?,
            throttling.map(|throttling| resolve_throttling(source, throttling)).transpose()?,
        ),
        Dialect::GaxJava => (resolve_gax_java(source, &config, form)?, None),
        Dialect::Grpc => (
            resolve_grpc(source, form, &config, &mut findings)?,
            throttling.map(|throttling| resolve_grpc_throttling(source, throttling)).transpose()?,
        ),
    };
    let throttling_origin = config.throttling.as_ref().map(|throttling| source.origin(throttling.span));
    let extras = extras(&config);
    let beside = config.beside.iter().map(|method| Arc::clone(&method.names)).collect();
    let in_entries = config.methods.iter().chain(&config.beside).flat_map(|method| &method.own.suppressions);
    let suppressions = config.suppressions.iter().chain(in_entries).cloned().collect();
    #[cfg(feature = "convert")]
    let zero_is_unset = form.root().is_some() && dialect != Dialect::Grpc;
    #[cfg(feature = "convert")]
    let config = Some(if zero_is_unset { config.without_zero_delays() } else { config });
    Ok(TableFile {
        entries,
        suppressions,
        throttling,
        throttling_origin,
        #[cfg(feature = "convert")]
        config,
        extras,
        beside,
        findings: findings.into_vec(),
        ..TableFile::default()
    })
}

/// Settings besides retries, by method.
fn extras(config: &ServiceConfig) -> HashMap<Arc<str>, HashMap<Arc<str>, MethodExtras>> {
    let mut extras: HashMap<_, HashMap<_, MethodExtras>> = HashMap::new();
    let with_retries = config.methods.iter().map(|method| (method, None));
    let without = config.beside.iter().map(|method| (method, method.own.idempotent));
    for (MethodConfig { names, own, .. }, idempotent) in with_retries.chain(without) {
        let OwnFields { polling, batching, .. } = &**own;
        if polling.is_none() && batching.is_none() && idempotent.is_none() {
            continue;
        }
        for name in &**names {
            let of_service = extras.entry(name.service.clone()).or_default();
            let of_method = of_service.entry(name.method.clone()).or_default();
            of_method.polling = polling.clone().map(Box::new).or(of_method.polling.take());
            of_method.batching = batching.clone().map(Box::new).or(of_method.batching.take());
            of_method.idempotent = idempotent.map(|word| word.value).or(of_method.idempotent);
        }
    }
    extras
}

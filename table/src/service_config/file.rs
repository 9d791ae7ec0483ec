//! A whole service config, as each dialect reads it.

use super::as_written::{resolve_as_written, resolve_throttling};
use super::config::{MethodConfig, OwnFields, ServiceConfig};
use super::form::Form;
use super::gax_java::resolve_gax_java;
use super::grpc::{resolve_grpc, resolve_grpc_throttling};
use super::read::read_service_config;
use crate::document::{Node, Source};
use crate::findings::Findings;
use crate::retry_table::{MethodExtras, TableFile};
use crate::{Dialect, Finding, Severity, TableError};
use std::collections::HashMap;

/// Entries, throttling and findings of a service config.
pub(crate) fn read_service_config_file(
    source: &Source,
    root: &Node,
    dialect: Dialect,
    mut findings: Findings,
) -> Result<TableFile, TableError> {
    let config = match read_service_config(source, root, dialect, &mut findings) {
        Ok(config) => config,
        Err(error) if dialect == Dialect::GaxJava => return Ok(dropped_file(&error)),
        Err(error) => return Err(error),
    };
    resolve(source, Form::service_config(root), config, dialect, findings)
}

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
    let extras = extras(&config);
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
        #[cfg(feature = "convert")]
        config,
        extras,
        findings: findings.into_vec(),
        ..TableFile::default()
    })
}

/// Polling and batching by method.
fn extras(config: &ServiceConfig) -> HashMap<String, HashMap<String, MethodExtras>> {
    let mut extras: HashMap<_, HashMap<_, _>> = HashMap::new();
    for method in config.methods.iter().chain(&config.beside) {
        let MethodConfig { names, own: OwnFields { polling, batching, .. }, .. } = method;
        if polling.is_none() && batching.is_none() {
            continue;
        }
        for name in names {
            let of_service = extras.entry(name.service.clone()).or_default();
            let of_method = MethodExtras { polling: polling.clone(), batching: batching.clone() };
            of_service.insert(name.method.clone(), of_method);
        }
    }
    extras
}

/// What Google's generator makes of a file that it can't read: nothing. It does not even say so.
pub(crate) fn dropped_file(error: &TableError) -> TableFile {
    let message = format!(
        "Google's Java generator drops this file in silence, so that no method has a retry or a deadline: {}",
        error.message()
    );
    let finding = Finding::new("dropped-file", Severity::Warning, message).at(error.origin().cloned());
    let finding = match error.help() {
        Some(help) => finding.with_help(help),
        None => finding,
    };
    TableFile { findings: vec![finding], ..TableFile::default() }
}

//! A file as each dialect reads it.

use super::form::{SERVICE_CONFIG, TOML};
use super::{as_written, gax_java, grpc};
use crate::document::Located;
use crate::model::written::{MethodConfig, OwnFields, ServiceConfig, Throttling};
use crate::model::{Entry, MethodExtras, TableFile};
use crate::values::Values;
use crate::{Dialect, RetryThrottling, TableError};
use std::collections::HashMap;
use std::sync::Arc;

/// Entries, throttling and findings of what a file says, in whichever form.
#[cfg_attr(
    not(feature = "convert"),
    expect(clippy::needless_pass_by_value, reason = "what writes tables keeps it")
)]
pub(crate) fn resolve(
    values: &Values<'_>,
    config: ServiceConfig,
    dialect: Dialect,
) -> Result<TableFile, TableError> {
    let words = if values.is_own { &TOML } else { &SERVICE_CONFIG };
    let entry = |method: &MethodConfig| -> Result<Arc<Entry>, TableError> {
        Ok(Arc::new(match dialect {
            Dialect::AsWritten => as_written::Resolver { values, words }.method(method)?,
            Dialect::GaxJava => gax_java::resolve(values, method, words)?,
            Dialect::Grpc => grpc::Resolver { values, words }.method(method)?,
        }))
    };
    if let (Dialect::GaxJava, Some(span)) = (dialect, config.unrecognized_code) {
        let problem = "is UNRECOGNIZED in Java, which does not compile";
        let help = "write a name such as UNAVAILABLE, or a number from 0 to 16";
        return Err(values.fault(span, problem, help));
    }
    let entries = config.methods.iter().map(entry).collect::<Result<_, _>>()?;
    if dialect == Dialect::Grpc {
        grpc::refuse_faulty_names(values.source, &config)?;
    }
    let throttling = config.throttling.as_ref().filter(|_| dialect != Dialect::GaxJava);
    let throttling = throttling.map(|written| resolve_throttling(values, written, dialect)).transpose()?;
    let throttling_origin = config.throttling.as_ref().map(|written| values.source.origin(written.span));
    let extras = extras(&config);
    let beside = config.beside.iter().map(|method| Arc::clone(&method.names)).collect();
    let in_entries = config.methods.iter().chain(&config.beside).flat_map(|method| &method.own.suppressions);
    let suppressions = config.suppressions.iter().chain(in_entries).cloned().collect();
    #[cfg(feature = "convert")]
    let zero_is_unset = !values.is_own && dialect != Dialect::Grpc;
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
        findings: values.findings.take(),
        ..TableFile::default()
    })
}

/// The throttling that a file says, or that a gRPC channel holds; fractions of a token are fine.
fn resolve_throttling(
    values: &Values<'_>,
    throttling: &Throttling,
    dialect: Dialect,
) -> Result<RetryThrottling, TableError> {
    let is_grpc = dialect == Dialect::Grpc;
    let within = |number: Option<Located<f64>>, name: &str, most: f64, help: &str| match number {
        None => Err(values.fault(throttling.span, &format!("has no {name}"), help)),
        Some(Located { value, .. }) if value > 0.0 && (value <= most || !is_grpc) => Ok(value),
        Some(Located { value, span }) if is_grpc => {
            let error = values.fault(span, &format!("is not a valid {name} for gRPC"), help);
            Err(if value > most { error.with_others("grpc-java and grpcio take more") } else { error })
        }
        Some(Located { span, .. }) => {
            Err(values.fault(span, &format!("is a {name} that is not above zero"), help))
        }
    };
    let [of_tokens, of_ratio] = if is_grpc {
        ["write a number above 0, up to 1000", "write a number above 0"]
    } else {
        ["write a number up to 1000, such as 10", "write a number such as 0.1"]
    };
    let max_tokens = within(throttling.max_tokens, "maxTokens", 1000.0, of_tokens)?;
    let token_ratio = within(throttling.token_ratio, "tokenRatio", f64::MAX, of_ratio)?;
    Ok(RetryThrottling::new(max_tokens, token_ratio))
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

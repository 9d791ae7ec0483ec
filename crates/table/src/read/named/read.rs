//! Definitions that both forms write in the same way.

use super::table::{NamedCodes, NamedParams};
use crate::diagnostics::Findings;
use crate::document::{Node, Source, Span};
use crate::values::Scalars;
use crate::{Dialect, PolicyField, TableError};
use gax_retry::RetrySettings;
use std::sync::Arc;

/// The seven fields of `retry_params`, in milliseconds; `name` is read elsewhere.
const PARAMS: [(&str, PolicyField); 7] = [
    ("initial_retry_delay_millis", PolicyField::InitialRetryDelay),
    ("retry_delay_multiplier", PolicyField::RetryDelayMultiplier),
    ("max_retry_delay_millis", PolicyField::MaxRetryDelay),
    ("initial_rpc_timeout_millis", PolicyField::InitialRpcTimeout),
    ("rpc_timeout_multiplier", PolicyField::RpcTimeoutMultiplier),
    ("max_rpc_timeout_millis", PolicyField::MaxRpcTimeout),
    ("total_timeout_millis", PolicyField::TotalTimeout),
];

/// A list of codes.
pub(crate) fn read_codes(
    source: &Source,
    name: Arc<str>,
    span: Span,
    codes: Option<&Node>,
    findings: &mut Findings,
) -> Result<NamedCodes, TableError> {
    let scalars = Scalars::new(source, Dialect::AsWritten);
    let codes = codes.map(|codes| scalars.codes(codes, "retry_codes", findings)).transpose()?;
    let codes = codes.map(|codes| codes.value.iter().map(|code| code.value).collect());
    Ok(NamedCodes { name, span, codes: codes.unwrap_or_default() })
}

/// An object with settings. A time of zero is one that is not set.
pub(crate) fn read_params(
    source: &Source,
    name: Arc<str>,
    node: &Node,
    findings: &mut Findings,
) -> Result<NamedParams, TableError> {
    let scalars = Scalars::new(source, Dialect::AsWritten);
    let fields =
        scalars.find_among(node, "retry params", PARAMS.map(|(name, _)| name), &["name"], findings)?;
    let mut settings = RetrySettings::builder();
    let mut values = Vec::new();
    for ((name, field), node) in PARAMS.into_iter().zip(fields) {
        let Some(node) = node else { continue };
        values.push((field, node.span));
        if matches!(field, PolicyField::RetryDelayMultiplier | PolicyField::RpcTimeoutMultiplier) {
            let multiplier = scalars.number(node, name)?.value;
            settings = match field {
                PolicyField::RetryDelayMultiplier => settings.retry_delay_multiplier(multiplier),
                _ => settings.rpc_timeout_multiplier(multiplier),
            };
            continue;
        }
        let time = scalars.millis(node, name)?.value;
        let set = Some(time).filter(|time| !time.is_zero());
        settings = match field {
            PolicyField::InitialRetryDelay => settings.initial_retry_delay(set),
            PolicyField::MaxRetryDelay => settings.max_retry_delay(set),
            PolicyField::InitialRpcTimeout => settings.initial_rpc_timeout(set),
            PolicyField::MaxRpcTimeout => settings.max_rpc_timeout(set),
            _ => settings.total_timeout(set),
        };
    }
    let settings = settings.build().map_err(|error| {
        source.fault(node.span, &format!("has no meaning: {error}"), "correct these values")
    })?;
    Ok(NamedParams { name, settings, values })
}

//! What every dialect makes of an entry in the same way.

use super::config::MethodConfig;
use crate::table::PolicyField;
use crate::table::document::{Source, Span};
use crate::table::policy::{Definitions, Entry, EntryName};
use crate::table::values::Located;
use crate::{Code, CodeSet};
use std::time::Duration;

/// An entry with its place and the places of its values, and no values yet.
pub(super) fn entry(source: &Source, method: &MethodConfig) -> Entry {
    let definitions = match (&method.retry, method.timeout) {
        (Some(_), _) => Definitions::RetryPolicy,
        (None, Some(_)) => Definitions::NoRetry,
        (None, None) => Definitions::Nothing,
    };
    let mut origins = Vec::new();
    let mut add = |field: PolicyField, span: Option<Span>| {
        origins.extend(span.map(|span| (field, source.origin(span))));
    };
    let timeout = method.timeout.map(|timeout| timeout.span);
    add(PolicyField::TotalTimeout, timeout);
    add(PolicyField::InitialRpcTimeout, timeout);
    add(PolicyField::MaxRpcTimeout, timeout);
    if let Some(policy) = &method.retry {
        add(PolicyField::InitialRetryDelay, policy.initial_backoff.map(|value| value.span));
        add(PolicyField::RetryDelayMultiplier, policy.multiplier.map(|value| value.span));
        add(PolicyField::MaxRetryDelay, policy.max_backoff.map(|value| value.span));
        add(PolicyField::MaxAttempts, policy.max_attempts.map(|value| value.span));
        add(PolicyField::RetryableCodes, policy.codes.as_ref().map(|value| value.span));
    }
    Entry {
        definitions,
        wait_for_ready: method.wait_for_ready.map(|wait| wait.value),
        origin: Some(source.origin(method.span)),
        origins,
        ..Entry::nothing()
    }
}

pub(super) fn names(source: &Source, method: &MethodConfig) -> Vec<EntryName> {
    let names = method.names.iter().map(|name| EntryName {
        service: name.service.clone(),
        method: name.method.clone(),
        origin: Some(source.origin(name.span)),
    });
    names.collect()
}

pub(super) fn codes(codes: Option<&Located<Vec<Located<Code>>>>) -> CodeSet {
    codes.map(|codes| codes.value.iter().map(|code| code.value).collect()).unwrap_or_default()
}

/// A duration that is not negative.
pub(super) fn duration(nanos: i128) -> Option<Duration> {
    let nanos = u128::try_from(nanos).ok()?;
    let seconds = u64::try_from(nanos / 1_000_000_000).ok()?;
    let rest = u32::try_from(nanos % 1_000_000_000).ok()?;
    Some(Duration::new(seconds, rest))
}

//! The parts of an entry that every dialect reads in the same way.

use crate::document::{Kind, Located, Source, Span};
use crate::model::written::{MethodConfig, OwnFields};
use crate::model::{Definitions, Entry};
use crate::{PolicyField, TableError};
use gax_retry::{Code, CodeSet, RetrySettingsBuilder};
use std::sync::Arc;
use std::time::Duration;

/// An entry with its names, its place and the places of its values, and no values yet.
pub(super) fn entry(source: &Source, method: &MethodConfig) -> Entry {
    let own = &method.own;
    let has_timeout =
        method.timeout.or(own.total_timeout).or(own.initial_rpc_timeout).or(own.max_rpc_timeout).is_some();
    let definitions = match (&own.definitions, &method.retry, has_timeout) {
        (Some((codes, params)), ..) => Definitions::Named { codes: codes.clone(), params: params.clone() },
        (None, Some(_), _) => Definitions::RetryPolicy,
        (None, None, true) => Definitions::NoRetry,
        (None, None, false) => Definitions::Nothing,
    };
    let mut origins = Vec::new();
    let mut add = |field: PolicyField, span: Option<Span>| {
        origins.extend(span.map(|span| (field, source.origin(span))));
    };
    let or_timeout = |own: Option<Located<i128>>| own.or(method.timeout).map(|timeout| timeout.span);
    add(PolicyField::TotalTimeout, or_timeout(own.total_timeout));
    add(PolicyField::InitialRpcTimeout, or_timeout(own.initial_rpc_timeout));
    add(PolicyField::RpcTimeoutMultiplier, own.rpc_timeout_multiplier.map(|value| value.span));
    add(PolicyField::MaxRpcTimeout, or_timeout(own.max_rpc_timeout));
    add(PolicyField::MaxServerDelay, own.max_server_delay.map(|value| value.span));
    add(PolicyField::OnlyWithServerDelay, own.only_with_server_delay.map(|value| value.span));
    add(PolicyField::Jittered, own.jittered.map(|value| value.span));
    add(PolicyField::Idempotent, own.idempotent.map(|value| value.span));
    add(PolicyField::Hedging, method.hedging.as_ref().map(|value| value.span));
    if let Some(policy) = &method.retry {
        add(PolicyField::InitialRetryDelay, policy.initial_backoff.map(|value| value.span));
        add(PolicyField::RetryDelayMultiplier, policy.multiplier.map(|value| value.span));
        add(PolicyField::MaxRetryDelay, policy.max_backoff.map(|value| value.span));
        add(PolicyField::MaxAttempts, policy.max_attempts.map(|value| value.span));
        add(PolicyField::RetryableCodes, policy.codes.as_ref().map(|value| value.span));
    }
    let codes = method.retry.iter().filter_map(|policy| policy.codes.as_ref()).flat_map(|codes| &codes.value);
    let code_origins = codes.map(|code| (code.value, source.origin(code.span)));
    origins.shrink_to_fit();
    Entry {
        names: Arc::clone(&method.names),
        definitions,
        wait_for_ready: method.wait_for_ready.map(|wait| wait.value),
        idempotent: own.idempotent.map(|idempotent| idempotent.value),
        wait_timeout: own.wait_timeout.and_then(|timeout| duration(timeout.value)),
        idle_timeout: own.idle_timeout.and_then(|timeout| duration(timeout.value)),
        max_request_message_bytes: bytes(method, "maxRequestMessageBytes"),
        max_response_message_bytes: bytes(method, "maxResponseMessageBytes"),
        origin: Some(source.origin(method.span)),
        origins,
        code_origins: code_origins.collect(),
        ..Entry::default()
    }
}

/// A number of bytes among what says nothing about retries; protobuf's JSON has it in quotes too.
fn bytes(method: &MethodConfig, field: &str) -> Option<u64> {
    let member = method.rest.iter().rev().find(|member| *member.key == *field)?;
    match &member.value.kind {
        Kind::Number(text) | Kind::String(text) => text.parse().ok(),
        _ => None,
    }
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

/// Settings with a service config's timeout, and with what only this project's own form can say; `time` reads a duration as the
/// dialect does.
pub(super) fn with_own_fields(
    settings: RetrySettingsBuilder,
    timeout: Option<Duration>,
    own: &OwnFields,
    time: impl Fn(Located<i128>) -> Result<Duration, TableError>,
) -> Result<RetrySettingsBuilder, TableError> {
    let is_set = |time: &Duration| !time.is_zero();
    let set = |nanos: Option<Located<i128>>| Ok(nanos.map(&time).transpose()?.filter(is_set));
    let own_timeouts = [set(own.total_timeout)?, set(own.initial_rpc_timeout)?, set(own.max_rpc_timeout)?];
    let mut settings = settings.timeouts(timeout.filter(is_set), own_timeouts);
    if let Some(delay) = own.max_server_delay {
        settings = settings.max_server_delay(time(delay)?);
    }
    if let Some(codes) = own.only_with_server_delay {
        settings = settings.only_with_server_delay(codes.value);
    }
    if let Some(multiplier) = own.rpc_timeout_multiplier {
        settings = settings.rpc_timeout_multiplier(multiplier.value);
    }
    if let Some(jittered) = own.jittered {
        settings = settings.jittered(jittered.value);
    }
    Ok(settings)
}

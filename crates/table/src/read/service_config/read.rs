//! A document's nodes to a [`ServiceConfig`].

use crate::document::{Node, Span};
use crate::model::written::{HedgingPolicy, MethodConfig, Own, RetryPolicy, ServiceConfig, Throttling};
use crate::read::entry_name::read_entry_name;
use crate::values::{Values, key_span, rest};
use crate::{Dialect, TableError};

/// Reads a service config. What the dialect's reader refuses is an error.
pub(super) fn read_service_config(values: &Values<'_>, root: &Node) -> Result<ServiceConfig, TableError> {
    let names = [
        "methodConfig",
        "retryThrottling",
        "loadBalancingPolicy",
        "loadBalancingConfig",
        "healthCheckConfig",
    ];
    let [methods, throttling, ..] = values.find(root, "a service config", names)?;
    let methods = values.elements(methods, "methodConfig")?;
    Ok(ServiceConfig {
        methods: methods.iter().map(|node| method(values, node)).collect::<Result<_, _>>()?,
        beside: Vec::new(),
        suppressions: Vec::new(),
        throttling: throttling.map(|node| of_throttling(values, node, key_span(root, node))).transpose()?,
        #[cfg(feature = "convert")]
        rest: rest(root, &["methodConfig", "retryThrottling"]),
        unrecognized_code: values.unrecognized.get(),
    })
}

fn method(values: &Values<'_>, node: &Node) -> Result<MethodConfig, TableError> {
    let names = [
        "name",
        "timeout",
        "retryPolicy",
        "hedgingPolicy",
        "waitForReady",
        "maxRequestMessageBytes",
        "maxResponseMessageBytes",
    ];
    let [names, timeout, retry, hedging, wait, request_bytes, response_bytes] =
        values.find(node, "a method config", names)?;
    if let (Some(_), Some(hedging)) = (retry, hedging) {
        return Err(both_policies(values, key_span(node, hedging)));
    }
    let wait_for_ready = wait.map(|node| values.boolean(node, "waitForReady")).transpose()?;
    let unused = "it is kept, but has no effect here";
    let connection =
        "use a Connection of tonic-gax instead of tonic's channel; over that, calls wait as it says";
    for (node, message, help) in [
        (wait, "waitForReady has no effect over tonic's channel", connection),
        (request_bytes, "maxRequestMessageBytes has no effect on retries", unused),
        (response_bytes, "maxResponseMessageBytes has no effect on retries", unused),
    ] {
        if let (Some(node), Dialect::AsWritten) = (node, values.dialect) {
            values.note("no-effect", node.span, message, help);
        }
    }
    let names = values.elements(names, "name")?;
    let name = |node| read_entry_name(values, node);
    Ok(MethodConfig {
        span: node.span,
        names: names.iter().map(name).collect::<Result<_, _>>()?,
        timeout: timeout.map(|node| values.duration(node, "timeout")).transpose()?,
        retry: retry
            .map(|retry| retry_policy(values, retry, key_span(node, retry)).map(Box::new))
            .transpose()?,
        hedging: hedging
            .map(|hedging| hedging_policy(values, hedging, key_span(node, hedging)).map(Box::new))
            .transpose()?,
        wait_for_ready,
        own: Own::default(),
        rest: rest(node, &["name", "timeout", "retryPolicy", "hedgingPolicy", "waitForReady"]),
    })
}

fn retry_policy(values: &Values<'_>, node: &Node, span: Span) -> Result<RetryPolicy, TableError> {
    let names = ["maxAttempts", "initialBackoff", "maxBackoff", "backoffMultiplier", "retryableStatusCodes"];
    let [attempts, initial, max, multiplier, codes] = values.find(node, "a retry policy", names)?;
    Ok(RetryPolicy {
        span,
        max_attempts: attempts.map(|node| values.count(node, "maxAttempts")).transpose()?,
        initial_backoff: initial.map(|node| values.duration(node, "initialBackoff")).transpose()?,
        max_backoff: max.map(|node| values.duration(node, "maxBackoff")).transpose()?,
        multiplier: multiplier.map(|node| values.number(node, "backoffMultiplier")).transpose()?,
        codes: codes.map(|node| values.codes(node, "retryableStatusCodes")).transpose()?,
    })
}

fn hedging_policy(values: &Values<'_>, node: &Node, span: Span) -> Result<HedgingPolicy, TableError> {
    let names = ["maxAttempts", "hedgingDelay", "nonFatalStatusCodes"];
    let [attempts, delay, codes] = values.find(node, "a hedging policy", names)?;
    Ok(HedgingPolicy {
        span,
        max_attempts: attempts.map(|node| values.count(node, "maxAttempts")).transpose()?,
        delay: delay.map(|node| values.duration(node, "hedgingDelay")).transpose()?,
        percentile: None,
        non_fatal_codes: codes.map(|node| values.codes(node, "nonFatalStatusCodes")).transpose()?,
    })
}

fn of_throttling(values: &Values<'_>, node: &Node, span: Span) -> Result<Throttling, TableError> {
    let names = ["maxTokens", "tokenRatio"];
    let [max_tokens, token_ratio] = values.find(node, "retryThrottling", names)?;
    Ok(Throttling {
        span,
        max_tokens: max_tokens.map(|node| values.number(node, "maxTokens")).transpose()?,
        token_ratio: token_ratio.map(|node| values.number(node, "tokenRatio")).transpose()?,
    })
}

fn both_policies(values: &Values<'_>, hedging: Span) -> TableError {
    let problem = "an entry has both a retryPolicy and a hedgingPolicy";
    let error = values.source.error(hedging, problem, "remove one of the two");
    if values.dialect == Dialect::Grpc {
        error.with_others("grpc-go and grpcio ignore the hedging policy")
    } else {
        error
    }
}

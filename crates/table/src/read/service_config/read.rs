//! A document's nodes to a [`ServiceConfig`].

use crate::diagnostics::Findings;
use crate::document::{Node, Source, Span};
use crate::model::written::{HedgingPolicy, MethodConfig, Own, RetryPolicy, ServiceConfig, Throttling};
use crate::read::entry_name::read_entry_name;
use crate::values::{Fields, Scalars, key_span, rest};
use crate::{Dialect, TableError};

/// Reads a service config. What the dialect's reader refuses is an error.
pub(super) fn read_service_config(
    source: &Source,
    root: &Node,
    dialect: Dialect,
    findings: &mut Findings,
) -> Result<ServiceConfig, TableError> {
    let scalars = Scalars::new(source, dialect);
    Reader { source, scalars, findings }.config(root)
}

struct Reader<'a> {
    source: &'a Source,
    scalars: Scalars<'a>,
    findings: &'a mut Findings,
}

impl Reader<'_> {
    fn config(&mut self, root: &Node) -> Result<ServiceConfig, TableError> {
        let names = [
            "methodConfig",
            "retryThrottling",
            "loadBalancingPolicy",
            "loadBalancingConfig",
            "healthCheckConfig",
        ];
        let [methods, throttling, ..] = self.find(root, "a service config", names)?;
        let methods = self.scalars.elements(methods, "methodConfig")?;
        Ok(ServiceConfig {
            methods: methods.iter().map(|node| self.method(node)).collect::<Result<_, _>>()?,
            beside: Vec::new(),
            suppressions: Vec::new(),
            throttling: throttling.map(|node| self.throttling(node, key_span(root, node))).transpose()?,
            #[cfg(feature = "convert")]
            rest: rest(root, &["methodConfig", "retryThrottling"]),
            unrecognized_code: self.scalars.unrecognized.get(),
        })
    }

    fn method(&mut self, node: &Node) -> Result<MethodConfig, TableError> {
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
            self.find(node, "a method config", names)?;
        if let (Some(_), Some(hedging)) = (retry, hedging) {
            return Err(self.both_policies(key_span(node, hedging)));
        }
        let wait_for_ready = wait.map(|node| self.scalars.boolean(node, "waitForReady")).transpose()?;
        let unused = "it is kept, but has no effect here";
        let connection =
            "use a Connection of tonic-gax instead of tonic's channel; over that, calls wait as it says";
        for (node, message, help) in [
            (wait, "waitForReady has no effect over tonic's channel", connection),
            (request_bytes, "maxRequestMessageBytes has no effect on retries", unused),
            (response_bytes, "maxResponseMessageBytes has no effect on retries", unused),
        ] {
            if let Some(node) = node {
                self.without_effect(node, message, help);
            }
        }
        let names = self.scalars.elements(names, "name")?;
        let name = |node| read_entry_name(&self.scalars, node, self.findings);
        Ok(MethodConfig {
            span: node.span,
            names: names.iter().map(name).collect::<Result<_, _>>()?,
            timeout: timeout.map(|node| self.scalars.duration(node, "timeout")).transpose()?,
            retry: retry
                .map(|retry| self.retry_policy(retry, key_span(node, retry)).map(Box::new))
                .transpose()?,
            hedging: hedging
                .map(|hedging| self.hedging_policy(hedging, key_span(node, hedging)).map(Box::new))
                .transpose()?,
            wait_for_ready,
            own: Own::default(),
            rest: rest(node, &["name", "timeout", "retryPolicy", "hedgingPolicy", "waitForReady"]),
        })
    }

    fn retry_policy(&mut self, node: &Node, span: Span) -> Result<RetryPolicy, TableError> {
        let names =
            ["maxAttempts", "initialBackoff", "maxBackoff", "backoffMultiplier", "retryableStatusCodes"];
        let [attempts, initial, max, multiplier, codes] = self.find(node, "a retry policy", names)?;
        let scalars = &self.scalars;
        Ok(RetryPolicy {
            span,
            max_attempts: attempts.map(|node| scalars.count(node, "maxAttempts")).transpose()?,
            initial_backoff: initial.map(|node| scalars.duration(node, "initialBackoff")).transpose()?,
            max_backoff: max.map(|node| scalars.duration(node, "maxBackoff")).transpose()?,
            multiplier: multiplier.map(|node| scalars.number(node, "backoffMultiplier")).transpose()?,
            codes: codes
                .map(|node| scalars.codes(node, "retryableStatusCodes", self.findings))
                .transpose()?,
        })
    }

    fn hedging_policy(&mut self, node: &Node, span: Span) -> Result<HedgingPolicy, TableError> {
        let names = ["maxAttempts", "hedgingDelay", "nonFatalStatusCodes"];
        let [attempts, delay, codes] = self.find(node, "a hedging policy", names)?;
        let scalars = &self.scalars;
        Ok(HedgingPolicy {
            span,
            max_attempts: attempts.map(|node| scalars.count(node, "maxAttempts")).transpose()?,
            delay: delay.map(|node| scalars.duration(node, "hedgingDelay")).transpose()?,
            percentile: None,
            non_fatal_codes: codes
                .map(|node| scalars.codes(node, "nonFatalStatusCodes", self.findings))
                .transpose()?,
        })
    }

    fn throttling(&mut self, node: &Node, span: Span) -> Result<Throttling, TableError> {
        let names = ["maxTokens", "tokenRatio"];
        let [max_tokens, token_ratio] = self.find(node, "retryThrottling", names)?;
        let scalars = &self.scalars;
        Ok(Throttling {
            span,
            max_tokens: max_tokens.map(|node| scalars.number(node, "maxTokens")).transpose()?,
            token_ratio: token_ratio.map(|node| scalars.number(node, "tokenRatio")).transpose()?,
        })
    }

    fn find<'n, const N: usize>(
        &mut self,
        node: &'n Node,
        what: &'static str,
        names: [&str; N],
    ) -> Result<Fields<'n, N>, TableError> {
        self.scalars.find(node, what, names, self.findings)
    }

    fn both_policies(&self, hedging: Span) -> TableError {
        let problem = "an entry has both a retryPolicy and a hedgingPolicy";
        let error = self.source.error(hedging, problem, "remove one of the two");
        if self.scalars.dialect == Dialect::Grpc {
            error.with_others("grpc-go and grpcio ignore the hedging policy")
        } else {
            error
        }
    }

    fn without_effect(&mut self, node: &Node, message: &str, help: &'static str) {
        if self.scalars.dialect == Dialect::AsWritten {
            self.findings.push(self.source.note("no-effect", node.span, message, help));
        }
    }
}

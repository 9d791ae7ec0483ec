//! A service config as gRPC itself reads it (gRFC A6): one fault refuses all of it.

use super::entry::{codes, duration, entry};
use super::form::Words;
use crate::document::{Kind, Located, Node, Source, Span};
use crate::model::written::{HedgingPolicy, MethodConfig, RetryPolicy, ServiceConfig};
use crate::model::{Entry, HedgingPolicy as ResolvedHedging, shown_name};
use crate::values::{Values, duplicate_key};
use crate::{PolicyField, TableError};
use gax_retry::{Code, RetrySettings};
use std::collections::{HashMap, HashSet};
use std::time::Duration;

/// A larger `maxAttempts` is treated as this.
const MAX_ATTEMPTS: u32 = 5;

/// gRPC's JSON readers refuse a byte order mark, and a key that comes twice.
pub(crate) fn refuse_other_json(source: &Source, root: &Node) -> Result<(), TableError> {
    if source.has_mark() {
        let message = "the file begins with a byte order mark, which grpc-go, grpcio and grpc-js refuse";
        return Err(source.error(Span::default(), message, "save the file without it"));
    }
    refuse_duplicate_keys(source, root)
}

pub(super) struct Resolver<'a> {
    pub(super) values: &'a Values<'a>,
    pub(super) words: &'a Words,
}

impl Resolver<'_> {
    /// An entry with the settings that a gRPC channel holds.
    pub(super) fn method(&self, method: &MethodConfig) -> Result<Entry, TableError> {
        let mut entry = entry(self.values.source, method);
        entry.origins.retain(|(field, _)| {
            !matches!(field, PolicyField::InitialRpcTimeout | PolicyField::MaxRpcTimeout)
        });
        let mut settings = RetrySettings::builder();
        let mut total = None;
        if let Some(timeout) = method.own.total_timeout.or(method.timeout) {
            total = Some(duration(timeout.value).unwrap_or_default());
            if timeout.value <= 0 {
                let message = "with this timeout every call fails at once";
                self.values.warn("timeout-not-positive", timeout.span, message, "write a time above zero");
            }
        }
        self.own_fields(method);
        if let Some(policy) = &method.retry {
            let initial = self.back_off(policy.span, policy.initial_backoff, self.words.initial_delay)?;
            let max = self.back_off(policy.span, policy.max_backoff, self.words.max_delay)?;
            settings = settings
                .initial_retry_delay(initial.min(max))
                .max_retry_delay(max)
                .retry_delay_multiplier(self.multiplier(policy)?)
                .max_attempts(self.attempts(policy.span, policy.max_attempts)?);
            entry.codes = codes(policy.codes.as_ref());
            if entry.codes.is_empty() || entry.codes.contains(Code::Ok) {
                let span = policy.codes.as_ref().map_or(policy.span, |codes| codes.span);
                let problem = "names no codes to retry, or OK";
                return Err(self.values.fault(span, problem, "write at least one code, such as UNAVAILABLE"));
            }
        }
        if let Some(policy) = &method.hedging {
            entry.hedging = Some(self.hedging(policy)?);
        }
        let settings = self.values.built(method.span, settings.build_for_grpc())?;
        // A timeout of zero is one: every call fails immediately.
        entry.settings = match total {
            Some(total) => settings.bounded_by(total),
            None => settings,
        };
        Ok(entry)
    }

    /// Fields of this project's own form alone have no meaning in gRPC.
    fn own_fields(&self, method: &MethodConfig) {
        let own = &method.own;
        let fields = [
            ("initial_rpc_timeout", own.initial_rpc_timeout.map(|value| value.span)),
            ("rpc_timeout_multiplier", own.rpc_timeout_multiplier.map(|value| value.span)),
            ("max_rpc_timeout", own.max_rpc_timeout.map(|value| value.span)),
            ("max_server_delay", own.max_server_delay.map(|value| value.span)),
            ("only_with_server_delay", own.only_with_server_delay.map(|value| value.span)),
            ("jittered", own.jittered.map(|value| value.span)),
        ];
        for (name, span) in fields {
            if let Some(span) = span {
                let message = format!("{name} has no meaning in gRPC");
                let help = "gRPC limits whole calls and always draws its waits";
                self.values.warn("no-effect", span, message, help);
            }
        }
    }

    fn hedging(&self, policy: &HedgingPolicy) -> Result<ResolvedHedging, TableError> {
        if policy.delay.is_none() {
            let message = format!("without a {} all attempts are sent at once", self.words.hedging_delay);
            let help = if self.values.is_own {
                "write a delay"
            } else {
                "write \"0s\": grpc-java rejects the whole file"
            };
            self.values.warn("grpc-libraries-differ", policy.span, message, help);
        }
        let delay = policy.delay.map(|delay| {
            let problem = "is negative, which gRPC rejects";
            duration(delay.value)
                .ok_or_else(|| self.values.fault(delay.span, problem, "write a time of zero or more"))
        });
        Ok(ResolvedHedging {
            delay: delay.transpose()?.unwrap_or_default(),
            percentile: policy.percentile.map(|percentile| percentile.value),
            max_attempts: Some(self.attempts(policy.span, policy.max_attempts)?),
            non_fatal_codes: codes(policy.non_fatal_codes.as_ref()),
        })
    }

    fn attempts(&self, policy: Span, attempts: Option<Located<u32>>) -> Result<u32, TableError> {
        let (name, help) = (self.words.max_attempts, "write a whole number from 2 to 5");
        let Some(attempts) = attempts else {
            return Err(self.values.fault(policy, &format!("has no {name}"), help));
        };
        if attempts.value < 2 {
            return Err(self.values.fault(attempts.span, &format!("is too small for {name}"), help));
        }
        if attempts.value > MAX_ATTEMPTS {
            let message = format!("{name} {} is treated as {MAX_ATTEMPTS}", attempts.value);
            self.values.warn("max-attempts-above-5", attempts.span, message, help);
        }
        Ok(attempts.value.min(MAX_ATTEMPTS))
    }

    fn back_off(
        &self,
        policy: Span,
        nanos: Option<Located<i128>>,
        name: &str,
    ) -> Result<Duration, TableError> {
        let help = "write a time above zero, such as \"0.1s\"";
        let Some(nanos) = nanos else {
            return Err(self.values.fault(policy, &format!("has no {name}"), help));
        };
        duration(nanos.value)
            .filter(|duration| !duration.is_zero())
            .ok_or_else(|| self.values.fault(nanos.span, &format!("is not a valid {name} for gRPC"), help))
    }

    fn multiplier(&self, policy: &RetryPolicy) -> Result<f64, TableError> {
        let (name, help) = (self.words.delay_multiplier, "write a number above 0, such as 1.3");
        match policy.multiplier {
            Some(multiplier) if multiplier.value > 0.0 => Ok(multiplier.value),
            Some(multiplier) => {
                Err(self.values.fault(multiplier.span, &format!("is not a valid {name} for gRPC"), help))
            }
            None => Err(self.values.fault(policy.span, &format!("has no {name}"), help)),
        }
    }
}

pub(super) fn refuse_faulty_names(source: &Source, config: &ServiceConfig) -> Result<(), TableError> {
    let mut seen = HashMap::new();
    for name in config.methods.iter().flat_map(|method| &*method.names) {
        let span =
            name.origin.as_ref().map(|origin| Span { start: origin.span().start, end: origin.span().end });
        let span = span.unwrap_or_default();
        if name.service.is_empty() && !name.method.is_empty() {
            let problem = "is a method without a service";
            return Err(source.fault(span, problem, "add the service's full name"));
        }
        if let Some(first) = seen.insert((&name.service, &name.method), span) {
            let subject = shown_name(&name.service, &name.method);
            let problem = format!("{subject} occurs twice, first at {}", source.origin(first));
            return Err(source.error(span, problem, "remove one of the two"));
        }
    }
    Ok(())
}

/// gRPC's JSON reader refuses a key that comes twice, wherever it is.
fn refuse_duplicate_keys(source: &Source, root: &Node) -> Result<(), TableError> {
    let mut left = vec![root];
    while let Some(node) = left.pop() {
        match &node.kind {
            Kind::Array(elements) => left.extend(elements),
            Kind::Object(members) => {
                let mut keys = HashSet::new();
                if let Some(member) = members.iter().find(|member| !keys.insert(&member.key)) {
                    return Err(duplicate_key(source, member));
                }
                left.extend(members.iter().map(|member| &member.value));
            }
            _ => {}
        }
    }
    Ok(())
}

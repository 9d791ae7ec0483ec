//! A service config as it is written: every value exact, whatever has no meaning an error.

use super::entry::{codes, entry, with_own_fields};
use super::form::{Form, PolicyWords, Words};
use crate::diagnostics::Findings;
use crate::document::{Located, Source, Span};
use crate::model::written::{HedgingPolicy, MethodConfig, RetryPolicy, ServiceConfig, Throttling};
use crate::model::{Entry, HedgingPolicy as ResolvedHedging};
use crate::{Finding, RetryThrottling, Severity, TableError};
use gax_retry::{RetrySettings, RetrySettingsBuilder};
use std::sync::Arc;
use std::time::Duration;

/// The throttling that the file says.
pub(super) fn resolve_throttling(
    source: &Source,
    throttling: &Throttling,
) -> Result<RetryThrottling, TableError> {
    let positive = |number: Option<Located<f64>>, name: &str, example: &str| match number {
        Some(number) if number.value > 0.0 => Ok(number.value),
        Some(number) => {
            Err(source.fault(number.span, &format!("is a {name} that is not above zero"), example))
        }
        None => Err(source.fault(throttling.span, &format!("has no {name}"), example)),
    };
    let max_tokens = positive(throttling.max_tokens, "maxTokens", "write a number up to 1000, such as 10")?;
    Ok(RetryThrottling::new(
        max_tokens,
        positive(throttling.token_ratio, "tokenRatio", "write a number such as 0.1")?,
    ))
}

/// Entries with the settings that the file says.
pub(super) fn resolve_as_written(
    source: &Source,
    config: &ServiceConfig,
    form: Form<'_>,
    findings: &mut Findings,
) -> Result<Vec<Arc<Entry>>, TableError> {
    let mut resolver = Resolver { source, form, findings };
    config.methods.iter().map(|method| resolver.method(method).map(Arc::new)).collect()
}

/// The entry of HTTP requests, which only this project's own form has.
#[cfg(all(feature = "http", feature = "toml"))]
pub(crate) fn resolve_http(
    source: &Source,
    config: &MethodConfig,
    findings: &mut Findings,
) -> Result<Entry, TableError> {
    Resolver { source, form: Form::TOML, findings }.method(config)
}

struct Resolver<'a> {
    source: &'a Source,
    form: Form<'a>,
    findings: &'a mut Findings,
}

impl Resolver<'_> {
    fn method(&mut self, method: &MethodConfig) -> Result<Entry, TableError> {
        for name in &*method.names {
            if name.service.is_empty() && !name.method.is_empty() {
                let message = format!("the method {:?} has no service", name.method);
                let finding = Finding::new("malformed-name", Severity::Warning, message);
                let help = "add the service's full name";
                self.findings.push(finding.with_help(help).at(name.origin.clone()));
            }
        }
        let mut entry = entry(self.source, method);
        let mut settings = RetrySettings::builder();
        let timeout = method.timeout.map(|timeout| self.duration(timeout)).transpose()?;
        if let Some(policy) = &method.retry {
            settings = self.policy(policy, settings)?;
            entry.codes = codes(policy.codes.as_ref());
            self.limits(policy, method);
        }
        settings = with_own_fields(settings, timeout, &method.own, |nanos| self.duration(nanos))?;
        if let Some(policy) = &method.hedging {
            entry.hedging = Some(self.hedging(policy)?);
        }
        entry.settings = settings.build().map_err(|error| {
            self.source.fault(method.span, &format!("has no meaning: {error}"), "correct these values")
        })?;
        Ok(entry)
    }

    fn policy(
        &mut self,
        policy: &RetryPolicy,
        mut settings: RetrySettingsBuilder,
    ) -> Result<RetrySettingsBuilder, TableError> {
        let delay = |backoff: Option<Located<i128>>| {
            let delay = backoff.map(|backoff| self.duration(backoff)).transpose()?;
            Ok(self.form.delay(delay))
        };
        let (mut initial, max) = (delay(policy.initial_backoff)?, delay(policy.max_backoff)?);
        if let (Some(first), Some(cap), Some(written)) = (initial, max, policy.max_backoff)
            && cap < first
        {
            let Words { initial_delay, max_delay, .. } = self.form.words();
            let message = format!("{max_delay} ({cap:?}) is shorter than {initial_delay} ({first:?})");
            let help = self.help(
                "write a maxBackoff above initialBackoff: as it is, every delay is maxBackoff, and Google's Java clients refuse to start",
                "write a max_retry_delay above initial_retry_delay: as it is, every delay is max_retry_delay",
            );
            self.report("max-below-initial", written.span, message, help);
            initial = Some(cap);
        }
        if let Some(multiplier) = policy.multiplier {
            if multiplier.value < 1.0 {
                let help = "write a number of at least 1, such as 1.3";
                return Err(self.source.fault(multiplier.span, "is a multiplier below 1", help));
            }
            settings = settings.retry_delay_multiplier(multiplier.value);
        }
        if !self.form.is_own() {
            self.missing_backoff(policy);
        }
        let attempts = policy.max_attempts.map(|attempts| attempts.value).filter(|attempts| *attempts > 0);
        Ok(settings.initial_retry_delay(initial).max_retry_delay(max).max_attempts(attempts))
    }

    /// Our own form has defaults for what is absent; other clients have not.
    fn missing_backoff(&mut self, policy: &RetryPolicy) {
        let Words { initial_delay, max_delay, delay_multiplier, .. } = self.form.words();
        for (name, absent) in [
            (initial_delay, policy.initial_backoff.is_none()),
            (max_delay, policy.max_backoff.is_none()),
            (delay_multiplier, policy.multiplier.is_none()),
        ] {
            if absent {
                let message = format!("the retry policy has no {name}");
                let help = "add it: gRPC itself rejects the whole file, and Google's Java generator stops";
                self.report("missing-backoff", policy.span, message, help);
            }
        }
    }

    /// Findings about policies that may never retry, or without end.
    fn limits(&mut self, policy: &RetryPolicy, method: &MethodConfig) {
        if codes(policy.codes.as_ref()).is_empty() {
            let span = policy.codes.as_ref().map_or(policy.span, |codes| codes.span);
            let help = self
                .help("name at least one code; gRPC itself rejects the whole file", "name at least one code");
            self.report("no-codes", span, self.form.words().no_codes, help);
        }
        self.max_attempts(policy.max_attempts, policy.span, &self.form.words().retries);
        let limited = policy.max_attempts.is_some_and(|attempts| attempts.value > 0)
            || method.own.total_timeout.or(method.timeout).is_some_and(|timeout| timeout.value > 0);
        if !limited {
            self.report("no-limits", method.span, self.form.words().no_limits, "add one of the two");
        }
    }

    fn hedging(&mut self, policy: &HedgingPolicy) -> Result<ResolvedHedging, TableError> {
        self.max_attempts(policy.max_attempts, policy.span, &self.form.words().hedging);
        Ok(ResolvedHedging {
            max_attempts: policy.max_attempts.map(|attempts| attempts.value).filter(|count| *count > 0),
            delay: policy.delay.map(|delay| self.duration(delay)).transpose()?.unwrap_or_default(),
            percentile: policy.percentile.map(|percentile| percentile.value),
            non_fatal_codes: codes(policy.non_fatal_codes.as_ref()),
        })
    }

    /// Findings about a policy's number of attempts, or that it has none.
    fn max_attempts(&mut self, attempts: Option<Located<u32>>, policy: Span, words: &PolicyWords) {
        match attempts {
            None => {
                let help = self.help(words.number_of_grpc, words.number);
                self.findings.push(self.source.note("no-max-attempts", policy, words.unlimited, help));
            }
            Some(Located { value: 0, span }) => {
                let help = self.help("gRPC itself rejects the whole file", "leave it out");
                self.report("max-attempts-below-2", span, self.form.words().no_attempts, help);
            }
            Some(Located { value: 1, span }) => {
                self.report("max-attempts-below-2", span, words.single, words.remedy);
            }
            Some(_) => {}
        }
    }

    /// The advice for a file of gRPC's, and for one of our own, which gRPC never reads.
    fn help(&self, of_grpc: &'static str, own: &'static str) -> &'static str {
        if self.form.is_own() { own } else { of_grpc }
    }

    fn duration(&self, nanos: Located<i128>) -> Result<Duration, TableError> {
        super::entry::duration(nanos.value)
            .ok_or_else(|| self.source.fault(nanos.span, "is negative", "write a time of zero or more"))
    }

    fn report(&mut self, rule: &'static str, span: Span, message: impl Into<String>, help: &'static str) {
        self.findings.push(self.source.warning(rule, span, message, help));
    }
}

//! A service config as it is written: every value exact, whatever has no meaning an error.

use super::entry::{codes, duration, entry, with_own_fields};
use super::form::{PolicyWords, Words};
use crate::document::{Located, Span};
use crate::model::written::{HedgingPolicy, MethodConfig, RetryPolicy};
use crate::model::{Entry, HedgingPolicy as ResolvedHedging};
use crate::values::Values;
use crate::{Finding, Severity, TableError};
use gax_retry::{RetrySettings, RetrySettingsBuilder};
use std::time::Duration;

/// The entry of HTTP requests, which only this project's own form has.
#[cfg(all(feature = "http", feature = "toml"))]
pub(crate) fn resolve_http(values: &Values<'_>, config: &MethodConfig) -> Result<Entry, TableError> {
    Resolver { values, words: &super::form::TOML }.method(config)
}

pub(super) struct Resolver<'a> {
    pub(super) values: &'a Values<'a>,
    pub(super) words: &'a Words,
}

impl Resolver<'_> {
    /// An entry with the settings that the file says.
    pub(super) fn method(&self, method: &MethodConfig) -> Result<Entry, TableError> {
        for name in &*method.names {
            if name.service.is_empty() && !name.method.is_empty() {
                let message = format!("the method {:?} has no service", name.method);
                let finding = Finding::new("malformed-name", Severity::Warning, message);
                let help = "add the service's full name";
                self.values.findings.push(finding.with_help(help).at(name.origin.clone()));
            }
        }
        let mut entry = entry(self.values.source, method);
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
        entry.settings = self.values.built(method.span, settings.build())?;
        Ok(entry)
    }

    fn policy(
        &self,
        policy: &RetryPolicy,
        mut settings: RetrySettingsBuilder,
    ) -> Result<RetrySettingsBuilder, TableError> {
        let delay = |backoff: Option<Located<i128>>| {
            let delay = backoff.map(|backoff| self.duration(backoff)).transpose()?;
            Ok(delay.filter(|delay| self.values.is_own || !delay.is_zero()))
        };
        let Words { initial_delay, max_delay, delay_multiplier, .. } = self.words;
        let (mut initial, max) = (delay(policy.initial_backoff)?, delay(policy.max_backoff)?);
        if let (Some(first), Some(cap), Some(written)) = (initial, max, policy.max_backoff)
            && cap < first
        {
            let message = format!("{max_delay} ({cap:?}) is shorter than {initial_delay} ({first:?})");
            let help = self.help(
                "write a maxBackoff above initialBackoff: as it is, every delay is maxBackoff, and Google's Java clients refuse to start",
                "write a max_retry_delay above initial_retry_delay: as it is, every delay is max_retry_delay",
            );
            self.values.warn("max-below-initial", written.span, message, help);
            initial = Some(cap);
        }
        if let Some(multiplier) = policy.multiplier {
            if multiplier.value < 1.0 {
                let help = "write a number of at least 1, such as 1.3";
                return Err(self.values.fault(multiplier.span, "is a multiplier below 1", help));
            }
            settings = settings.retry_delay_multiplier(multiplier.value);
        }
        // Our own form has defaults for what is absent; other clients have not.
        for (name, absent) in [
            (initial_delay, policy.initial_backoff.is_none()),
            (max_delay, policy.max_backoff.is_none()),
            (delay_multiplier, policy.multiplier.is_none()),
        ] {
            if absent && !self.values.is_own {
                let message = format!("the retry policy has no {name}");
                let help = "add it: gRPC itself rejects the whole file, and Google's Java generator stops";
                self.values.warn("missing-backoff", policy.span, message, help);
            }
        }
        let attempts = policy.max_attempts.map(|attempts| attempts.value).filter(|attempts| *attempts > 0);
        Ok(settings.initial_retry_delay(initial).max_retry_delay(max).max_attempts(attempts))
    }

    /// Findings about policies that may never retry, or without end.
    fn limits(&self, policy: &RetryPolicy, method: &MethodConfig) {
        let Words { no_codes, max_attempts, retries, .. } = self.words;
        if codes(policy.codes.as_ref()).is_empty() {
            let span = policy.codes.as_ref().map_or(policy.span, |codes| codes.span);
            let help = self
                .help("name at least one code; gRPC itself rejects the whole file", "name at least one code");
            self.values.warn("no-codes", span, *no_codes, help);
        }
        let help = self.help(
            "write one from 2 to 5 (gRPC itself rejects the whole file), and delays that together last as long as an outage",
            "write one from 2 to 5, and delays that together last as long as an outage",
        );
        self.max_attempts(policy.max_attempts, policy.span, retries, help, "retried");
        let limited = policy.max_attempts.is_some_and(|attempts| attempts.value > 0)
            || method.own.total_timeout.or(method.timeout).is_some_and(|timeout| timeout.value > 0);
        if !limited {
            let message = format!("with neither a timeout nor {max_attempts} nothing is retried");
            self.values.warn("no-limits", method.span, message, "add one of the two");
        }
    }

    fn hedging(&self, policy: &HedgingPolicy) -> Result<ResolvedHedging, TableError> {
        let help =
            self.help("write one from 2 to 5: gRPC itself rejects the whole file", "write one from 2 to 5");
        self.max_attempts(policy.max_attempts, policy.span, &self.words.hedging, help, "hedged");
        Ok(ResolvedHedging {
            max_attempts: policy.max_attempts.map(|attempts| attempts.value).filter(|count| *count > 0),
            delay: policy.delay.map(|delay| self.duration(delay)).transpose()?.unwrap_or_default(),
            percentile: policy.percentile.map(|percentile| percentile.value),
            non_fatal_codes: codes(policy.non_fatal_codes.as_ref()),
        })
    }

    /// Findings about a policy's number of attempts, or that it has none.
    fn max_attempts(
        &self,
        attempts: Option<Located<u32>>,
        policy: Span,
        words: &PolicyWords,
        number: &'static str,
        done: &str,
    ) {
        let name = self.words.max_attempts;
        match attempts {
            None => self.values.note("no-max-attempts", policy, words.unlimited, number),
            Some(Located { value: 0, span }) => {
                let help = self.help("gRPC itself rejects the whole file", "leave it out");
                let message = format!("{name} 0 is treated as absent");
                self.values.warn("max-attempts-below-2", span, message, help);
            }
            Some(Located { value: 1, span }) => {
                let message = format!("with {name} 1 nothing is {done}");
                self.values.warn("max-attempts-below-2", span, message, words.remedy);
            }
            Some(_) => {}
        }
    }

    /// The advice for a file of gRPC's, and for one of our own, which gRPC never reads.
    fn help(&self, of_grpc: &'static str, own: &'static str) -> &'static str {
        if self.values.is_own { own } else { of_grpc }
    }

    fn duration(&self, nanos: Located<i128>) -> Result<Duration, TableError> {
        let help = "write a time of zero or more";
        duration(nanos.value).ok_or_else(|| self.values.fault(nanos.span, "is negative", help))
    }
}

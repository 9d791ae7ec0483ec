//! The limits of a policy that environment variables lower.

use crate::command::table::view::Members;
use crate::failure::{Failure, usage};
use crate::render::{Ms, Ordered};
use gax_retry::{Environment, RetrySettings};
use serde_json::json;
use std::time::Duration;

/// The limits of a policy that environment variables lower, if requested.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    environment: Option<Environment>,
}

/// A limit, and the variable that it is from.
pub(super) type Bounded<T> = (Option<T>, Option<&'static str>);

impl Bounds {
    /// Those of this process, if they are asked for.
    pub(super) fn read(are_asked_for: bool) -> Result<Self, Failure> {
        let read = || Environment::read().map_err(|error| usage!("{error}"));
        Ok(Self { environment: are_asked_for.then(read).transpose()? })
    }

    pub(super) fn environment(&self) -> Environment {
        self.environment.unwrap_or_default()
    }

    /// The total timeout that counts.
    pub(super) fn total_timeout(&self, settings: &RetrySettings) -> Bounded<Duration> {
        lower(settings.total_timeout(), self.environment().total_timeout(), Environment::TOTAL_TIMEOUT)
    }

    /// The number of attempts that counts.
    pub(super) fn attempts(&self, own: Option<u32>) -> Bounded<u32> {
        if self.environment().retries_are_off() && own != Some(1) {
            return (Some(1), Some(Environment::RETRIES));
        }
        lower(own, self.environment().max_attempts(), Environment::MAX_ATTEMPTS)
    }

    /// A sentence about the variables.
    pub(super) fn sentence(&self) -> Option<String> {
        let environment = self.environment?;
        Some(if environment.is_empty() {
            "None of GAX_RETRIES, GAX_TOTAL_TIMEOUT and GAX_MAX_ATTEMPTS is set.".to_owned()
        } else {
            format!("For programs that read the environment, which overrides everything else: {environment}.")
        })
    }

    /// The variables, for programs.
    pub(super) fn json(&self) -> Option<Members> {
        let environment = self.environment?;
        Some(Ordered(vec![
            ("retries", json!(if environment.retries_are_off() { "off" } else { "on" })),
            ("total_timeout_ms", json!(environment.total_timeout().map(Ms))),
            ("max_attempts", json!(environment.max_attempts())),
        ]))
    }
}

fn lower<T: PartialOrd>(own: Option<T>, most: Option<T>, variable: &'static str) -> Bounded<T> {
    match (own, most) {
        (Some(own), Some(most)) if own <= most => (Some(own), None),
        (_, Some(most)) => (Some(most), Some(variable)),
        (own, None) => (own, None),
    }
}

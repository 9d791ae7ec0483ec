//! The attempt algorithm: events in, decisions out. No clock, no runtime, no I/O.

mod decision;
mod documented;
mod gax_java;
mod grpc;
mod operation;
mod progress;
mod recipe;
#[cfg(test)]
mod server_tests;
#[cfg(test)]
mod tests;

pub use decision::{Decision, Ending, NotAttempted, Retry, Stop};
pub use operation::OperationState;

use crate::gax_java::RawSettings;
use crate::{CodeSet, Compatibility, Recipe, RetrySettings};
use documented::Documented;
use gax_java::GaxJava;
use grpc::Grpc;
use recipe::Follow;
use std::time::Duration;

/// The settings and retryable codes of one RPC, made ready to run operations by.
///
/// Making one costs a little, using it next to nothing, so make it once for each RPC. A schedule never
/// changes; what an operation has behind it is in its [`OperationState`].
///
/// # Examples
///
/// The documentation's second table: 200 ms x 2 up to 500 ms, RPC timeouts 1500 ms x 2 up to 3000 ms,
/// 5 s in all.
///
/// ```
/// use gax_retry::{Code, CodeSet, Decision, Ending, NoJitter, OperationState, RetrySettings, Schedule};
/// use std::time::Duration;
///
/// let ms = Duration::from_millis;
/// let settings = RetrySettings::builder()
///     .initial_retry_delay(ms(200)).retry_delay_multiplier(2.0).max_retry_delay(ms(500))
///     .initial_rpc_timeout(ms(1500)).rpc_timeout_multiplier(2.0).max_rpc_timeout(ms(3000))
///     .total_timeout(ms(5000))
///     .build()?;
/// let schedule = Schedule::new(&settings, CodeSet::from(Code::DeadlineExceeded));
///
/// let mut operation = OperationState::default();
/// let first = operation.start(&schedule, ms(0)).unwrap();
/// assert_eq!(first.rpc_timeout(), Some(ms(1500)));
/// let Decision::Retry(retry) =
///     operation.ended(&schedule, ms(1500), Ending::new(Code::DeadlineExceeded), &mut NoJitter)
/// else { panic!() };
/// assert_eq!(retry.wait(), ms(200));
/// let second = operation.start(&schedule, ms(1700)).unwrap();
/// assert_eq!(second.rpc_timeout(), Some(ms(3000)));
/// # Ok::<(), gax_retry::SettingsError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    codes: CodeSet,
    rules: Rules,
}

#[derive(Debug, Clone, PartialEq)]
enum Rules {
    Documented(Documented),
    GaxJava(GaxJava),
    Grpc(Grpc),
    Recipe(Follow),
}

impl Schedule {
    /// The schedule of [`Compatibility::Documented`].
    #[must_use]
    pub fn new(settings: &RetrySettings, codes: impl Into<CodeSet>) -> Self {
        Self::with_compatibility(settings, codes, Compatibility::Documented)
    }

    /// The schedule by that library's rules.
    #[must_use]
    pub fn with_compatibility(
        settings: &RetrySettings,
        codes: impl Into<CodeSet>,
        compatibility: Compatibility,
    ) -> Self {
        match compatibility {
            Compatibility::Documented => {
                Self { codes: codes.into(), rules: Rules::Documented(Documented::new(settings)) }
            }
            Compatibility::GaxJava => {
                let codes = codes.into();
                Self { codes, rules: Rules::GaxJava(GaxJava::of(settings, codes)) }
            }
            Compatibility::Grpc => Self { codes: codes.into(), rules: Rules::Grpc(Grpc::new(settings)) },
        }
    }

    /// The schedule of [`Compatibility::GaxJava`] for settings as Java holds them, valid or not.
    #[must_use]
    pub fn gax_java(settings: &RawSettings, codes: impl Into<CodeSet>) -> Self {
        let codes = codes.into();
        Self { codes, rules: Rules::GaxJava(GaxJava::new(settings, codes)) }
    }

    /// The schedule that waits and gives up as another tool or library does.
    #[must_use]
    pub fn from_recipe(recipe: &Recipe, codes: impl Into<CodeSet>) -> Self {
        Self { codes: codes.into(), rules: Rules::Recipe(Follow::new(*recipe)) }
    }

    /// The number of attempts that is never passed although the settings would allow more: five, by
    /// gRPC's rules (a channel's limit in gRFC A6).
    #[must_use]
    pub fn attempts_cap(&self) -> Option<u32> {
        match &self.rules {
            Rules::Grpc(rules) => rules.attempts_cap(),
            Rules::Documented(_) | Rules::GaxJava(_) | Rules::Recipe(_) => None,
        }
    }

    /// Whether an attempt that ended so may be followed by another, limits and time aside.
    #[must_use]
    pub fn permits(&self, ending: Ending) -> bool {
        ending.is_retryable().unwrap_or(self.codes.contains(ending.code()))
    }

    /// The codes that are retried.
    #[must_use]
    pub fn retryable_codes(&self) -> CodeSet {
        self.codes
    }

    /// This schedule with the settings that one call brings along, in place of its own.
    ///
    /// By gax-java's rules a call's settings are used as they are: its RPC timeouts count even where
    /// the settings allow one attempt only, and jitter stays as the client has it.
    #[must_use]
    pub fn with_retry_settings(self, settings: &RetrySettings) -> Self {
        match self.rules {
            Rules::Documented(_) | Rules::Recipe(_) => Self::new(settings, self.codes),
            Rules::GaxJava(mut rules) => {
                rules.replace(settings);
                Self { rules: Rules::GaxJava(rules), ..self }
            }
            Rules::Grpc(_) => Self::with_compatibility(settings, self.codes, Compatibility::Grpc),
        }
    }

    /// This schedule with the settings that one call brings along, by gax-java's rules.
    #[must_use]
    pub fn with_raw_settings(self, settings: &RawSettings) -> Self {
        let mut rules = match self.rules {
            Rules::GaxJava(rules) => rules,
            Rules::Documented(_) | Rules::Grpc(_) | Rules::Recipe(_) => GaxJava::new(settings, self.codes),
        };
        rules.replace_settings(settings);
        Self { rules: Rules::GaxJava(rules), ..self }
    }

    /// This schedule with the retryable codes that one call brings along, in place of its own.
    ///
    /// By gax-java's rules they can't turn retries on where the method has none: that takes settings
    /// as well.
    #[must_use]
    pub fn with_retryable_codes(self, codes: impl Into<CodeSet>) -> Self {
        Self { codes: codes.into(), ..self }
    }

    /// This schedule with that timeout for every attempt.
    ///
    /// It is clamped to what is left of the total; by gax-java's rules it is not. Zero: no time is left for any
    /// attempt.
    #[must_use]
    pub fn with_attempt_timeout(mut self, timeout: Duration) -> Self {
        if timeout.is_zero() {
            return self.bounded_by(timeout);
        }
        match &mut self.rules {
            Rules::Documented(rules) => rules.set_attempt_timeout(timeout),
            Rules::GaxJava(rules) => rules.set_attempt_timeout(timeout),
            Rules::Grpc(rules) => rules.set_attempt_timeout(timeout),
            Rules::Recipe(rules) => rules.set_attempt_timeout(timeout),
        }
        self
    }

    /// This schedule without a timeout of each attempt's own: for an RPC that answers with a stream, which may well
    /// be long where its parts are not. An attempt may take all that is left of the total.
    ///
    /// By gax-java's rules it stays as it is: there the RPC timeout bounds the whole stream.
    #[must_use]
    pub fn without_rpc_timeouts(mut self) -> Self {
        match &mut self.rules {
            Rules::Documented(rules) => rules.remove_rpc_timeouts(),
            Rules::GaxJava(_) => {}
            Rules::Grpc(rules) => rules.remove_attempt_timeout(),
            Rules::Recipe(rules) => rules.remove_attempt_timeout(),
        }
        self
    }

    /// This schedule for an operation that its caller gives no more than `timeout`: no attempt starts
    /// after it or runs beyond it.
    #[must_use]
    pub fn bounded_by(mut self, timeout: Duration) -> Self {
        match &mut self.rules {
            Rules::Documented(rules) => rules.shorten_total(timeout),
            Rules::GaxJava(rules) => rules.shorten_total(timeout),
            Rules::Grpc(rules) => rules.shorten_total(timeout),
            Rules::Recipe(rules) => rules.shorten_total(timeout),
        }
        self
    }
}

//! Settings that are wrong.

use crate::ParseCodeError;
use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

/// Settings that can't be used, with all their problems.
///
/// # Examples
///
/// ```
/// # use gax_retry as tonic_gax;
/// use tonic_gax::RetrySettings;
///
/// let error = RetrySettings::builder().retry_delay_multiplier(0.5).max_attempts(0).build().unwrap_err();
/// assert_eq!(error.problems().len(), 2);
/// assert_eq!(error.problems()[0].field(), "retry_delay_multiplier");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsError {
    subject: &'static str,
    problems: Vec<SettingsProblem>,
}

gax_text::error_text! { SettingsError { subject, problems }, "{subject} are not valid: {}", problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ") }

impl SettingsError {
    /// The error of these problems, if there are any.
    ///
    /// # Errors
    ///
    /// There is a problem.
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_retry::{SettingsError, settings::SettingsProblem};
    ///
    /// SettingsError::check(Vec::new())?;
    /// let problem = SettingsProblem::new("polling", "none", "must have a limit").of_rpc("Export");
    /// let error = SettingsError::check(vec![problem]).unwrap_err();
    /// assert_eq!(error.to_string(), "retry settings are not valid: Export: polling is none, but must have a limit");
    /// # Ok::<(), SettingsError>(())
    /// ```
    pub fn check(problems: Vec<SettingsProblem>) -> Result<(), Self> {
        if problems.is_empty() { Ok(()) } else { Err(Self::new(problems)) }
    }

    pub(crate) fn new(problems: Vec<SettingsProblem>) -> Self {
        Self { subject: "retry settings", problems }
    }

    /// The error of these problems of batching settings, if there are any.
    #[cfg(feature = "batching")]
    pub(crate) fn check_batching(problems: Vec<SettingsProblem>) -> Result<(), Self> {
        if problems.is_empty() { Ok(()) } else { Err(Self { subject: "batching settings", problems }) }
    }

    /// Every field that is wrong, in the order of the fields.
    pub fn problems(&self) -> &[SettingsProblem] {
        &self.problems
    }
}

/// One field that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct SettingsProblem {
    rpc: Option<&'static str>,
    field: &'static str,
    value: String,
    reason: Cow<'static, str>,
}

impl SettingsProblem {
    /// A field with that value, which is wrong for that reason.
    pub fn new(field: &'static str, value: impl Into<String>, reason: impl Into<Cow<'static, str>>) -> Self {
        Self { rpc: None, field, value: value.into(), reason: reason.into() }
    }

    /// The problem of one RPC among several.
    pub fn of_rpc(self, rpc: &'static str) -> Self {
        Self { rpc: Some(rpc), ..self }
    }

    /// A factor that is not one.
    pub(crate) fn of_multiplier(field: &'static str, value: f64) -> Option<Self> {
        let valid = value.is_finite() && value >= 1.0;
        (!valid).then(|| Self::new(field, value.to_string(), "must be a finite number, at least 1"))
    }

    /// A number of attempts that is none.
    pub(crate) fn of_attempts(attempts: Option<u32>) -> Option<Self> {
        let none = attempts.filter(|attempts| *attempts == 0);
        none.map(|_| Self::new("max_attempts", "0", "must be at least 1 (the first attempt counts)"))
    }

    /// A greatest value below the initial one.
    pub(crate) fn of_cap(
        (field, cap): (&'static str, Option<Duration>),
        (initial_field, initial): (&'static str, Option<Duration>),
    ) -> Option<Self> {
        let (cap, initial) = (cap?, initial?);
        (cap < initial).then(|| {
            let reason = format!("must not be shorter than {initial_field} ({initial:?})");
            Self::new(field, format!("{cap:?}"), reason)
        })
    }

    /// A retryable code that isn't a code.
    pub fn of_code(error: &ParseCodeError) -> Self {
        Self::new("retryable_codes", error.text(), "gRPC status codes are numbered from 0 to 16")
    }

    gax_text::getters! { self:
        /// The RPC whose settings are wrong, such as `ExportAssets`, if several RPCs were checked.
        pub rpc: Option<&'static str> = self.rpc;

        /// The field's name, as the builder spells it.
        pub field: &'static str = self.field;

        /// The value it has.
        pub value: &str = &self.value;

        /// The reason: `must be ..`.
        pub reason: &str = &self.reason;
    }
}

impl fmt::Display for SettingsProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(rpc) = self.rpc {
            write!(f, "{rpc}: ")?;
        }
        write!(f, "{} is {}, but {}", self.field, self.value, self.reason)
    }
}

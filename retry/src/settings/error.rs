//! What is wrong with settings.

use std::borrow::Cow;
use std::fmt;

/// Settings that can't be used, with everything that is wrong with them.
///
/// # Examples
///
/// ```
/// use gax_retry::RetrySettings;
///
/// let error = RetrySettings::builder().retry_delay_multiplier(0.5).max_attempts(0).build().unwrap_err();
/// assert_eq!(error.problems().len(), 2);
/// assert_eq!(error.problems()[0].field(), "retry_delay_multiplier");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsError {
    problems: Vec<SettingsProblem>,
}

impl SettingsError {
    pub(super) fn new(problems: Vec<SettingsProblem>) -> Self {
        Self { problems }
    }

    /// Every field that is wrong, in the order of the fields.
    #[must_use]
    pub fn problems(&self) -> &[SettingsProblem] {
        &self.problems
    }
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("retry settings are not valid: ")?;
        for (index, problem) in self.problems.iter().enumerate() {
            if index > 0 {
                f.write_str("; ")?;
            }
            write!(f, "{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for SettingsError {}

/// One field that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsProblem {
    field: &'static str,
    value: String,
    reason: Cow<'static, str>,
}

impl SettingsProblem {
    pub(super) fn new(
        field: &'static str,
        value: impl Into<String>,
        reason: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self { field, value: value.into(), reason: reason.into() }
    }

    /// The field's name, as the builder spells it.
    #[must_use]
    pub fn field(&self) -> &'static str {
        self.field
    }

    /// The value it has.
    #[must_use]
    pub fn value(&self) -> &str {
        &self.value
    }

    /// What it must be.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

impl fmt::Display for SettingsProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}, but {}", self.field, self.value, self.reason)
    }
}

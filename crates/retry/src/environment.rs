//! Limits that operators set by environment variables.

use gax_text::parse_duration;
use std::ffi::OsString;
use std::fmt;
use std::num::NonZeroU32;
use std::time::Duration;

/// Limits for all operations that an operator sets with environment variables, for emergencies in which no new
/// version can be deployed.
///
/// | variable | value | effect |
/// | --- | --- | --- |
/// | `GAX_RETRIES` | `off`, or `on` | off: every operation has one attempt, whatever settings and calls say. On: no effect |
/// | `GAX_TOTAL_TIMEOUT` | a duration, such as `30s` or `1500ms` | no operation takes longer. It lengthens none |
/// | `GAX_MAX_ATTEMPTS` | a whole number, at least 1 | no operation makes more attempts. It allows none more |
///
/// A variable that is not set, or empty, has no effect. The variables only apply if the program reads them and passes
/// them on: to `OperationOptions::environment` of tonic-gax, or to
/// [`Policy::with_environment`](crate::Policy::with_environment). They take precedence over everything else, including
/// call options.
///
/// # Examples
///
/// ```
/// use gax_retry::Environment;
/// use std::time::Duration;
///
/// let environment = Environment::from_variables(|name| (name == "GAX_TOTAL_TIMEOUT").then(|| "30s".into()))?;
/// assert_eq!(environment.total_timeout(), Some(Duration::from_secs(30)));
///
/// let wrong = Environment::from_variables(|name| (name == "GAX_RETRIES").then(|| "0".into()));
/// assert_eq!(wrong.unwrap_err().to_string(), "GAX_RETRIES is \"0\"; write off or on");
/// # Ok::<(), gax_retry::environment::EnvironmentError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Environment {
    retries_are_off: bool,
    total_timeout: Option<Duration>,
    max_attempts: Option<NonZeroU32>,
}

impl Environment {
    /// Turns retries off.
    pub const RETRIES: &str = "GAX_RETRIES";
    /// Bounds the time of operations.
    pub const TOTAL_TIMEOUT: &str = "GAX_TOTAL_TIMEOUT";
    /// Bounds the number of attempts.
    pub const MAX_ATTEMPTS: &str = "GAX_MAX_ATTEMPTS";

    /// Reads the variables of the process.
    ///
    /// # Errors
    ///
    /// A value is invalid. The error names all invalid values.
    pub fn read() -> Result<Self, EnvironmentError> {
        Self::from_variables(std::env::var_os)
    }

    /// Reads variables from another source: for tests, and for programs with their own configuration.
    ///
    /// # Errors
    ///
    /// See [`read`](Self::read).
    pub fn from_variables(
        variable: impl Fn(&'static str) -> Option<OsString>,
    ) -> Result<Self, EnvironmentError> {
        let mut environment = Self::default();
        let mut problems = Vec::new();
        let set = |name| variable(name).filter(|value| !value.is_empty());
        let mut read = |name, take: &mut dyn FnMut(&str) -> Result<(), String>| {
            let Some(value) = set(name) else { return };
            let taken = match value.to_str() {
                Some(value) => take(value.trim()),
                None => Err("; write it in UTF-8".to_owned()),
            };
            if let Err(problem) = taken {
                problems.push(format!("{name} is {:?}{problem}", value.to_string_lossy()));
            }
        };
        read(Self::RETRIES, &mut |value| {
            environment.retries_are_off = match value {
                "off" => true,
                "on" => false,
                _ => return Err("; write off or on".to_owned()),
            };
            Ok(())
        });
        read(Self::TOTAL_TIMEOUT, &mut |value| {
            let timeout = parse_duration(value).map_err(|error| format!(", which {error}"))?;
            if timeout.is_zero() {
                return Err(", which leaves no time; write a longer one".to_owned());
            }
            environment.total_timeout = Some(timeout);
            Ok(())
        });
        read(Self::MAX_ATTEMPTS, &mut |value| {
            let attempts = value.parse().map_err(|_| "; write a whole number, at least 1".to_owned())?;
            environment.max_attempts = Some(attempts);
            Ok(())
        });
        if problems.is_empty() { Ok(environment) } else { Err(EnvironmentError { problems }) }
    }

    gax_text::getters! { self:
        /// Returns whether every operation has one attempt only.
        pub retries_are_off: bool = self.retries_are_off;

        /// The longest time of an operation.
        pub total_timeout: Option<Duration> = self.total_timeout;

        /// The most attempts of an operation, the first included.
        pub max_attempts: Option<u32> = self.max_attempts.map(NonZeroU32::get);
    }

    /// Returns whether it bounds nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The shorter limits of both.
    pub(crate) fn and(&self, other: &Self) -> Self {
        let shorter = |one: Option<Duration>, other: Option<Duration>| one.into_iter().chain(other).min();
        Self {
            retries_are_off: self.retries_are_off || other.retries_are_off,
            total_timeout: shorter(self.total_timeout, other.total_timeout),
            max_attempts: self.max_attempts.into_iter().chain(other.max_attempts).min(),
        }
    }

    /// The variables that are set, as a shell would set them.
    fn assignments(&self) -> String {
        let retries = self.retries_are_off.then(|| format!("{}=off", Self::RETRIES));
        let total = self.total_timeout.map(|total| format!("{}={total:?}", Self::TOTAL_TIMEOUT));
        let attempts = self.max_attempts.map(|most| format!("{}={most}", Self::MAX_ATTEMPTS));
        let set: Vec<_> = [retries, total, attempts].into_iter().flatten().collect();
        set.join(" ")
    }
}

/// The variables that are set, as one writes them; `no variable is set`.
/// Short, as a shell would set it: `Environment(GAX_MAX_ATTEMPTS=3)`.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Environment({})", self.assignments())
    }
}

impl fmt::Display for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("no variable is set");
        }
        f.write_str(&self.assignments())
    }
}

/// Environment variables whose values have no meaning: one sentence that names each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvironmentError {
    problems: Vec<String>,
}

gax_text::error_text! { EnvironmentError { problems }, "{}", problems.join(", and ") }

impl EnvironmentError {
    /// One for each variable.
    #[must_use]
    pub fn problems(&self) -> &[String] {
        &self.problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Result<Environment, EnvironmentError> {
        Environment::from_variables(|name| {
            variables.iter().find(|(other, _)| *other == name).map(|(_, value)| value.into())
        })
    }

    #[test]
    fn what_is_not_set_or_empty_has_no_effect() {
        assert!(of(&[]).unwrap().is_empty());
        assert!(of(&[("GAX_RETRIES", ""), ("GAX_MAX_ATTEMPTS", "")]).unwrap().is_empty());
        assert!(of(&[("GAX_RETRIES", "on")]).unwrap().is_empty());
        assert_eq!(Environment::default().to_string(), "no variable is set");
    }

    #[test]
    fn values_are_read() {
        let all = of(&[("GAX_RETRIES", "off"), ("GAX_TOTAL_TIMEOUT", " 1500ms"), ("GAX_MAX_ATTEMPTS", "3")]);
        let all = all.unwrap();
        assert!(all.retries_are_off());
        assert_eq!(all.total_timeout(), Some(Duration::from_millis(1500)));
        assert_eq!(all.max_attempts(), Some(3));
        assert_eq!(all.to_string(), "GAX_RETRIES=off GAX_TOTAL_TIMEOUT=1.5s GAX_MAX_ATTEMPTS=3");
        assert_eq!(
            format!("{:?}", of(&[("GAX_MAX_ATTEMPTS", "3")]).unwrap()),
            "Environment(GAX_MAX_ATTEMPTS=3)"
        );
    }

    #[test]
    fn bad_values_are_refused_all_at_once() {
        let problem = |name, value| of(&[(name, value)]).unwrap_err().to_string();
        assert_eq!(problem("GAX_RETRIES", "no"), "GAX_RETRIES is \"no\"; write off or on");
        assert_eq!(
            problem("GAX_TOTAL_TIMEOUT", "30"),
            "GAX_TOTAL_TIMEOUT is \"30\", which has no unit after 30; write a duration such as 1500ms, 1.5s, 2m or 1h30m"
        );
        assert_eq!(
            problem("GAX_TOTAL_TIMEOUT", "0s"),
            "GAX_TOTAL_TIMEOUT is \"0s\", which leaves no time; write a longer one"
        );
        for wrong in ["0", "-1", "many", "1.5", "4294967296"] {
            assert_eq!(
                problem("GAX_MAX_ATTEMPTS", wrong),
                format!("GAX_MAX_ATTEMPTS is {wrong:?}; write a whole number, at least 1")
            );
        }
        let both = of(&[("GAX_RETRIES", "no"), ("GAX_MAX_ATTEMPTS", "x")]).unwrap_err();
        assert_eq!(both.problems().len(), 2);
    }
}

//! Numbers that only make sense within bounds.

use super::DurationText;
use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::time::Duration;

/// A timeout above zero. In code zero says that no time is left; in a file it is a mistake, and can't be written either.
///
/// # Examples
///
/// ```
/// use gax_retry::stored::Timeout;
/// use std::time::Duration;
///
/// assert_eq!(serde_json::from_str::<Timeout>("\"1m 30s\"")?, Timeout(Duration::from_secs(90)));
/// assert!(serde_json::from_str::<Timeout>("\"0s\"").is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a wrapper around one value, made where it is written")]
pub struct Timeout(pub Duration);

impl Serialize for Timeout {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_zero() {
            return Err(S::Error::custom("a timeout of zero can't be stored: it means that no time is left"));
        }
        DurationText(self.0).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Timeout {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let DurationText(timeout) = DurationText::deserialize(deserializer)?;
        if timeout.is_zero() {
            return Err(D::Error::custom(
                "a timeout of zero is no limit; leave it out, or write a longer one",
            ));
        }
        Ok(Self(timeout))
    }
}

/// A number of attempts: at least 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[expect(clippy::exhaustive_structs, reason = "a wrapper around one value, made where it is written")]
pub struct Attempts(pub u32);

impl<'de> Deserialize<'de> for Attempts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u32::deserialize(deserializer)? {
            0 => Err(D::Error::custom("max_attempts must be at least 1 (the first attempt counts)")),
            attempts => Ok(Self(attempts)),
        }
    }
}

/// A factor by which delays or timeouts grow: finite, and at least 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[expect(clippy::exhaustive_structs, reason = "a wrapper around one value, made where it is written")]
pub struct Multiplier(pub f64);

impl<'de> Deserialize<'de> for Multiplier {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let multiplier = f64::deserialize(deserializer)?;
        if !multiplier.is_finite() || multiplier < 1.0 {
            return Err(D::Error::custom(format_args!(
                "a multiplier must be a finite number, at least 1, not {multiplier}"
            )));
        }
        Ok(Self(multiplier))
    }
}

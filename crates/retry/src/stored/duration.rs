//! Durations, in the two forms that programs read.

use gax_text::{parse_duration, time_text};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::time::Duration;

/// A duration as tables in TOML have it: `"1500ms"`, `"1h30m"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a wrapper around one value, made where it is written")]
pub struct DurationText(pub Duration);

impl Serialize for DurationText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&time_text(i128::try_from(self.0.as_nanos()).unwrap_or(i128::MAX)))
    }
}

impl<'de> Deserialize<'de> for DurationText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        let duration = parse_duration(&text);
        duration.map(Self).map_err(|error| D::Error::custom(format_args!("{text:?} {error}")))
    }
}

/// Fields of durations that are read and written as a [`DurationText`].
#[cfg(feature = "batching-settings")]
pub(crate) mod duration_text {
    use super::{Deserialize as _, Deserializer, Duration, DurationText, Serialize as _, Serializer};

    pub(crate) fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        DurationText(*duration).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        DurationText::deserialize(deserializer).map(|DurationText(duration)| duration)
    }
}

/// A duration as a number of milliseconds, whole or with a fraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a wrapper around one value, made where it is written")]
pub struct Milliseconds(pub Duration);

impl Serialize for Milliseconds {
    #[expect(clippy::cast_precision_loss, reason = "the nearest double is what is wanted")]
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match u64::try_from(self.0.as_millis()) {
            Ok(whole) if self.0.subsec_nanos().is_multiple_of(1_000_000) => serializer.serialize_u64(whole),
            _ => serializer.serialize_f64(self.0.as_nanos() as f64 / 1e6),
        }
    }
}

impl<'de> Deserialize<'de> for Milliseconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = f64::deserialize(deserializer)?;
        Duration::try_from_secs_f64(number / 1e3).map(Self).map_err(|_| {
            D::Error::custom(format_args!("{number} is no time; write milliseconds of zero or more"))
        })
    }
}

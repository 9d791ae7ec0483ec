//! Hedging.

use super::duration::DurationText;
use crate::{CodeSet, Hedging};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HedgingFields {
    max_attempts: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    delay: Option<DurationText>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    percentile: Option<f64>,
    #[serde(default)]
    non_fatal_codes: CodeSet,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    allow_non_idempotent: bool,
}

impl Serialize for Hedging {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = HedgingFields {
            max_attempts: self.max_attempts(),
            delay: self.delay_between().map(DurationText),
            percentile: self.percentile_of_latencies(),
            non_fatal_codes: self.codes(),
            allow_non_idempotent: self.allows_non_idempotent(),
        };
        fields.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Hedging {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = HedgingFields::deserialize(deserializer)?;
        let mut hedging = Hedging::new(fields.max_attempts).non_fatal_codes(fields.non_fatal_codes);
        if let Some(DurationText(delay)) = fields.delay {
            hedging = hedging.delay(delay);
        }
        if let Some(percentile) = fields.percentile {
            hedging = hedging.percentile(percentile);
        }
        if fields.allow_non_idempotent {
            hedging = hedging.allow_non_idempotent();
        }
        match hedging.problems().first() {
            Some(problem) => Err(D::Error::custom(problem)),
            None => Ok(hedging),
        }
    }
}

//! Settings as programs store them (feature `serde`).

use crate::settings::call_options::CallOptions;
use crate::settings::call_settings::CallSettings;
use gax_retry::__private::{StoredCall, StoredOptions};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

impl Serialize for CallSettings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(wrong) = self.wrong_code() {
            return Err(S::Error::custom(wrong));
        }
        let stored = StoredCall {
            settings: self.retry_settings().clone(),
            codes: self.retryable_codes(),
            hedging: self.hedging().copied(),
            batching: self.batching_settings().cloned(),
        };
        stored.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for CallSettings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let StoredCall { settings, codes, hedging, batching } = StoredCall::deserialize(deserializer)?;
        Ok(CallSettings::new(settings, codes).with_hedging(hedging).with_batching(batching))
    }
}

impl Serialize for CallOptions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_stored().map_err(S::Error::custom)?.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for CallOptions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        StoredOptions::deserialize(deserializer).map(Self::from_stored)
    }
}

//! Settings of an RPC as programs store them (feature `serde`).

use crate::settings::call_settings::CallSettings;
use gax_retry::stored::Timeout;
use gax_retry::{BatchingSettings, CodeSet, Hedging, MethodSettings, RetrySettings};
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, Error as _, IntoDeserializer as _, MapAccess, Visitor};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

#[cfg(test)]
mod tests;

impl Serialize for CallSettings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Fields<'a> {
            #[serde(flatten)]
            settings: &'a RetrySettings,
            codes: CodeSet,
            #[serde(skip_serializing_if = "Option::is_none")]
            hedging: Option<Hedging>,
            #[serde(skip_serializing_if = "Option::is_none")]
            batching: Option<&'a BatchingSettings>,
            #[serde(skip_serializing_if = "Option::is_none")]
            wait_timeout: Option<Timeout>,
            #[serde(skip_serializing_if = "Option::is_none")]
            idle_timeout: Option<Timeout>,
        }

        let fields = Fields {
            settings: self.retry_settings(),
            codes: self.method.codes().map_err(S::Error::custom)?,
            hedging: self.hedging(),
            batching: self.batching_settings(),
            wait_timeout: self.method.wait_timeout().map(Timeout),
            idle_timeout: self.method.idle_timeout().map(Timeout),
        };
        fields.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for CallSettings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(CallSettingsVisitor)
    }
}

/// The fields that stand in addition to those of [`RetrySettings`] in one map. serde's own `flatten` can't refuse unknown
/// fields, and its errors have no place.
#[derive(Default)]
#[expect(
    clippy::option_option,
    reason = "a field that is null stands there all the same, and can do so once only"
)]
struct OtherFields {
    codes: Option<CodeSet>,
    hedging: Option<Option<Hedging>>,
    batching: Option<Option<BatchingSettings>>,
    wait_timeout: Option<Option<Timeout>>,
    idle_timeout: Option<Option<Timeout>>,
}

/// Their names, as an error lists them.
const OTHERS: &str = "`codes`, `hedging`, `batching`, `wait_timeout`, `idle_timeout`";

struct CallSettingsVisitor;

impl<'de> Visitor<'de> for CallSettingsVisitor {
    type Value = CallSettings;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the settings of an RPC")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<CallSettings, A::Error> {
        let mut others = OtherFields::default();
        let map = RetryFields { map, others: &mut others };
        let settings = RetrySettings::deserialize(MapAccessDeserializer::new(map))?;
        let OtherFields { codes, hedging, batching, wait_timeout, idle_timeout } = others;
        let time = |timeout: Option<Option<Timeout>>| timeout.flatten().map(|Timeout(time)| time);
        let method = MethodSettings::new(settings, codes.unwrap_or_default())
            .hedging(hedging.flatten())
            .stream_timeouts(time(wait_timeout), time(idle_timeout));
        Ok(CallSettings { batching: batching.flatten(), ..method.into() })
    }
}

/// A map as [`RetrySettings`] see it: the other fields are taken out.
struct RetryFields<'a, A> {
    map: A,
    others: &'a mut OtherFields,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for RetryFields<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        while let Some(key) = self.map.next_key::<String>()? {
            match &*key {
                "codes" => put(&mut self.others.codes, "codes", &mut self.map)?,
                "hedging" => put(&mut self.others.hedging, "hedging", &mut self.map)?,
                "batching" => put(&mut self.others.batching, "batching", &mut self.map)?,
                "wait_timeout" => put(&mut self.others.wait_timeout, "wait_timeout", &mut self.map)?,
                "idle_timeout" => put(&mut self.others.idle_timeout, "idle_timeout", &mut self.map)?,
                _ => {
                    let key = seed.deserialize(key.into_deserializer());
                    return key
                        .map(Some)
                        .map_err(|error: A::Error| A::Error::custom(format_args!("{error}, {OTHERS}")));
                }
            }
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}

/// Reads the value of a field, which can occur only once.
fn put<'de, T: Deserialize<'de>, A: MapAccess<'de>>(
    field: &mut Option<T>,
    name: &'static str,
    map: &mut A,
) -> Result<(), A::Error> {
    match field.replace(map.next_value()?) {
        None => Ok(()),
        Some(_) => Err(A::Error::duplicate_field(name)),
    }
}

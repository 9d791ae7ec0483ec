//! Options of a request as programs store them (feature `serde`).

use crate::options::HttpCallOptions;
use gax_driver::__private::{read_override, write_override};
use gax_retry::settings::Override;
use gax_retry::stored::Timeout;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The names are those of the setters.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct HttpOptionFields {
    #[serde(skip_serializing_if = "Option::is_none")]
    max_replay_bytes: Option<usize>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    without_replay_limit: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_response_buffer: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body_idle_timeout: Option<Timeout>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    without_body_idle_timeout: bool,
}

impl Serialize for HttpCallOptions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (body_idle_timeout, without_body_idle_timeout) = write_override(self.body_idle_timeout);
        let fields = HttpOptionFields {
            max_replay_bytes: self.max_replay_bytes.filter(|bytes| *bytes != usize::MAX),
            without_replay_limit: self.max_replay_bytes == Some(usize::MAX),
            max_response_buffer: self.max_response_buffer,
            body_idle_timeout: body_idle_timeout.map(Timeout),
            without_body_idle_timeout,
        };
        fields.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for HttpCallOptions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = HttpOptionFields::deserialize(deserializer)?;
        let names = ["max_replay_bytes", "without_replay_limit"];
        let replay = read_override(names, fields.max_replay_bytes, fields.without_replay_limit)?;
        let names = ["body_idle_timeout", "without_body_idle_timeout"];
        let timeout = fields.body_idle_timeout.map(|Timeout(timeout)| timeout);
        Ok(Self {
            max_replay_bytes: match replay {
                Override::Unset => None,
                Override::Set(bytes) => Some(bytes),
                Override::Disabled => Some(usize::MAX),
            },
            max_response_buffer: fields.max_response_buffer,
            body_idle_timeout: read_override(names, timeout, fields.without_body_idle_timeout)?,
        })
    }
}

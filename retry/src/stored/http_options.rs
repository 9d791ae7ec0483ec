//! What a single HTTP request sets.

use super::numbers::Timeout;
use super::override_words::{read_override, write_override};
use crate::Override;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::time::Duration;

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
    no_body_idle_timeout: bool,
}

/// All that the limits of an HTTP request say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "it is taken apart where it is read")]
pub struct StoredHttpOptions {
    /// The longest body that is buffered for replay.
    pub max_replay_bytes: Override<usize>,
    /// The most bytes of a success that are buffered.
    pub max_response_buffer: Option<usize>,
    /// The longest pause in a response's body.
    pub body_idle_timeout: Override<Duration>,
}

impl Serialize for StoredHttpOptions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (max_replay_bytes, without_replay_limit) = write_override(self.max_replay_bytes);
        let (body_idle_timeout, no_body_idle_timeout) = write_override(self.body_idle_timeout);
        let fields = HttpOptionFields {
            max_replay_bytes,
            without_replay_limit,
            max_response_buffer: self.max_response_buffer,
            body_idle_timeout: body_idle_timeout.map(Timeout),
            no_body_idle_timeout,
        };
        fields.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for StoredHttpOptions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = HttpOptionFields::deserialize(deserializer)?;
        let replay = ["max_replay_bytes", "without_replay_limit"];
        let idle = ["body_idle_timeout", "no_body_idle_timeout"];
        let timeout = fields.body_idle_timeout.map(|Timeout(timeout)| timeout);
        Ok(Self {
            max_replay_bytes: read_override(replay, fields.max_replay_bytes, fields.without_replay_limit)?,
            max_response_buffer: fields.max_response_buffer,
            body_idle_timeout: read_override(idle, timeout, fields.no_body_idle_timeout)?,
        })
    }
}

//! The rows of plans and reports.

use super::duration::Milliseconds;
use crate::{Attempt, Code, NotAttempted};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AttemptFields {
    attempt: u32,
    rpc_timeout_ms: Option<Milliseconds>,
    retry_delay_ms: Milliseconds,
    start_ms: Milliseconds,
    end_ms: Milliseconds,
    code: Code,
    #[serde(default, skip_serializing_if = "is_zero")]
    transparent_retries: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl Serialize for Attempt {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = AttemptFields {
            attempt: self.number(),
            rpc_timeout_ms: self.rpc_timeout().map(Milliseconds),
            retry_delay_ms: Milliseconds(self.delay()),
            start_ms: Milliseconds(self.start()),
            end_ms: Milliseconds(self.end()),
            code: self.code(),
            transparent_retries: self.transparent_retries(),
        };
        fields.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Attempt {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = AttemptFields::deserialize(deserializer)?;
        Ok(Attempt::stored(
            [fields.attempt, fields.transparent_retries],
            fields.rpc_timeout_ms.map(|Milliseconds(timeout)| timeout),
            fields.retry_delay_ms.0,
            [fields.start_ms.0, fields.end_ms.0],
            fields.code,
        ))
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NotAttemptedFields {
    attempt: u32,
    retry_delay_ms: Milliseconds,
}

impl Serialize for NotAttempted {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields =
            NotAttemptedFields { attempt: self.attempt(), retry_delay_ms: Milliseconds(self.delay()) };
        fields.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for NotAttempted {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = NotAttemptedFields::deserialize(deserializer)?;
        Ok(NotAttempted::stored(fields.attempt, fields.retry_delay_ms.0))
    }
}

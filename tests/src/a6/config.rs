//! The config of a case, and the frames and codes that most cases have.

use crate::RawFrame;
use tonic::Code;

/// The base policy of a service config, with other values in the place of some.
#[must_use]
pub fn config(changes: &[(&str, &str)], throttling: &str) -> String {
    let mut fields = [
        ("maxAttempts", "4"),
        ("initialBackoff", "\"0.1s\""),
        ("maxBackoff", "\"1s\""),
        ("backoffMultiplier", "2"),
        ("retryableStatusCodes", "[\"UNAVAILABLE\"]"),
    ];
    for (name, value) in changes {
        fields.iter_mut().find(|field| field.0 == *name).unwrap().1 = value;
    }
    let fields: Vec<String> = fields.iter().map(|(name, value)| format!("\"{name}\": {value}")).collect();
    format!(
        r#"{{"methodConfig": [{{"name": [{{}}], "retryPolicy": {{{}}}}}]{throttling}}}"#,
        fields.join(", ")
    )
}

/// UNAVAILABLE alone, and with a pushback.
pub const U: RawFrame = RawFrame::Status(14, None);

pub(super) fn pushed(value: &'static str) -> RawFrame {
    RawFrame::Status(14, Some(value))
}

/// The least and the most milliseconds before the second attempt.
pub(super) const FIRST: (u64, u64) = (80, 120);
/// The code of an outage.
pub const DOWN: Code = Code::Unavailable;

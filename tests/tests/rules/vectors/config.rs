//! The config of a case, the layer that follows it, and the frames and codes that most cases have.
#![expect(clippy::unwrap_used, reason = "a config that can't be read fails its test")]

use gax_table::{Dialect, RetryTable};
use tonic::Code;
use tonic_gax::{OperationOptions, RetryLayer};
use tonic_gax_tests::RawFrame;
use tonic_gax_tests::generated::DESCRIPTORS;

/// The base policy, with other values in the place of some.
pub(super) fn config(changes: &[(&str, &str)], throttling: &str) -> String {
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

pub(super) fn layer(config: &str) -> RetryLayer {
    let table = RetryTable::reader().dialect(Dialect::Grpc).read(config.as_bytes()).unwrap();
    let layer = RetryLayer::new(table).with_descriptors(DESCRIPTORS).unwrap();
    layer.options(OperationOptions::new().jitter_seed(3))
}

/// UNAVAILABLE alone, and with a pushback.
pub(super) const U: RawFrame = RawFrame::Status(14, None);

pub(super) fn pushed(value: &'static str) -> RawFrame {
    RawFrame::Status(14, Some(value))
}

/// The least and the most milliseconds before the second attempt.
pub(super) const FIRST: (u64, u64) = (80, 120);
pub(super) const DOWN: Code = Code::Unavailable;

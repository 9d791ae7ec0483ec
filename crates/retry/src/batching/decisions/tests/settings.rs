//! Settings that can't work.

use super::by_hand::settings;
use crate::LimitExceeded::{Block, Ignore, ThrowException};
use crate::batching::{BatchingPolicy, BatchingRules, BatchingSettings};

fn problems(settings: BatchingSettings) -> Option<String> {
    BatchingPolicy::new(settings, BatchingRules::Reached).err().map(|error| error.to_string())
}

#[test]
fn limits_below_thresholds_are_refused_unless_they_are_ignored() {
    let below = |beyond| {
        settings()
            .element_count_threshold(10)
            .request_byte_threshold(1000)
            .max_outstanding_elements(9)
            .max_outstanding_bytes(999)
            .limit_exceeded(beyond)
            .build()
    };
    assert_eq!(problems(below(Ignore)), None);
    for beyond in [Block, ThrowException] {
        assert_eq!(
            problems(below(beyond)).as_deref(),
            Some(
                "batching settings are not valid: max_outstanding_elements is 9, but must not be below \
                 element_count_threshold (10); max_outstanding_bytes is 999, but must not be below \
                 request_byte_threshold (1000)"
            )
        );
    }
}

#[test]
fn limits_at_the_thresholds_are_fine_and_none_has_to_be_set() {
    let at = settings().element_count_threshold(10).max_outstanding_elements(10).limit_exceeded(Block);
    assert_eq!(problems(at.build()), None);
    assert_eq!(problems(settings().limit_exceeded(Block).build()), None);
    // Without a threshold a batch need not fill up.
    let free = BatchingSettings::builder().max_outstanding_elements(9).max_outstanding_bytes(9);
    assert_eq!(problems(free.limit_exceeded(Block).build()), None);
}

#[test]
fn a_limit_of_zero_lets_nothing_pass() {
    let zero = settings().max_outstanding_elements(0).limit_exceeded(Block);
    assert_eq!(
        problems(zero.build()).as_deref(),
        Some("batching settings are not valid: max_outstanding_elements is 0, but must be at least 1")
    );
    // With thresholds of 0 each element is a batch as with 1: somebody meant something else.
    let zero = settings().element_count_threshold(0).request_byte_threshold(0);
    let text = "batching settings are not valid: element_count_threshold is 0, but must be at least 1; \
                request_byte_threshold is 0, but must be at least 1";
    assert_eq!(problems(zero.build()).as_deref(), Some(text));
}

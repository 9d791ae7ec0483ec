//! When batches are sent: thresholds and delays, by both rules.

use super::by_hand::{ByHand, MS, settings};
use crate::batching::{BatchingSettings, ElementSize};
use std::time::Duration;

const FOUR: ElementSize = ElementSize::of_bytes(4);

/// Seven elements of four bytes, and close.
fn seven(mut batches: ByHand) -> Vec<String> {
    for name in ["a", "b", "c", "d", "e", "f", "g"] {
        batches.add_of(name, FOUR);
    }
    batches.close().log()
}

#[test]
fn in_code_the_element_that_would_exceed_a_threshold_sends_the_batch_before_it() {
    let by_elements = seven(ByHand::exceeded(settings().element_count_threshold(3)));
    assert_eq!(
        by_elements,
        ["0 send 1: a b c (elements)", "0 send 2: d e f (elements)", "0 send 3: g (close)"]
    );
    // A threshold that was left out is none.
    let set = BatchingSettings::builder().element_count_threshold(3).delay_threshold(MS);
    assert_eq!(seven(ByHand::exceeded(set)), by_elements);
    let by_bytes = seven(ByHand::exceeded(settings().request_byte_threshold(10)));
    assert_eq!(
        by_bytes,
        ["0 send 1: a b (bytes)", "0 send 2: c d (bytes)", "0 send 3: e f (bytes)", "0 send 4: g (close)"]
    );
}

#[test]
fn by_a_descriptor_a_batch_is_sent_when_it_has_reached_a_threshold() {
    let by_elements = seven(ByHand::reached(settings().element_count_threshold(3)));
    assert_eq!(
        by_elements,
        ["0 send 1: a b c (elements)", "0 send 2: d e f (elements)", "0 send 3: g (close)"]
    );
    let by_bytes = seven(ByHand::reached(settings().request_byte_threshold(10)));
    assert_eq!(by_bytes, ["0 send 1: a b c (bytes)", "0 send 2: d e f (bytes)", "0 send 3: g (close)"]);
}

#[test]
fn reaching_a_threshold_sends_by_a_descriptor_and_not_in_code() {
    let three = || settings().element_count_threshold(3);
    assert_eq!(ByHand::reached(three()).add("a b c").log(), ["0 send 1: a b c (elements)"]);
    assert_eq!(ByHand::exceeded(three()).add("a b c").log(), [""; 0]);
    assert_eq!(ByHand::exceeded(three()).add("a b c d").log(), ["0 send 1: a b c (elements)"]);
}

#[test]
fn in_code_thresholds_of_one_let_each_element_go_alone_and_one_add_late() {
    let none = settings().element_count_threshold(1).request_byte_threshold(1);
    assert_eq!(
        ByHand::exceeded(none).add("a b c").close().log(),
        ["0 send 1: a (elements)", "0 send 2: b (elements)", "0 send 3: c (close)"]
    );
}

#[test]
fn an_element_above_the_threshold_goes_alone() {
    let ten = || settings().request_byte_threshold(10);
    let large = ElementSize::of_bytes(100);
    let mut batches = ByHand::exceeded(ten());
    assert_eq!(
        batches.add("a").add_of("large", large).add("b").close().log(),
        ["0 send 1: a (bytes)", "0 send 2: large (bytes)", "0 send 3: b (close)"]
    );
    let mut batches = ByHand::reached(ten());
    assert_eq!(batches.add_of("large", large).log(), ["0 send 1: large (bytes)"]);
    // gax-java's merges it with what is open.
    assert_eq!(batches.add("a").add_of("large", large).log(), ["0 send 2: a large (bytes)"]);
}

#[test]
fn a_request_with_several_entries_counts_by_them() {
    let mut batches = ByHand::reached(settings().element_count_threshold(5));
    let three = ElementSize::new(3, 40);
    assert_eq!(batches.add_of("a", three).add_of("b", three).log(), ["0 send 1: a b (elements)"]);
    let mut batches = ByHand::exceeded(settings().element_count_threshold(5));
    assert_eq!(batches.add_of("a", three).add_of("b", three).log(), ["0 send 1: a (elements)"]);
}

#[test]
fn by_a_descriptor_the_delay_counts_from_the_first_element_once() {
    let mut batches = ByHand::reached(settings().delay_threshold(50 * MS));
    assert_eq!(batches.wakes(), None);
    batches.at(10).add("a").at(30).add("b");
    assert_eq!(batches.wakes(), Some(60 * MS));
    assert_eq!(batches.at(59).log(), [""; 0]);
    assert_eq!(batches.at(60).log(), ["60 send 1: a b (delay)"]);
    assert_eq!(batches.wakes(), None);
    assert_eq!(batches.at(200).add("c").at(250).log(), ["250 send 2: c (delay)"]);
}

#[test]
fn in_code_the_timer_has_a_fixed_period_since_the_start() {
    let mut batches = ByHand::exceeded(settings().delay_threshold(50 * MS));
    assert_eq!(batches.wakes(), None);
    batches.at(40).add("a");
    assert_eq!(batches.wakes(), Some(50 * MS));
    assert_eq!(batches.at(50).log(), ["50 send 1: a (delay)"]);
    // Added in the moment in which the timer fired, it waits for the next time.
    batches.add("b").at(99);
    assert_eq!(batches.wakes(), Some(100 * MS));
    assert_eq!(batches.at(100).log(), ["100 send 2: b (delay)"]);
    assert_eq!(batches.at(1234).add("c").wakes(), Some(1250 * MS));
}

#[test]
fn one_timer_sends_all_that_is_open_in_the_order_of_opening() {
    let mut batches = ByHand::exceeded(settings().delay_threshold(50 * MS));
    batches.at(10).add("x/a").at(20).add("y/b").at(30).add("x/c");
    assert_eq!(batches.at(50).log(), ["50 send 1: x/a x/c (delay)", "50 send 2: y/b (delay)"]);
}

#[test]
fn without_a_delay_elements_are_sent_at_once() {
    let none = || settings().delay_threshold(Duration::ZERO);
    for mut batches in [ByHand::exceeded(none()), ByHand::reached(none())] {
        assert_eq!(batches.at(7).add("a b").log(), ["7 send 1: a (delay)", "7 send 2: b (delay)"]);
    }
}

#[test]
fn an_element_that_comes_late_finds_a_new_batch() {
    let mut batches = ByHand::reached(settings().delay_threshold(50 * MS));
    batches.add("a");
    // Nobody looked at the timer in between.
    batches.at(80).add("b");
    assert_eq!(batches.log(), ["80 send 1: a (delay)"]);
    assert_eq!(batches.wakes(), Some(130 * MS));
}

#[test]
fn keys_have_batches_of_their_own() {
    let mut batches = ByHand::reached(settings().element_count_threshold(2));
    batches.add("x/a y/b x/c y/d x/e");
    assert_eq!(batches.log(), ["0 send 1: x/a x/c (elements)", "0 send 2: y/b y/d (elements)"]);
    assert_eq!(batches.outstanding(), (5, 5));
    assert_eq!(batches.ended(1).ended(2).flush().log(), ["0 send 3: x/e (flush)"]);
    assert_eq!(batches.ended(3).outstanding(), (0, 0));
}

#[test]
fn sizes_of_any_number_add_up() {
    let mut batches = ByHand::reached(settings());
    let huge = ElementSize::new(u64::MAX - 1, u64::MAX - 1);
    assert_eq!(batches.add_of("a", huge).log(), [""; 0]);
    assert_eq!(batches.add_of("b", huge).log(), ["0 send 1: a b (elements)"]);
    assert_eq!(batches.outstanding(), (u64::MAX, u64::MAX));
    assert_eq!(batches.ended(1).outstanding(), (0, 0));
}

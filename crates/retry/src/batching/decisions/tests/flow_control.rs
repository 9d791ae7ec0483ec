//! Elements that find no room.

use super::by_hand::{ByHand, limited, settings};
use crate::LimitExceeded::{Block, Ignore, ThrowException};
use crate::batching::ElementSize;

fn bytes(bytes: u64) -> ElementSize {
    ElementSize::of_bytes(bytes)
}

#[test]
fn ignored_limits_do_not_count() {
    let ignored = settings().max_outstanding_elements(1).max_outstanding_bytes(1).limit_exceeded(Ignore);
    assert_eq!(ByHand::exceeded(ignored).add("a b c").log(), [""; 0]);
}

#[test]
fn elements_wait_for_room_in_the_order_in_which_they_came() {
    let mut batches = ByHand::reached(limited(2, 100, Block));
    assert_eq!(batches.add("a b").log(), ["0 send 1: a (elements)", "0 send 2: b (elements)"]);
    assert_eq!(batches.add("c d e").log(), ["0 hold c", "0 hold d", "0 hold e"]);
    assert_eq!(batches.at(3).ended(2).log(), ["3 accept c", "3 send 3: c (elements)"]);
    assert_eq!(
        batches.ended(1).ended(3).log(),
        ["3 accept d", "3 send 4: d (elements)", "3 accept e", "3 send 5: e (elements)"]
    );
    assert_eq!(batches.outstanding(), (2, 2));
}

#[test]
fn beyond_a_limit_elements_are_refused() {
    let mut batches = ByHand::reached(limited(2, 10, ThrowException));
    assert_eq!(
        batches.add_of("a", bytes(9)).add_of("b", bytes(2)).log(),
        ["0 send 1: a (elements)", "0 refuse b: Full(Bytes)"]
    );
    // Elements are counted before bytes.
    assert_eq!(
        batches.add("c").add_of("d", bytes(2)).log(),
        ["0 send 2: c (elements)", "0 refuse d: Full(Elements)"]
    );
    // An element that was refused by its bytes holds nothing.
    assert_eq!(batches.outstanding(), (2, 10));
    assert_eq!(batches.ended(1).add("e").log(), ["0 send 3: e (elements)"]);
}

#[test]
fn an_element_that_does_not_wait_overtakes_nobody() {
    let mut batches = ByHand::reached(limited(4, 10, Block));
    batches.add_of("a", bytes(8)).add_of("large", bytes(5));
    assert_eq!(batches.log(), ["0 send 1: a (bytes)", "0 hold large"]);
    // There would be room for one byte.
    assert_eq!(batches.try_add("b").log(), ["0 refuse b: Full(Bytes)"]);
    assert_eq!(batches.add("c").log(), ["0 hold c"]);
    assert_eq!(batches.ended(1).log(), ["0 accept large", "0 send 2: large (bytes)", "0 accept c"]);
    assert_eq!(batches.try_add("d").log(), ["0 send 3: c d (elements)"]);
}

#[test]
fn an_element_above_the_byte_limit_passes_alone() {
    for beyond in [Block, ThrowException] {
        let mut batches = ByHand::reached(limited(10, 10, beyond));
        assert_eq!(batches.add_of("large", bytes(50)).log(), ["0 send 1: large (bytes)"]);
        assert_eq!(batches.outstanding(), (1, 50));
        assert_eq!(batches.try_add("a").log(), ["0 refuse a: Full(Bytes)"]);
        assert_eq!(batches.ended(1).try_add("a").outstanding(), (1, 1));
    }
    let mut batches = ByHand::reached(limited(10, 10, Block));
    batches.add("a").add_of("large", bytes(50));
    // Nothing is in flight: only what is open can make room.
    assert_eq!(batches.log(), ["0 hold large", "0 send 1: a (held)"]);
    assert_eq!(batches.ended(1).log(), ["0 accept large", "0 send 2: large (bytes)"]);
}

#[test]
fn an_element_with_more_entries_than_the_limit_is_refused() {
    for beyond in [Block, ThrowException] {
        let mut batches = ByHand::reached(limited(2, 100, beyond));
        assert_eq!(batches.add_of("a", ElementSize::new(3, 1)).log(), ["0 refuse a: NeverHasRoom"]);
    }
}

#[test]
fn who_waits_for_room_sends_what_is_open_if_nothing_is_in_flight() {
    // gax-java's batcher waits here for a timer that this one does not have.
    let mut batches = ByHand::exceeded(limited(4, 1000, Block).element_count_threshold(4));
    assert_eq!(batches.add("a b c d").log(), [""; 0]);
    assert_eq!(batches.add("e").log(), ["0 hold e", "0 send 1: a b c d (held)"]);
    assert_eq!(batches.ended(1).log(), ["0 accept e"]);
    // While something is in flight, its end is waited for.
    batches.flush().add("f g h").log();
    assert_eq!(batches.add("i").log(), ["0 hold i"]);
}

#[test]
fn one_who_goes_away_lets_the_next_one_in() {
    let mut batches = ByHand::reached(limited(4, 10, Block));
    batches.add_of("a", bytes(8)).add_of("large", bytes(5)).add("b").log();
    assert_eq!(batches.withdraw("large").log(), ["0 accept b"]);
    assert_eq!(batches.outstanding(), (2, 9));
}

//! Flush, close, and what was not sent.

use super::by_hand::{ByHand, limited, settings};
use crate::LimitExceeded::Block;

#[test]
fn flush_sends_what_is_open_and_takes_more() {
    let mut batches = ByHand::exceeded(settings());
    assert_eq!(batches.add("x/a y/b").flush().log(), ["0 send 1: x/a (flush)", "0 send 2: y/b (flush)"]);
    assert_eq!(batches.add("x/c").flush().flush().log(), ["0 send 3: x/c (flush)"]);
}

#[test]
fn closing_sends_what_is_open_takes_no_more_and_finishes() {
    let mut batches = ByHand::exceeded(settings());
    assert_eq!(batches.add("a").close().log(), ["0 send 1: a (close)"]);
    assert_eq!(batches.add("b").log(), ["0 refuse b: Closed"]);
    assert_eq!(batches.at(9).ended(1).log(), ["9 finish"]);
    assert_eq!(ByHand::exceeded(settings()).close().log(), ["0 finish"]);
}

/// In gax-java an element that waits in flow control while the batcher is closed lies in a batch that nobody sends.
#[test]
fn who_waits_for_room_while_the_batcher_closes_is_refused() {
    let mut batches = ByHand::reached(limited(2, 100, Block));
    batches.add("a b c d").log();
    assert_eq!(batches.close().log(), ["0 refuse c", "0 refuse d"]);
    assert_eq!(batches.ended(1).ended(2).log(), ["0 finish"]);
}

#[test]
fn closing_twice_changes_nothing() {
    let mut batches = ByHand::exceeded(settings());
    batches.add("a").close().log();
    assert_eq!(batches.close().log(), [""; 0]);
    assert_eq!(batches.ended(1).log(), ["0 finish"]);
}

#[test]
fn a_batch_ends_once_and_only_if_it_was_sent() {
    let mut batches = ByHand::reached(settings().element_count_threshold(2));
    batches.add("x!/a x!/b x!/c x!/d x!/e").log();
    // The second one waits for its turn, the third one is open, and there is no ninth.
    assert_eq!(batches.ended(2).ended(3).ended(9).outstanding(), (5, 5));
    assert_eq!(batches.ended(1).ended(1).outstanding(), (3, 3));
}

#[test]
fn what_was_not_sent_is_given_back() {
    let mut batches = ByHand::reached(settings().element_count_threshold(2));
    batches.add("x!/a x!/b x!/c x!/d x!/e y/f").log();
    assert_eq!(
        batches.give_back().log(),
        ["0 give back 2: x!/c x!/d", "0 give back 3: x!/e", "0 give back 4: y/f"]
    );
    assert_eq!(batches.outstanding(), (2, 2));
    assert_eq!(batches.add("z").log(), ["0 refuse z: Closed"]);
    assert_eq!(batches.ended(1).log(), ["0 finish"]);
}

#[test]
fn those_who_wait_are_refused_as_well_when_all_is_given_back() {
    let mut batches = ByHand::exceeded(limited(2, 100, Block));
    batches.add("a b c").log();
    assert_eq!(batches.give_back().log(), ["0 give back 2: b", "0 refuse c"]);
    assert_eq!(batches.ended(1).log(), ["0 finish"]);
}

//! Batches of one key, one after the other.

use super::by_hand::{ByHand, MS, settings};

#[test]
fn of_an_ordered_key_one_batch_is_in_flight() {
    let mut batches = ByHand::reached(settings().element_count_threshold(2));
    batches.add("x!/a x!/b x!/c x!/d y!/e y!/f z/g z/h z/i z/j");
    assert_eq!(
        batches.log(),
        [
            "0 send 1: x!/a x!/b (elements)",
            "0 send 3: y!/e y!/f (elements)",
            "0 send 4: z/g z/h (elements)",
            "0 send 5: z/i z/j (elements)",
        ]
    );
    assert_eq!(batches.at(5).ended(1).log(), ["5 send 2: x!/c x!/d (elements)"]);
    assert_eq!(batches.ended(2).ended(3).ended(4).ended(5).outstanding(), (0, 0));
}

#[test]
fn a_batch_that_is_due_and_waits_for_its_turn_takes_no_more_elements() {
    let mut batches = ByHand::reached(settings().element_count_threshold(10).delay_threshold(50 * MS));
    batches.add("x!/a").at(50).add("x!/b").at(100).add("x!/c");
    assert_eq!(batches.log(), ["50 send 1: x!/a (delay)"]);
    assert_eq!(batches.at(120).ended(1).log(), ["120 send 2: x!/b (delay)"]);
    assert_eq!(batches.at(150).ended(2).log(), ["150 send 3: x!/c (delay)"]);
}

#[test]
fn closing_sends_them_in_turn() {
    let mut batches = ByHand::reached(settings().element_count_threshold(2));
    batches.add("x!/a x!/b x!/c").close();
    assert_eq!(batches.log(), ["0 send 1: x!/a x!/b (elements)"]);
    assert_eq!(batches.ended(1).log(), ["0 send 2: x!/c (close)"]);
    assert_eq!(batches.ended(2).log(), ["0 finish"]);
}

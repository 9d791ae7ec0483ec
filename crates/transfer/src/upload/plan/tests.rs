//! The next request of an upload after each response.

use super::*;

const SIZE: u64 = 1000;
const QUERY: Step = Step::Query { confirms: false };
const CONFIRM: Step = Step::Query { confirms: true };

/// Of a source that can go back as far as that place so much was sent.
fn reach(lowest: u64, sent: u64) -> Reach {
    Reach { size: Some(SIZE), lowest, sent, can_look: true }
}

fn send(from: u64, to: u64) -> Step {
    Step::Send { from, to, total: (to == SIZE).then_some(SIZE) }
}

/// A plan with a session, of which the server has so many bytes.
fn at(bytes: u64) -> Plan {
    let mut plan = Plan::new(false, false);
    assert_eq!(plan.next(), Ask::Start);
    assert_eq!(
        plan.replied(Step::Start, Reply::Started, reach(0, SIZE)),
        Decision::NotDone { progress: false }
    );
    assert_eq!(plan.next(), Ask::Send { from: 0 });
    if bytes > 0 {
        let decision = plan.replied(send(0, bytes), Reply::Persisted(bytes), reach(0, SIZE));
        assert_eq!(decision, Decision::NotDone { progress: true });
    }
    plan
}

#[test]
fn a_failure_is_followed_by_a_question_and_by_what_is_missing() {
    let mut plan = at(256);
    plan.sends();
    plan.lost(Some(send(256, SIZE)));
    assert_eq!(plan.next(), Ask::Query { confirms: false });
    // The question fails as well.
    plan.lost(Some(QUERY));
    assert_eq!(plan.next(), Ask::Query { confirms: false });
    let decision = plan.replied(QUERY, Reply::Persisted(512), reach(0, SIZE));
    assert_eq!((decision, plan.next()), (Decision::NotDone { progress: true }, Ask::Send { from: 512 }));
    assert_eq!(plan.resumptions, 0);
    plan.sends();
    assert_eq!(plan.resumptions, 1);
    assert_eq!(plan.replied(send(512, SIZE), Reply::Finished, reach(0, SIZE)), Decision::Done);
    assert_eq!(plan.persisted(), SIZE);
}

#[test]
fn a_lost_final_reply_is_found_by_the_question() {
    let mut plan = at(256);
    plan.sends();
    plan.lost(Some(send(256, SIZE)));
    assert_eq!(plan.replied(QUERY, Reply::Finished, reach(0, SIZE)), Decision::Done);
}

#[test]
fn a_chunk_of_which_nothing_was_persisted_failed() {
    let mut plan = at(256);
    let decision = plan.replied(send(256, 512), Reply::Persisted(256), reach(0, SIZE));
    assert_eq!((decision, plan.next()), (Decision::NothingPersisted, Ask::Send { from: 256 }));
    // A server that loses bytes is believed, which is no progress until it has more than ever.
    let decision = plan.replied(QUERY, Reply::Persisted(1), reach(0, SIZE));
    assert_eq!((decision, plan.next()), (Decision::NotDone { progress: false }, Ask::Send { from: 1 }));
    let decision = plan.replied(send(1, 512), Reply::Persisted(200), reach(0, SIZE));
    assert_eq!(decision, Decision::NotDone { progress: false });
    let decision = plan.replied(send(200, 512), Reply::Persisted(257), reach(0, SIZE));
    assert_eq!(decision, Decision::NotDone { progress: true });
    // As much as before is no progress, and nothing is lost.
    let decision = plan.replied(QUERY, Reply::Persisted(257), reach(257, SIZE));
    assert_eq!(decision, Decision::NotDone { progress: false });
    // Of what the source can't send again nothing may get lost.
    assert_eq!(plan.replied(QUERY, Reply::Persisted(256), reach(257, SIZE)), Decision::NoWayBack);
}

#[test]
fn all_bytes_persisted_and_no_object_is_finished_by_an_empty_request() {
    let mut plan = at(SIZE);
    assert_eq!(plan.next(), Ask::Send { from: SIZE });
    let decision = plan.replied(send(SIZE, SIZE), Reply::Persisted(SIZE), reach(0, SIZE));
    assert_eq!(decision, Decision::NothingPersisted);
    assert_eq!(plan.replied(send(SIZE, SIZE), Reply::Finished, reach(0, SIZE)), Decision::Done);
}

#[test]
fn a_session_that_is_gone_is_started_anew_where_the_source_can_go_back() {
    for step in [QUERY, send(256, 512)] {
        let mut plan = at(256);
        assert_eq!(
            (plan.replied(step, Reply::Gone, reach(0, SIZE)), plan.next()),
            (Decision::Anew, Ask::Start)
        );
        assert_eq!(plan.replied(step, Reply::Gone, reach(1, SIZE)), Decision::NoWayBack);
    }
    let mut plan = Plan::new(false, false);
    assert_eq!(plan.replied(Step::Start, Reply::Gone, reach(0, SIZE)), Decision::Failed);
    // Of a session alone it is unknown how it was started.
    assert_eq!(Plan::resumed(false).replied(QUERY, Reply::Gone, reach(0, SIZE)), Decision::Refused);
}

/// Another session has what it has: less than one before is progress. Three in a row may be lost with less.
#[test]
fn a_session_has_progress_of_its_own() {
    for best in [0, 512] {
        let mut plan = at(best);
        let mut gone = |bytes| {
            let decision = plan.replied(QUERY, Reply::Gone, reach(0, SIZE));
            if decision == Decision::Anew {
                plan.replied(Step::Start, Reply::Started, reach(0, 0));
                if bytes > 0 {
                    let progress = plan.replied(send(0, bytes), Reply::Persisted(bytes), reach(0, bytes));
                    assert_eq!(progress, Decision::NotDone { progress: true });
                }
            }
            decision
        };
        let mut decisions = [best, 0, best + 1, best, 0, best + 2, 0].map(&mut gone).to_vec();
        decisions.push(gone(0));
        assert_eq!(decisions, [Decision::Anew; 8]);
        assert_eq!([0, 0].map(gone), [Decision::Anew, Decision::Refused]);
    }
}

#[test]
fn servers_that_lie_are_found_out() {
    let malformed = |decision| matches!(decision, Decision::Malformed(_));
    // More than was sent, however much was meant to be, or than there is.
    assert!(malformed(at(256).replied(send(256, SIZE), Reply::Persisted(513), reach(0, 512))));
    let claim = |mut plan: Plan, reach| plan.replied(QUERY, Reply::Persisted(SIZE + 1), reach);
    assert!(malformed(claim(Plan::resumed(true), reach(0, SIZE))));
    let unknown = Reach { size: None, ..reach(0, 0) };
    assert_eq!(claim(Plan::resumed(true), unknown), Decision::NotDone { progress: true });
    assert!(malformed(Plan::new(false, false).replied(Step::Start, Reply::Finished, reach(0, SIZE))));
    assert!(malformed(Plan::new(false, false).replied(Step::Start, Reply::Unproven, reach(0, SIZE))));
    assert!(malformed(Plan::new(false, false).replied(Step::Start, Reply::Persisted(0), reach(0, SIZE))));
    assert!(malformed(at(0).replied(QUERY, Reply::Started, reach(0, SIZE))));
    assert!(malformed(at(0).replied(QUERY, Reply::Malformed("no"), reach(0, SIZE))));
}

/// Two processes that have found the same session.
#[test]
fn another_process_may_have_sent_more() {
    let mut plan = Plan::new(false, true);
    plan.replied(Step::Start, Reply::Started, reach(0, 0));
    assert_eq!(plan.coverage(QUERY, reach(0, 256)), Coverage::Partial);
    let decision = plan.replied(send(0, 256), Reply::Persisted(512), reach(0, 256));
    assert_eq!((decision, plan.next()), (Decision::NotDone { progress: true }, Ask::Send { from: 512 }));
    assert_eq!(plan.coverage(QUERY, reach(0, SIZE)), Coverage::Unknown);
    // It has sent nothing to the next one yet.
    plan.replied(QUERY, Reply::Gone, reach(0, SIZE));
    assert_eq!(plan.coverage(QUERY, reach(0, SIZE)), Coverage::Whole);
}

#[test]
fn how_much_was_sent() {
    for (plan, step, sent, expected) in [
        (at(256), QUERY, SIZE, Coverage::Whole),
        (at(256), QUERY, SIZE - 1, Coverage::Partial),
        (at(256), send(256, SIZE), SIZE - 1, Coverage::Partial),
        (at(256), Step::Look, SIZE, Coverage::Partial),
        (Plan::resumed(true), QUERY, 0, Coverage::Whole),
        (Plan::resumed(true), send(512, SIZE), SIZE, Coverage::Whole),
        (Plan::resumed(true), send(512, 768), 768, Coverage::Partial),
    ] {
        assert_eq!(plan.coverage(step, reach(0, sent)), expected, "{plan:?} {step:?} {sent}");
    }
    let unknown = Reach { size: None, ..reach(0, SIZE) };
    assert_eq!(at(256).coverage(QUERY, unknown), Coverage::Partial);
}

/// A reply that proves nothing is followed by a question, whose reply decides.
#[test]
fn what_is_not_proved_is_asked_for_once() {
    for step in [QUERY, send(256, SIZE)] {
        let mut plan = at(256);
        let decision = plan.replied(step, Reply::Unproven, reach(0, SIZE));
        assert_eq!(
            (decision, plan.next()),
            (Decision::NotDone { progress: false }, Ask::Query { confirms: true })
        );
        let mut lost = plan;
        lost.lost(Some(CONFIRM));
        assert_eq!(lost.next(), Ask::Query { confirms: true });
        assert_eq!(plan.replied(CONFIRM, Reply::Unproven, reach(0, SIZE)), Decision::Unproven);
        let decision = plan.replied(CONFIRM, Reply::Persisted(512), reach(0, SIZE));
        assert_eq!((decision, plan.next()), (Decision::NotDone { progress: true }, Ask::Send { from: 512 }));
    }
    // Without a session the object is looked at.
    let mut plan = Plan::new(true, false);
    let blind = Reach { can_look: false, ..reach(0, SIZE) };
    assert_eq!(plan.replied(Step::Single, Reply::Unproven, blind), Decision::Unproven);
    let decision = plan.replied(Step::Single, Reply::Unproven, reach(0, SIZE));
    assert_eq!((decision, plan.next()), (Decision::NotDone { progress: false }, Ask::Look));
    assert_eq!(plan.replied(Step::Look, Reply::Unproven, reach(0, SIZE)), Decision::Unproven);
}

#[test]
fn what_was_corrupted_is_sent_once_more() {
    for step in [QUERY, send(256, SIZE)] {
        let mut plan = at(256);
        let mut stuck = plan;
        let decision = stuck.replied(step, Reply::Corrupted, reach(1, SIZE));
        assert_eq!(decision, Decision::Corrupted { anew: false });
        let decision = plan.replied(step, Reply::Corrupted, reach(0, SIZE));
        assert_eq!((decision, plan.next()), (Decision::Corrupted { anew: true }, Ask::Start));
        plan.replied(Step::Start, Reply::Started, reach(0, SIZE));
        let decision = plan.replied(step, Reply::Corrupted, reach(0, SIZE));
        assert_eq!(decision, Decision::Corrupted { anew: false });
    }
    let mut single = Plan::new(true, false);
    for anew in [true, false] {
        let decision = single.replied(Step::Single, Reply::Corrupted, reach(0, SIZE));
        assert_eq!((decision, single.next()), (Decision::Corrupted { anew }, Ask::Single));
    }
    let mut resumed = Plan::resumed(false);
    let decision = resumed.replied(QUERY, Reply::Corrupted, reach(0, SIZE));
    assert_eq!(decision, Decision::Corrupted { anew: false });
}

#[test]
fn one_request_is_enough_for_little() {
    let mut plan = Plan::new(true, false);
    assert_eq!(plan.next(), Ask::Single);
    assert_eq!(plan.replied(Step::Single, Reply::Failed, reach(0, SIZE)), Decision::Failed);
    plan.lost(Some(Step::Single));
    assert_eq!(plan.next(), Ask::Single);
    assert_eq!(plan.replied(Step::Single, Reply::Finished, reach(0, SIZE)), Decision::Done);
    assert_eq!(plan.persisted(), SIZE);
}

#[test]
fn a_precondition_that_failed_because_the_object_was_made() {
    // Nothing was lost: it is somebody else's object.
    let mut plan = Plan::new(true, false);
    assert_eq!(plan.replied(Step::Single, Reply::Conflict, reach(0, SIZE)), Decision::Failed);
    let mut plan = Plan::new(true, false);
    plan.lost(Some(Step::Single));
    assert_eq!(
        plan.replied(Step::Single, Reply::Conflict, reach(0, SIZE)),
        Decision::NotDone { progress: false }
    );
    assert_eq!(plan.next(), Ask::Look);
    plan.lost(Some(Step::Look));
    assert_eq!(plan.next(), Ask::Look);
    let mut none = plan;
    let decision = none.replied(Step::Look, Reply::Gone, reach(0, SIZE));
    assert_eq!((decision, none.next()), (Decision::Anew, Ask::Single));
    assert_eq!(plan.replied(Step::Look, Reply::Finished, reach(0, SIZE)), Decision::Done);
}

/// The longest object of Cloud Storage has 5 TiB.
#[test]
fn the_longest_object() {
    const TIB_5: u64 = 5 << 40;
    const GRANULARITY: u64 = 256 * 1024;
    let long = Reach { size: Some(TIB_5), ..reach(0, TIB_5) };
    let mut plan = Plan::resumed(true);
    let decision = plan.replied(QUERY, Reply::Persisted(TIB_5 - 10), long);
    assert_eq!(
        (decision, plan.next()),
        (Decision::NotDone { progress: true }, Ask::Send { from: TIB_5 - 10 })
    );
    let last = Step::Send { from: TIB_5 - 10, to: TIB_5, total: Some(TIB_5) };
    assert_eq!(plan.replied(last, Reply::Finished, long), Decision::Done);
    assert_eq!(plan.persisted(), TIB_5);
    assert_eq!(extent(0, TIB_5, GRANULARITY, None, true), TIB_5 - GRANULARITY);
    assert_eq!(extent(TIB_5 - GRANULARITY, TIB_5, GRANULARITY, None, true), TIB_5);
    assert_eq!(extent(1, TIB_5, GRANULARITY, Some(GRANULARITY), true), 1 + GRANULARITY);
    assert_eq!(extent(u64::MAX - 1, u64::MAX, GRANULARITY, Some(GRANULARITY), true), u64::MAX);
}

#[test]
fn how_far_a_request_goes() {
    for ((from, size, chunk, last_is_apart), end) in [
        ((0, 1000, None, false), 1000),
        ((0, 1000, None, true), 900),
        ((900, 1000, None, true), 1000),
        ((950, 1000, None, true), 1000),
        ((0, 900, None, true), 800),
        ((0, 100, None, true), 100),
        ((0, 1, None, true), 1),
        ((0, 0, None, true), 0),
        ((0, 1000, Some(300), true), 300),
        ((600, 1000, Some(300), true), 900),
        ((700, 1000, Some(300), true), 900),
        ((50, 1000, None, true), 950),
        ((900, 1000, Some(300), true), 1000),
        ((700, 1000, Some(300), false), 1000),
    ] {
        assert_eq!(
            extent(from, size, 100, chunk, last_is_apart),
            end,
            "{from} {size} {chunk:?} {last_is_apart}"
        );
    }
}

/// It may have been cut off in the middle, and the server may have more than this process sends.
#[test]
fn a_session_of_another_process_begins_with_a_question() {
    let mut plan = Plan::resumed(true);
    assert_eq!(plan.next(), Ask::Query { confirms: false });
    plan.sends();
    assert_eq!(plan.resumptions, 1);
    let (some, last) = (Step::Send { from: 0, to: SIZE, total: None }, send(256, SIZE));
    assert_eq!(plan.coverage(some, reach(0, SIZE)), Coverage::Partial);
    assert_eq!(plan.coverage(last, reach(0, SIZE)), Coverage::Whole);
}

/// As much as before is no progress.
#[test]
fn sessions_that_are_lost_again_and_again_are_the_end() {
    let mut plan = at(256);
    for _ in 0..3 {
        assert_eq!(plan.replied(send(256, SIZE), Reply::Gone, reach(0, SIZE)), Decision::Anew);
        plan.replied(Step::Start, Reply::Started, reach(0, SIZE));
        plan.replied(send(0, 256), Reply::Persisted(256), reach(0, SIZE));
    }
    assert_eq!(plan.replied(send(256, SIZE), Reply::Gone, reach(0, SIZE)), Decision::Refused);
}

#[test]
fn bytes_behind_a_reply_that_proved_nothing_are_a_resumption() {
    let mut plan = at(256);
    plan.sends();
    plan.replied(send(256, SIZE), Reply::Unproven, reach(0, SIZE));
    plan.replied(CONFIRM, Reply::Persisted(512), reach(0, SIZE));
    plan.sends();
    assert_eq!(plan.resumptions, 1);
}

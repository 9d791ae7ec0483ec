//! Responses that the caller has part of, and requests that outgrew their buffer.

use super::{ByHand, MS, documented, grpc, unavailable};
use crate::operation::{AttemptResult, CommitPoint, Replayable, Seen};
use crate::{Code, Hedging, Policy, RetrySettings};
use std::time::Duration;

const FINAL: Seen = Seen::Messages { resumable: false };

fn failed_after(policy: &Policy, seen: Seen) -> Vec<String> {
    let mut operation = ByHand::begin(policy);
    operation.send();
    operation.at(5 * MS).ends(unavailable().with_seen(seen)).until(105 * MS)
}

/// gRFC A6: headers commit (c01), messages too (c02), a status alone does not.
#[test]
fn headers_commit_by_grpcs_rules() {
    assert_eq!(failed_after(&grpc(), Seen::Nothing), ["105 retry 2"]);
    assert_eq!(failed_after(&grpc(), Seen::Headers), ["5 stop of 1 COMMITTED"]);
    assert_eq!(failed_after(&grpc(), FINAL), ["5 stop of 1 COMMITTED"]);
}

#[test]
fn the_first_message_commits_by_the_documented_rules() {
    assert_eq!(failed_after(&documented(), Seen::Nothing), ["105 retry 2"]);
    assert_eq!(failed_after(&documented(), Seen::Headers), ["105 retry 2"]);
    assert_eq!(failed_after(&documented(), FINAL), ["5 stop of 1 COMMITTED"]);
    let java = Policy::with_compatibility(&super::base(), Code::Unavailable, crate::Compatibility::GaxJava);
    let steady = java.with_retry_settings(&super::base().to_builder().jittered(false).build().unwrap());
    assert_eq!(failed_after(&steady, Seen::Headers), ["105 retry 2"]);
    assert_eq!(failed_after(&steady, FINAL), ["5 stop of 1 COMMITTED"]);
}

#[test]
fn a_policy_may_commit_elsewhere() {
    let documented = documented().with_commit_point(CommitPoint::Headers);
    assert_eq!(failed_after(&documented, Seen::Headers), ["5 stop of 1 COMMITTED"]);
    let grpc = grpc().with_commit_point(CommitPoint::FirstMessage);
    assert_eq!(failed_after(&grpc, Seen::Headers), ["105 retry 2"]);
}

/// Whether the fact came by itself or with the end of the attempt makes no difference.
#[test]
fn a_commit_that_was_reported_counts_at_the_end() {
    let reported = |policy: &Policy, point| {
        let mut operation = ByHand::begin(policy);
        operation.send();
        operation.at(5 * MS).committed(1, point);
        assert_eq!(operation.now(), [] as [&str; 0]);
        operation.ends(unavailable()).until(105 * MS)
    };
    assert_eq!(reported(&grpc(), CommitPoint::Headers), ["5 stop of 1 COMMITTED"]);
    assert_eq!(reported(&grpc(), CommitPoint::FirstMessage), ["5 stop of 1 COMMITTED"]);
    assert_eq!(reported(&documented(), CommitPoint::Headers), ["105 retry 2"]);
    assert_eq!(reported(&documented(), CommitPoint::FirstMessage), ["5 stop of 1 COMMITTED"]);
}

#[test]
fn a_committed_attempt_still_has_its_deadline_and_its_reply() {
    let settings = RetrySettings::builder().total_timeout(50 * MS).build().unwrap();
    let committed = || {
        let mut operation = ByHand::begin(&Policy::new(&settings, Code::DeadlineExceeded));
        operation.send();
        operation.at(5 * MS).committed(1, CommitPoint::FirstMessage);
        operation
    };
    assert_eq!(committed().wake_at(), Some(50 * MS));
    let mut expired = committed();
    assert_eq!(expired.until(60 * MS), ["50 expire 1"]);
    assert_eq!(expired.fails(Code::DeadlineExceeded).now(), ["60 stop of 1 COMMITTED"]);
    assert_eq!(committed().ends(AttemptResult::done()).now(), ["5 reply 1"]);
    assert_eq!(committed().cancelled().now(), ["5 cancel 1", "5 stop CANCELLED"]);
}

#[test]
fn a_commit_of_an_attempt_that_is_not_in_flight_is_none() {
    let mut operation = ByHand::begin(&documented());
    operation.send();
    operation.committed(2, CommitPoint::FirstMessage);
    operation.at(5 * MS).ends(unavailable()).committed(1, CommitPoint::FirstMessage);
    assert_eq!(operation.until(105 * MS), ["105 retry 2"]);
}

/// h14: response headers commit, and there are no more hedges.
#[test]
fn a_commit_cancels_the_others_and_ends_hedging() {
    let hedging = Hedging::new(4).delay(100 * MS).non_fatal_codes(Code::Unavailable);
    let mut operation = ByHand::begin(&grpc().with_hedging(hedging));
    assert_eq!(operation.until(210 * MS), ["0 send 1", "100 hedge 2", "200 hedge 3"]);
    operation.committed(2, CommitPoint::Headers);
    assert_eq!(operation.until(250 * MS), ["210 cancel 1", "210 cancel 3"]);
    assert_eq!(operation.until(1000 * MS), [] as [&str; 0]);
    assert_eq!(operation.clone().ended(2, AttemptResult::done()).now(), ["1000 reply 2"]);
    assert_eq!(operation.ended(2, unavailable()).until(2000 * MS), ["1000 stop of 2 COMMITTED"]);
}

/// Of two good responses one is the operation's, the other is reset.
#[test]
fn the_first_commit_wins() {
    let hedged = || {
        let mut operation = ByHand::begin(&grpc().with_hedging(Hedging::new(2)));
        assert_eq!(operation.now(), ["0 send 1", "0 hedge 2"]);
        operation.at(7 * MS).committed(2, CommitPoint::Headers);
        operation
    };
    let mut both = hedged();
    both.committed(1, CommitPoint::Headers);
    assert_eq!(both.now(), ["7 cancel 1"]);
    assert_eq!(both.ended(2, AttemptResult::done()).now(), ["7 reply 2"]);
    // The other attempt ended before it was cancelled: what it came to is of no interest.
    for result in [AttemptResult::done(), AttemptResult::failed(Code::Internal), unavailable()] {
        let mut operation = hedged();
        operation.ended(1, result);
        assert_eq!(operation.now(), [] as [&str; 0]);
        assert_eq!(operation.ended(2, AttemptResult::done()).until(Duration::MAX), ["7 reply 2"]);
    }
}

/// A request that outgrows its buffer commits to the attempt that has sent most of it (gRFC A6), whatever has come of the
/// response.
#[test]
fn a_request_over_the_limit_cancels_the_others() {
    let hedging = Hedging::new(4).delay(100 * MS).non_fatal_codes(Code::Unavailable);
    let mut operation = ByHand::begin(&documented().with_hedging(hedging));
    assert_eq!(operation.until(110 * MS), ["0 send 1", "100 hedge 2"]);
    operation.committed(1, CommitPoint::OverLimit);
    assert_eq!(operation.until(1000 * MS), ["110 cancel 2"]);
    assert_eq!(operation.clone().ended(1, AttemptResult::done()).now(), ["1000 reply 1"]);
    assert_eq!(operation.ended(1, unavailable()).until(2000 * MS), ["1000 stop of 1 COMMITTED"]);

    let mut alone = ByHand::begin(&documented());
    alone.send();
    assert_eq!(
        alone.at(5 * MS).committed(1, CommitPoint::OverLimit).ends(unavailable()).now(),
        ["5 stop of 1 COMMITTED"]
    );
}

/// Observers are notified of a commit that comes together with the end.
#[test]
fn a_result_says_whether_the_operation_is_its_own() {
    let (done, failed, over_limit) = (AttemptResult::done(), unavailable(), Replayable::OverLimit);
    for (result, is_committed) in [
        (done, false),
        (done.with_seen(Seen::Headers), false),
        (done.with_seen(FINAL), true),
        (done.with_replayable(over_limit), true),
        (failed, false),
        (failed.with_seen(FINAL), false),
        (failed.with_replayable(false), false),
        (failed.with_replayable(over_limit), true),
    ] {
        assert_eq!(result.is_committed(), is_committed, "{result:?}");
    }
}

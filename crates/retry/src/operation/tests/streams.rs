//! Streams that another attempt continues with.

use super::{ByHand, MS, base, documented, grpc, unavailable};
use crate::operation::{AttemptResult, CommitPoint, Seen};
use crate::{AttemptKind, Code, Compatibility, Hedging, Policy, RetrySettings, ServerDelay};
use std::time::Duration;

fn broken() -> AttemptResult {
    unavailable().with_seen(Seen::Messages { resumable: true })
}

/// 100 ms x 2, three attempts, RPC timeouts 200 ms x 2, two seconds in all.
fn policy() -> Policy {
    let settings = RetrySettings::builder()
        .total_timeout(2000 * MS)
        .max_attempts(3)
        .initial_retry_delay(100 * MS)
        .retry_delay_multiplier(2.0)
        .initial_rpc_timeout(200 * MS)
        .rpc_timeout_multiplier(2.0)
        .build()
        .unwrap();
    Policy::new(&settings, Code::Unavailable)
}

#[test]
fn back_off_and_the_number_of_attempts_begin_anew_and_the_total_runs_on() {
    let mut operation = ByHand::begin(&policy());
    assert_eq!(operation.now(), ["0 send 1"]);
    assert_eq!(operation.ends(unavailable()).until(150 * MS), ["100 retry 2"]);
    assert_eq!(operation.ends(unavailable()).until(400 * MS), ["350 retry 3"]);
    // Messages have arrived: as if attempt 3 had been the first.
    operation.ends(broken());
    assert_eq!(operation.wait(), 100 * MS);
    let resumed = operation.at(500 * MS).send();
    assert_eq!((resumed.number(), resumed.kind()), (4, AttemptKind::Resume));
    assert_eq!((resumed.delay(), resumed.rpc_timeout()), (100 * MS, Some(400 * MS)));
    assert_eq!(operation.ends(unavailable()).until(700 * MS), ["700 retry 5"]);
    assert_eq!(operation.clone().ends(unavailable()).until(1900 * MS), ["700 stop of 5 MAX_ATTEMPTS"]);
    operation.at(1899 * MS).ends(broken());
    assert_eq!(operation.until(1999 * MS), ["1999 resume 6"]);
    assert_eq!(operation.until(2000 * MS), ["2000 expire 6"]);
    assert_eq!(operation.clone().ends(broken()).now(), ["2000 stop of 6 TOTAL_TIMEOUT"]);
    // No time for the delay.
    let mut late = ByHand::begin(&policy());
    late.send();
    assert_eq!(late.at(1900 * MS).ends(broken()).now(), ["1900 stop of 1 TOTAL_TIMEOUT before 2 after 100"]);
}

#[test]
fn a_stream_that_was_committed_is_resumed_all_the_same() {
    let mut operation = ByHand::begin(&policy());
    operation.send();
    operation.at(10 * MS).committed(1, CommitPoint::FirstMessage).ends(broken());
    assert_eq!(operation.until(120 * MS), ["110 resume 2"]);
    // The resumed attempt is one like any other until it commits.
    assert_eq!(operation.clone().ends(AttemptResult::done()).now(), ["120 reply 2"]);
    assert_eq!(operation.clone().ends(unavailable()).until(400 * MS), ["320 retry 3"]);
    operation.committed(2, CommitPoint::FirstMessage);
    assert_eq!(operation.now(), [] as [&str; 0]);
    assert_eq!(operation.ends(unavailable()).now(), ["120 stop of 2 COMMITTED"]);
}

#[test]
fn a_stream_is_resumed_by_grpcs_rules_too() {
    let mut operation = ByHand::begin(&grpc());
    operation.send();
    operation.committed(1, CommitPoint::Headers).at(10 * MS).ends(broken());
    assert_eq!(operation.until(110 * MS), ["110 resume 2"]);
    assert_eq!(operation.ends(unavailable().with_seen(Seen::Headers)).now(), ["110 stop of 2 COMMITTED"]);
}

#[test]
fn a_code_that_is_not_retried_ends_a_stream() {
    let mut operation = ByHand::begin(&policy());
    operation.send();
    let seen = Seen::Messages { resumable: true };
    operation.ends(AttemptResult::failed(Code::Internal).with_seen(seen));
    assert_eq!(operation.now(), ["0 stop of 1 NON_RETRYABLE"]);
}

/// The stream that has delivered a message is the operation's: the others are dropped, and no hedge follows.
#[test]
fn a_hedged_stream_is_resumed_by_one_attempt_at_a_time() {
    let hedging = Hedging::new(4).non_fatal_codes(Code::Unavailable);
    let mut operation = ByHand::begin(&policy().with_hedging(hedging));
    assert_eq!(operation.now(), ["0 send 1", "0 hedge 2", "0 hedge 3", "0 hedge 4"]);
    operation.at(10 * MS).ended(2, broken());
    assert_eq!(operation.until(150 * MS), ["10 cancel 1", "10 cancel 3", "10 cancel 4", "110 resume 5"]);
    // It is retried by the settings from then on, without hedges.
    assert_eq!(operation.clone().ends(unavailable()).until(400 * MS), ["350 retry 6"]);
    assert_eq!(operation.ends(AttemptResult::done()).now(), ["150 reply 5"]);
}

/// A stream that has begun and delivered nothing continues where it was committed, and back-off continues growing.
#[test]
fn a_stream_that_delivered_nothing_is_taken_up_without_a_new_back_off() {
    let begun = unavailable().with_seen(Seen::Begun);
    let mut operation = ByHand::begin(&policy());
    operation.send();
    assert_eq!(operation.ends(begun).until(150 * MS), ["100 retry 2"]);
    assert_eq!(operation.ends(begun).until(400 * MS), ["350 retry 3"]);
    assert_eq!(operation.ends(begun).now(), ["400 stop of 3 MAX_ATTEMPTS"]);
    // By gRPC's rules its headers commit it, which a stream that resumes does not mind.
    let mut operation = ByHand::begin(&grpc());
    operation.send();
    operation.committed(1, CommitPoint::Headers).at(10 * MS).ends(begun);
    assert_eq!(operation.until(110 * MS), ["110 resume 2"]);
    assert_eq!(operation.ends(begun).until(400 * MS), ["310 retry 3"]);
}

#[test]
fn a_stream_without_a_total_timeout_needs_no_limit() {
    let endless = |settings: &RetrySettings, compatibility| {
        Policy::with_compatibility(settings, Code::Unavailable, compatibility).without_total_timeout()
    };
    let settings =
        RetrySettings::builder().total_timeout(9000 * MS).initial_retry_delay(100 * MS).jittered(false);
    let settings = settings.build().unwrap();
    for compatibility in [Compatibility::Documented, Compatibility::GaxJava] {
        let mut operation = ByHand::begin(&endless(&settings, compatibility));
        operation.send();
        operation.at(Duration::from_secs(3600)).ends(broken());
        assert_eq!(operation.until(Duration::from_secs(3601)), ["3600100 resume 2"], "{compatibility:?}");
    }
    // A number of attempts counts those in a row that deliver nothing.
    let settings = settings.to_builder().max_attempts(2).build().unwrap();
    let mut operation = ByHand::begin(&endless(&settings, Compatibility::Documented));
    operation.send();
    for _ in 0..5 {
        let wait = operation.ends(broken()).wait();
        operation.after(wait).send();
    }
    operation.ends(unavailable());
    assert_eq!(operation.ends(unavailable()).now(), ["500 stop of 6 MAX_ATTEMPTS"]);
}

/// A server that ends each stream at once doesn't keep a processor busy, whatever the settings say.
#[test]
fn a_millisecond_passes_before_a_stream_is_resumed() {
    let policy = |delay, compatibility| {
        let settings = base().to_builder().initial_retry_delay(delay).max_retry_delay(delay).jittered(false);
        Policy::with_compatibility(&settings.build().unwrap(), Code::Unavailable, compatibility)
    };
    let resumed = |policy: &Policy, asked| {
        let mut operation = ByHand::begin(policy);
        operation.send();
        operation.ends(broken().with_server_delay(asked)).after(Duration::from_secs(1)).send().delay()
    };
    let (micro, none) = (Duration::from_micros(1), ServerDelay::None);
    assert_eq!(resumed(&policy(micro, Compatibility::Documented), none), MS);
    assert_eq!(resumed(&policy(micro, Compatibility::Grpc), none), MS);
    assert_eq!(resumed(&policy(micro, Compatibility::GaxJava), none), Duration::ZERO);
    assert_eq!(resumed(&policy(Duration::ZERO, Compatibility::Documented), none), MS);
    let at_once = ServerDelay::Exactly(Duration::ZERO);
    assert_eq!(resumed(&policy(micro, Compatibility::Documented), at_once), Duration::ZERO);
    assert_eq!(resumed(&policy(5 * MS, Compatibility::Documented), none), 5 * MS);
}

/// A message that was delivered commits, unless the stream can be resumed behind it.
#[test]
fn a_message_that_was_delivered_counts_at_the_end() {
    let delivered = |policy: &Policy, seen| {
        let mut operation = ByHand::begin(policy);
        operation.send();
        assert_eq!(operation.at(5 * MS).progressed(1).now(), [] as [&str; 0]);
        operation.ends(unavailable().with_seen(seen)).until(105 * MS)
    };
    for policy in [documented(), grpc()] {
        assert_eq!(delivered(&policy, Seen::Nothing), ["5 stop of 1 COMMITTED"]);
        assert_eq!(delivered(&policy, Seen::Headers), ["5 stop of 1 COMMITTED"]);
        assert_eq!(delivered(&policy, Seen::Messages { resumable: true }), ["105 resume 2"]);
    }
}

/// It is resumed after that.
#[test]
fn a_message_makes_a_hedged_operation_the_attempts() {
    let hedging = Hedging::new(3).delay(100 * MS).non_fatal_codes(Code::Unavailable);
    let mut operation = ByHand::begin(&documented().with_hedging(hedging));
    assert_eq!(operation.until(150 * MS), ["0 send 1", "100 hedge 2"]);
    assert_eq!(operation.progressed(2).until(900 * MS), ["150 cancel 1"]);
    assert_eq!(operation.progressed(2).now(), [] as [&str; 0]);
    let broken = unavailable().with_seen(Seen::Messages { resumable: true });
    assert_eq!(operation.ended(2, broken).until(1000 * MS), ["1000 resume 3"]);
}

/// One that isn't hedged may still be resumed: observers are notified of no commit.
#[test]
fn a_message_commits_no_operation_that_is_not_hedged() {
    let (policy, hedging) = (documented(), Hedging::new(3).delay(100 * MS));
    let mut first = ByHand::begin(&policy);
    first.send();
    let mut second = first.clone();
    assert_eq!(second.ends(unavailable()).until(100 * MS), ["100 retry 2"]);
    assert!(!first.operation().clone().progressed(&policy, 1));
    assert!(!second.operation().clone().progressed(&policy, 2));
    let hedged = documented().with_hedging(hedging);
    let mut operation = ByHand::begin(&hedged);
    operation.send();
    assert!(operation.operation().clone().progressed(&hedged, 1));
}

/// Observers are notified of it once, whatever comes after it.
#[test]
fn a_message_after_the_commit_is_no_second_one() {
    let policy = documented();
    let mut first = ByHand::begin(&policy);
    first.send();
    let mut second = first.clone();
    assert_eq!(second.ends(unavailable()).until(100 * MS), ["100 retry 2"]);
    for (attempt, operation) in [(1, first), (2, second)] {
        let mut operation = operation.operation().clone();
        assert!(operation.committed(&policy, attempt, CommitPoint::FirstMessage));
        assert!(!operation.progressed(&policy, attempt));
        assert!(!operation.committed(&policy, attempt, CommitPoint::OverLimit));
    }
}

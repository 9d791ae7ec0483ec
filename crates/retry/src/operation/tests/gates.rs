//! The order in which a failure is asked whether it is retried, one test for each two neighbours.

use super::{ByHand, MS, unavailable};
use crate::operation::{AttemptResult, Replayable, Resend, RetryFact, Seen};
use crate::{
    Code, CodeSet, Compatibility, Delivery, Policy, RetryBudget, RetrySettings, RetrySettingsBuilder,
    ServerDelay, StopReason,
};
use std::time::Duration;

const MESSAGES: Seen = Seen::Messages { resumable: false };

/// How many tokens are gone, asked by draining: a bucket of 10 gives five.
struct Bucket(RetryBudget);

impl Bucket {
    fn new() -> Self {
        Self(RetryBudget::tokens(10, 0.0))
    }

    fn drained(&self) -> u32 {
        let mut left = 0;
        while self.0.allows(|| Duration::ZERO) {
            self.0.failed();
            left += 1;
        }
        5 - left
    }
}

fn settings() -> RetrySettingsBuilder {
    RetrySettings::builder().initial_retry_delay(100 * MS).jittered(false)
}

fn policy(settings: RetrySettingsBuilder, compatibility: Compatibility) -> Policy {
    Policy::with_compatibility(&settings.build().unwrap(), Code::Unavailable, compatibility)
}

/// The operation's next action after a first attempt that ended so, 50 ms after its start.
fn after(policy: &Policy, result: AttemptResult) -> String {
    let mut operation = ByHand::begin(policy);
    operation.send();
    operation.at(50 * MS).ends(result).until(150 * MS).remove(0)
}

fn limited() -> Policy {
    policy(settings().max_attempts(3), Compatibility::Documented)
}

#[test]
fn a_success_is_not_asked_whether_it_is_committed() {
    let bucket = Bucket::new();
    let policy = limited().with_budget(bucket.0.clone());
    let done = AttemptResult::done().with_seen(MESSAGES).with_server_delay(ServerDelay::Never);
    assert_eq!(after(&policy, done), "50 reply 1");
    assert_eq!(after(&policy, AttemptResult::failed(Code::Ok)), "50 reply 1");
    assert_eq!(bucket.drained(), 0);
}

#[test]
fn committed_comes_before_the_budget_is_drained() {
    let bucket = Bucket::new();
    let policy = limited().with_budget(bucket.0.clone());
    let committed = unavailable().with_seen(MESSAGES).with_server_delay(ServerDelay::Never);
    assert_eq!(after(&policy, committed), "50 stop of 1 COMMITTED");
    assert_eq!(bucket.drained(), 0);
}

/// As gax-java has it: a stream that breaks with a code that isn't retryable (`stream_broken_final.jsonl`).
#[test]
fn a_code_that_is_not_retryable_wins_over_committed_and_drains_nothing() {
    for compatibility in [Compatibility::Documented, Compatibility::GaxJava, Compatibility::Grpc] {
        let bucket = Bucket::new();
        let policy = policy(settings().max_attempts(3), compatibility).with_budget(bucket.0.clone());
        let internal = AttemptResult::failed(Code::Internal).with_seen(MESSAGES);
        assert_eq!(after(&policy, internal), "50 stop of 1 NON_RETRYABLE", "{compatibility}");
        let never = internal.with_server_delay(ServerDelay::Never);
        assert_eq!(after(&policy, never), "50 stop of 1 NON_RETRYABLE", "{compatibility}");
        assert_eq!(bucket.drained(), 0, "{compatibility}");
    }
}

/// An attempt that our own clock ends 50 ms after its start. `has_its_own` says that its RPC timeout is shorter than the total.
fn after_its_time(
    compatibility: Compatibility,
    codes: CodeSet,
    bucket: &Bucket,
    has_its_own: bool,
) -> String {
    let total = if has_its_own { 5000 * MS } else { 50 * MS };
    let settings = settings().initial_rpc_timeout(50 * MS).total_timeout(total).build().unwrap();
    let policy = Policy::with_compatibility(&settings, codes, compatibility).with_budget(bucket.0.clone());
    let mut operation = if compatibility == Compatibility::Grpc && has_its_own {
        ByHand::begin(&policy.with_attempt_timeout(50 * MS))
    } else {
        ByHand::begin(&policy)
    };
    operation.send();
    operation.at(50 * MS).ends(AttemptResult::failed(Code::DeadlineExceeded).with_timed_out());
    operation.until(100 * MS).first().cloned().unwrap_or_default()
}

#[test]
fn an_attempt_that_ends_with_the_operation_s_time_is_total_timeout_whatever_the_codes_and_drains_nothing() {
    for compatibility in [Compatibility::Documented, Compatibility::Grpc] {
        for codes in [CodeSet::EMPTY, Code::DeadlineExceeded.into()] {
            let bucket = Bucket::new();
            let end = after_its_time(compatibility, codes, &bucket, false);
            assert_eq!(end, "50 stop of 1 TOTAL_TIMEOUT", "{compatibility} {codes:?}");
            assert_eq!(bucket.drained(), 0, "{compatibility} {codes:?}");
        }
    }
}

#[test]
fn an_attempt_that_ends_with_its_own_time_is_asked_for_its_code() {
    for compatibility in [Compatibility::Documented, Compatibility::Grpc] {
        let end = after_its_time(compatibility, CodeSet::EMPTY, &Bucket::new(), true);
        assert_eq!(end, "50 stop of 1 NON_RETRYABLE", "{compatibility}");
    }
    // As recorded: gax-java looks at the code, whichever limit the RPC timeout was.
    let end = after_its_time(Compatibility::GaxJava, CodeSet::EMPTY, &Bucket::new(), false);
    assert_eq!(end, "50 stop of 1 NON_RETRYABLE");
}

/// Whoever hands a response on asks before its end is known.
#[test]
fn what_may_take_all_the_time_ends_the_operation_with_it() {
    let settings = settings().initial_rpc_timeout(50 * MS).total_timeout(200 * MS).build().unwrap();
    let policy = Policy::new(&settings, Code::Unavailable);
    let has_all = |policy: &Policy| {
        let mut operation = ByHand::begin(policy);
        let attempt = operation.send();
        operation.operation().has_all_the_time(policy, attempt.number())
    };
    assert!(!has_all(&policy));
    let policy = policy.without_rpc_timeouts();
    assert!(has_all(&policy));
    assert!(!ByHand::begin(&policy).operation().has_all_the_time(&policy, 7));
    let reasons = [(Code::DeadlineExceeded, true), (Code::Unavailable, false), (Code::Internal, false)]
        .map(|(code, is_at_limit)| policy.reason_after_commit(code, is_at_limit));
    assert_eq!(reasons, [StopReason::TotalTimeout, StopReason::Committed, StopReason::NonRetryable]);
}

#[test]
fn a_caller_s_deadline_is_total_timeout_by_gax_java_s_rules_too() {
    let timed_out = AttemptResult::failed(Code::DeadlineExceeded).with_timed_out();
    let policy = policy(settings().total_timeout(5000 * MS), Compatibility::GaxJava);
    // Java cuts an attempt to whole milliseconds.
    for (bound, cut) in [(50 * MS, 50 * MS), (50 * MS + Duration::from_micros(900), 50 * MS)] {
        let mut operation = ByHand::bounded(&policy, bound);
        operation.send();
        assert_eq!(operation.at(cut).ends(timed_out).now(), ["50 stop of 1 TOTAL_TIMEOUT"]);
    }
}

/// A request that outgrew its buffer commits like a response, and drains nothing either (c03).
#[test]
fn a_request_over_the_limit_is_committed() {
    let bucket = Bucket::new();
    let policy = limited().with_budget(bucket.0.clone());
    let over = unavailable().with_replayable(Replayable::OverLimit);
    assert_eq!(after(&policy, over), "50 stop of 1 COMMITTED");
    assert_eq!(after(&policy, over.with_server_delay(ServerDelay::Never)), "50 stop of 1 COMMITTED");
    assert_eq!(after(&policy, over.with_resend(Resend::Refused)), "50 stop of 1 COMMITTED");
    assert_eq!(bucket.drained(), 0);
}

#[test]
fn the_budget_is_drained_before_a_code_is_refused() {
    let bucket = Bucket::new();
    let policy = limited().with_budget(bucket.0.clone());
    let internal = AttemptResult::failed(Code::Internal).with_server_delay(ServerDelay::Never);
    assert_eq!(after(&policy, internal), "50 stop of 1 NON_RETRYABLE");
    assert_eq!(bucket.drained(), 1);
}

#[test]
fn a_code_is_refused_before_the_request_is_asked_for() {
    let closed = RetryFact::No(StopReason::ChannelClosed);
    let result = unavailable().with_retry(closed).with_idempotent(false);
    assert_eq!(after(&limited(), result), "50 stop of 1 CHANNEL_CLOSED");
}

#[test]
fn idempotency_comes_before_replay_and_after_the_budget() {
    let bucket = Bucket::new();
    let policy = limited().with_budget(bucket.0.clone());
    let result = unavailable().with_idempotent(false).with_replayable(false);
    assert_eq!(after(&policy, result), "50 stop of 1 NON_RETRYABLE");
    assert_eq!(bucket.drained(), 1);
}

#[test]
fn idempotency_counts_together_with_the_delivery() {
    let result = unavailable().with_idempotent(false);
    for (delivery, expected) in [
        (Delivery::Unknown, "50 stop of 1 NON_RETRYABLE"),
        (Delivery::NotProcessed, "150 retry 2"),
        (Delivery::NotSent, "150 retry 2"),
    ] {
        assert_eq!(after(&limited(), result.with_delivery(delivery)), expected);
        assert_eq!(after(&limited(), unavailable().with_delivery(delivery)), "150 retry 2");
    }
}

#[test]
fn replay_comes_before_the_server() {
    let result = unavailable().with_replayable(false).with_server_delay(ServerDelay::Never);
    assert_eq!(after(&limited(), result), "50 stop of 1 NOT_REPLAYABLE");
}

#[test]
fn the_server_comes_before_the_throttle() {
    let bucket = RetryBudget::tokens(1, 0.0);
    let result = unavailable().with_server_delay(ServerDelay::Never);
    assert_eq!(after(&limited().with_budget(bucket), result), "50 stop of 1 PUSHBACK");
}

#[test]
fn the_throttle_comes_before_the_limits() {
    for compatibility in [Compatibility::Documented, Compatibility::GaxJava, Compatibility::Grpc] {
        let unlimited = policy(settings(), compatibility);
        let bucket = RetryBudget::tokens(1, 0.0);
        assert_eq!(after(&unlimited.with_budget(bucket), unavailable()), "50 stop of 1 THROTTLED");
    }
}

/// By the documented rules: no limits, no time, the attempts used up.
#[test]
fn no_limits_come_before_time_and_time_before_attempts() {
    let documented = |settings| after(&policy(settings, Compatibility::Documented), unavailable());
    assert_eq!(documented(settings()), "50 stop of 1 NO_LIMITS");
    let both = documented(settings().total_timeout(150 * MS).max_attempts(1));
    assert_eq!(both, "50 stop of 1 MAX_ATTEMPTS");
    let spent = documented(settings().total_timeout(50 * MS).max_attempts(1));
    assert_eq!(spent, "50 stop of 1 TOTAL_TIMEOUT");
    let no_time = |most| {
        let policy = policy(settings().total_timeout(350 * MS).max_attempts(most), Compatibility::Documented);
        let mut operation = ByHand::begin(&policy);
        operation.send();
        operation.ends(unavailable()).until(100 * MS);
        operation.at(250 * MS).ends(unavailable()).now().remove(0)
    };
    assert_eq!(no_time(2), "250 stop of 2 TOTAL_TIMEOUT before 3 after 130");
    assert_eq!(no_time(9), "250 stop of 2 TOTAL_TIMEOUT before 3 after 130");
}

/// With one attempt the documented rules draw no delay, which nobody would wait for.
#[test]
fn one_attempt_draws_nothing() {
    struct Untouchable;
    impl crate::jitter::JitterSource for Untouchable {
        fn next_u64(&mut self) -> u64 {
            panic!("nothing is to be drawn");
        }
    }
    let single = policy(settings().jittered(true).max_attempts(1), Compatibility::Documented);
    let mut operation = ByHand::begin(&single).with_jitter(Untouchable);
    operation.send();
    assert_eq!(operation.ends(unavailable()).now(), ["0 stop of 1 MAX_ATTEMPTS"]);
}

/// By gax-java's rules the attempt that is refused is computed first, and the reason names it.
#[test]
fn java_computes_the_attempt_and_then_looks_at_limits_time_and_attempts() {
    let java = |settings| after(&policy(settings, Compatibility::GaxJava), unavailable());
    let java_limited = |total, most| java(settings().total_timeout(total * MS).max_attempts(most));
    assert_eq!(java(settings()), "50 stop of 1 MAX_ATTEMPTS");
    assert_eq!(java_limited(150, 2), "50 stop of 1 TOTAL_TIMEOUT before 2 after 100");
    assert_eq!(java_limited(151, 2), "150 retry 2");
    assert_eq!(java_limited(50, 1), "50 stop of 1 TOTAL_TIMEOUT");
    assert_eq!(java_limited(900, 1), "50 stop of 1 MAX_ATTEMPTS");
    let second = |total| {
        let settings = settings().total_timeout(total * MS).max_attempts(2);
        let mut operation = ByHand::begin(&policy(settings, Compatibility::GaxJava));
        operation.send();
        operation.ends(unavailable()).until(100 * MS);
        operation.at(250 * MS).ends(unavailable()).now().remove(0)
    };
    assert_eq!(second(350), "250 stop of 2 TOTAL_TIMEOUT before 3 after 100");
    assert_eq!(second(351), "250 stop of 2 MAX_ATTEMPTS before 3 after 100");
}

/// By gRPC's rules: time, attempts, and then the wait, which continues to the deadline.
#[test]
fn grpc_looks_at_time_and_then_at_attempts() {
    let grpc = |settings| after(&policy(settings, Compatibility::Grpc), unavailable());
    assert_eq!(grpc(settings()), "150 retry 2");
    let spent = grpc(settings().total_timeout(50 * MS).max_attempts(1));
    assert_eq!(spent, "50 stop of 1 TOTAL_TIMEOUT at the deadline");
    assert_eq!(grpc(settings().total_timeout(51 * MS).max_attempts(1)), "50 stop of 1 MAX_ATTEMPTS");
    let waits = grpc(settings().total_timeout(120 * MS).max_attempts(2));
    assert_eq!(waits, "120 stop of 1 TOTAL_TIMEOUT at the deadline");
}

/// A driver asks before it takes trouble over a failure: whether it could be retried at all.
#[test]
fn a_policy_permits_what_the_first_gates_let_pass() {
    let policy = limited();
    let closed = RetryFact::No(StopReason::ChannelClosed);
    for (result, expected) in [
        (unavailable(), true),
        (AttemptResult::failed(Code::Internal), false),
        (AttemptResult::failed(Code::Internal).with_retry(RetryFact::Yes), true),
        (unavailable().with_retry(closed), false),
        (unavailable().with_idempotent(false), false),
        (unavailable().with_idempotent(false).with_delivery(Delivery::NotSent), true),
    ] {
        assert_eq!(policy.permits(result), expected, "{result:?}");
    }
}

#[test]
fn the_server_s_never_comes_before_retries_inside_retries() {
    let policy = limited().with_nested_retries(false).inside_retry();
    assert_eq!(after(&policy, unavailable().with_server_delay(ServerDelay::Never)), "50 stop of 1 PUSHBACK");
    assert_eq!(after(&policy, unavailable()), "50 stop of 1 NESTED_RETRY");
}

/// The budget is drained all the same: the server has failed.
#[test]
fn retries_inside_retries_are_refused_before_they_are_throttled() {
    let bucket = Bucket::new();
    let policy = limited().with_budget(bucket.0.clone()).with_nested_retries(false).inside_retry();
    assert_eq!(after(&policy, unavailable()), "50 stop of 1 NESTED_RETRY");
    assert_eq!(bucket.drained(), 1);
}

#[test]
fn retries_inside_retries_are_made_unless_they_are_refused() {
    for compatibility in [Compatibility::Documented, Compatibility::GaxJava, Compatibility::Grpc] {
        let policy = policy(settings().max_attempts(3), compatibility);
        let next = after(&policy, unavailable());
        assert_eq!(after(&policy.clone().inside_retry(), unavailable()), next, "{compatibility:?}");
        let refusing = policy.with_nested_retries(false);
        assert_eq!(after(&refusing, unavailable()), next, "{compatibility:?}");
        let inside = refusing.inside_retry();
        assert_eq!(after(&inside, unavailable()), "50 stop of 1 NESTED_RETRY", "{compatibility:?}");
        assert_eq!(after(&inside.with_nested_retries(true), unavailable()), next, "{compatibility:?}");
    }
}

/// No server has seen it: that is no load.
#[test]
fn a_lost_request_is_sent_again_inside_a_retry() {
    let policy = limited().with_nested_retries(false).inside_retry();
    let mut operation = ByHand::begin(&policy);
    operation.send();
    let lost = unavailable().with_delivery(Delivery::NotSent).with_resend(Resend::Lost);
    assert_eq!(operation.at(50 * MS).ends(lost).until(50 * MS), ["50 resend 1"]);
}

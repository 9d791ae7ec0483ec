//! Polls of a long-running operation.

use super::{ByHand, MS, documented, unavailable};
use crate::gax_java::{Polling, RawSettings};
use crate::jitter::ScriptedJitter;
use crate::operation::{AttemptResult, Next};
use crate::{AttemptKind, Code, Compatibility, Policy, RetryBudget, RetrySettings, ServerDelay};
use std::time::Duration;

/// 100 ms x 2, a second in all.
fn settings() -> RawSettings {
    RawSettings {
        total_timeout_us: 1_000_000,
        initial_retry_delay_us: 100_000,
        retry_delay_multiplier: 2.0,
        max_retry_delay_us: 400_000,
        jittered: false,
        ..RawSettings::default()
    }
}

fn policy() -> Policy {
    Policy::polling(Polling::new(&settings()))
}

#[test]
fn what_is_not_done_is_asked_again_until_it_is() {
    let mut operation = ByHand::begin(&policy());
    assert_eq!(operation.now(), ["0 send 1"]);
    assert_eq!(
        operation.at(20 * MS).ends(AttemptResult::not_done(Next::Later)).until(130 * MS),
        ["120 poll 2"]
    );
    operation.ends(AttemptResult::not_done(Next::Later));
    assert_eq!(operation.wait(), 200 * MS);
    let poll = operation.at(330 * MS).send();
    assert_eq!((poll.number(), poll.kind(), poll.rpc_timeout()), (3, AttemptKind::Poll, None));
    assert_eq!(operation.ends(AttemptResult::done()).now(), ["330 reply 3"]);
}

/// A poll may land on the total; the one after it is refused.
#[test]
fn polls_end_with_their_time() {
    let mut operation = ByHand::begin(&policy());
    assert_eq!(operation.until(300 * MS), ["0 send 1"]);
    assert_eq!(operation.ends(AttemptResult::not_done(Next::Later)).until(400 * MS), ["400 poll 2"]);
    assert_eq!(operation.ends(AttemptResult::not_done(Next::Later)).until(600 * MS), ["600 poll 3"]);
    assert_eq!(operation.ends(AttemptResult::not_done(Next::Later)).until(1000 * MS), ["1000 poll 4"]);
    let end = operation.ends(AttemptResult::not_done(Next::Later)).now();
    assert_eq!(end, ["1000 stop of 4 TOTAL_TIMEOUT"]);
}

#[test]
fn an_error_of_a_poll_is_the_operations() {
    let mut operation = ByHand::begin(&policy());
    operation.send();
    assert_eq!(
        operation.at(20 * MS).ends(AttemptResult::not_done(Next::Later)).until(120 * MS),
        ["120 poll 2"]
    );
    assert_eq!(operation.ends(unavailable()).now(), ["120 stop of 2 NON_RETRYABLE"]);
}

#[test]
fn not_done_passes_the_gates_and_fills_the_budget() {
    let budget = RetryBudget::tokens(2, 1.0);
    budget.failed();
    assert!(!budget.allows(|| Duration::ZERO));
    let mut operation = ByHand::begin(&policy().with_budget(budget.clone()));
    operation.send();
    // Nothing of this is asked of a reply.
    let reply = AttemptResult::not_done(Next::Later).with_replayable(false).with_idempotent(false);
    operation.ends(reply.with_server_delay(ServerDelay::Never));
    assert_eq!(operation.until(100 * MS), ["100 poll 2"]);
    assert!(budget.allows(|| Duration::ZERO));
}

/// A server is not asked without a pause, but where it waits itself, or by gax-java's rules.
#[test]
fn ten_milliseconds_pass_between_polls() {
    let settings =
        RetrySettings::builder().max_attempts(9).initial_retry_delay(Duration::ZERO).build().unwrap();
    for (compatibility, next, expected) in [
        (Compatibility::Documented, Next::Later, "10 poll 2"),
        (Compatibility::Grpc, Next::Later, "10 poll 2"),
        (Compatibility::Documented, Next::Now, "0 poll 2"),
        (Compatibility::GaxJava, Next::Later, "0 poll 2"),
    ] {
        let mut operation = ByHand::begin(&Policy::for_polls(&settings, compatibility));
        operation.send();
        assert_eq!(operation.ends(AttemptResult::not_done(next)).until(15 * MS), [expected]);
    }
}

/// An initial call that was done before the first look makes a poll the first attempt.
#[test]
fn a_poll_at_once_is_the_first_attempt() {
    let mut operation = ByHand::begin(&policy());
    operation.send();
    operation.at(5 * MS).ends(AttemptResult::not_done(Next::Now));
    assert_eq!(operation.now(), ["5 poll 2"]);
    assert_eq!(operation.ends(AttemptResult::not_done(Next::Later)).until(300 * MS), ["105 poll 3"]);
}

#[test]
fn a_callers_deadline_bounds_polls() {
    let mut operation = ByHand::bounded(&policy(), 300 * MS);
    assert_eq!(operation.send().rpc_timeout(), Some(300 * MS));
    operation.at(10 * MS).ends(AttemptResult::not_done(Next::Later));
    assert_eq!(operation.until(110 * MS), ["110 poll 2"]);
    assert_eq!(operation.wait(), 190 * MS);
    let end = operation.ends(AttemptResult::not_done(Next::Later)).now();
    assert_eq!(end, ["110 stop of 2 TOTAL_TIMEOUT before 3 after 200"]);
    assert_eq!(ByHand::bounded(&policy(), Duration::ZERO).now(), ["0 stop TOTAL_TIMEOUT"]);
}

#[test]
fn a_timeout_of_the_call_bounds_each_poll() {
    let mut operation = ByHand::begin(&policy().with_attempt_timeout(50 * MS));
    assert_eq!(operation.send().rpc_timeout(), Some(50 * MS));
    operation.ends(AttemptResult::not_done(Next::Later));
    assert_eq!(operation.at(100 * MS).send().rpc_timeout(), Some(50 * MS));
}

#[test]
fn polls_without_any_limit_end_at_once() {
    let settings = RawSettings { total_timeout_us: 0, ..settings() };
    let mut operation = ByHand::begin(&Policy::polling(Polling::new(&settings)));
    operation.send();
    assert_eq!(operation.ends(AttemptResult::not_done(Next::Later)).now(), ["0 stop of 1 NO_LIMITS"]);
}

/// Any rules can poll: by their delays and their limits, and apart from retries.
#[test]
fn by_the_documented_rules_polls_and_retries_have_each_their_back_off() {
    let not_done = AttemptResult::not_done(Next::Later);
    let mut operation = ByHand::begin(&documented());
    operation.send();
    assert_eq!(operation.ends(not_done).until(100 * MS), ["100 poll 2"]);
    assert_eq!(operation.ends(not_done).until(300 * MS), ["300 poll 3"]);
    assert_eq!(operation.fails(Code::Unavailable).until(400 * MS), ["400 retry 4"]);
    assert_eq!(operation.ends(not_done).until(800 * MS), ["800 poll 5"]);
    assert_eq!(operation.fails(Code::Unavailable).until(1000 * MS), ["1000 retry 6"]);
    assert_eq!(operation.ends(not_done).now(), ["1000 stop of 6 MAX_ATTEMPTS"]);
}

/// A poll is drawn from the upper half of its delay.
#[test]
fn by_the_documented_rules_polls_are_jittered_by_half() {
    let settings = super::base().to_builder().jittered(true).build().unwrap();
    let policy = Policy::new(&settings, Code::Unavailable);
    let wait = |draw, result: AttemptResult| {
        let mut operation = ByHand::begin(&policy).with_jitter(ScriptedJitter::new([draw]));
        operation.send();
        operation.ends(result).wait().as_millis()
    };
    let not_done = AttemptResult::not_done(Next::Later);
    assert_eq!((wait(0.0, not_done), wait(1.0, not_done)), (50, 100));
    assert_eq!(wait(0.0, unavailable()), 1);
}

/// A transfer of which a part was taken continues at once; one that gets nowhere is asked again later.
#[test]
fn what_goes_on_at_once_is_not_counted_unless_it_gets_nowhere() {
    let now = AttemptResult::not_done(Next::Now);
    for policy in [documented(), super::grpc()] {
        let mut operation = ByHand::begin(&policy);
        operation.send();
        for number in 2..50 {
            assert_eq!(operation.ends(now.with_progress(true)).now(), [format!("0 poll {number}")]);
        }
        assert_eq!(operation.ends(now).now(), ["0 poll 50"]);
        assert_eq!(operation.ends(now).until(100 * MS), ["100 poll 51"]);
        assert_eq!(operation.ends(now).until(300 * MS), ["300 poll 52"]);
        assert_eq!(operation.ends(now.with_progress(true)).now(), ["300 poll 53"]);
        assert_eq!(operation.ends(now).now(), ["300 poll 54"]);
    }
}

/// An upload that failed asks what its server has: a reply which is no progress is the first one after the failure, which has had a
/// separate wait.
#[test]
fn a_failure_between_two_replies_without_progress_has_a_wait_of_its_own() {
    let now = AttemptResult::not_done(Next::Now);
    let mut operation = ByHand::begin(&documented());
    operation.send();
    assert_eq!(operation.ends(now).now(), ["0 poll 2"]);
    assert_eq!(operation.ends(unavailable()).until(100 * MS), ["100 retry 3"]);
    assert_eq!(operation.ends(now).now(), ["100 poll 4"]);
    assert_eq!(operation.ends(unavailable()).until(300 * MS), ["300 retry 5"]);
    assert_eq!(operation.ends(now).now(), ["300 poll 6"]);
    assert_eq!(operation.ends(now).until(400 * MS), ["400 poll 7"]);
}

/// Progress begins back-off again, with a failure and without.
#[test]
fn progress_begins_back_off_anew() {
    let failed = unavailable();
    let mut operation = ByHand::begin(&documented());
    operation.send();
    assert_eq!(operation.ends(failed).until(100 * MS), ["100 retry 2"]);
    assert_eq!(operation.ends(failed).until(300 * MS), ["300 retry 3"]);
    assert_eq!(operation.ends(failed.with_progress(true)).until(400 * MS), ["400 retry 4"]);
    assert_eq!(operation.ends(failed).until(600 * MS), ["600 retry 5"]);
    assert_eq!(operation.ends(AttemptResult::not_done(Next::Now).with_progress(true)).now(), ["600 poll 6"]);
    assert_eq!(operation.ends(failed).until(700 * MS), ["700 retry 7"]);
}

/// A download behind two redirects: of each resumption the second redirect is a poll that waits, and bytes come behind it.
#[test]
fn progress_begins_the_count_of_polls_anew() {
    let (redirect, broken) = (AttemptResult::not_done(Next::Now), unavailable().with_progress(true));
    let mut operation = ByHand::begin(&documented());
    operation.send();
    let mut redirected_twice = |end: AttemptResult| {
        operation.ends(redirect).send();
        let wait = operation.ends(redirect).wait();
        operation.after(wait).send();
        operation.ends(end).after(if end == broken { 100 * MS } else { Duration::ZERO }).send();
        wait.as_millis()
    };
    assert_eq!([broken; 10].map(&mut redirected_twice), [100; 10]);
    // A long-running operation whose server waits has progress, too.
    let part = redirect.with_progress(true);
    assert_eq!([part; 6].map(redirected_twice), [100, 200, 400, 800, 1000, 1000]);
}

/// The RPC timeout of a poll grows with polls, however far the retries before it have come.
#[test]
fn polls_and_retries_have_each_their_rpc_timeout() {
    let settings = super::base().to_builder().initial_rpc_timeout(100 * MS).rpc_timeout_multiplier(2.0);
    let settings = settings.max_rpc_timeout(1000 * MS).max_attempts(9).build().unwrap();
    let mut operation = ByHand::begin(&Policy::new(&settings, Code::Unavailable));
    let mut timeout = |at: u32, kind, result| {
        let attempt = operation.at(at * MS).send();
        assert_eq!(attempt.kind(), kind, "{at}");
        operation.ends(result);
        attempt.rpc_timeout().unwrap().as_millis()
    };
    let not_done = AttemptResult::not_done(Next::Later);
    assert_eq!(timeout(0, AttemptKind::Original, unavailable()), 100);
    assert_eq!(timeout(100, AttemptKind::Retry, unavailable()), 200);
    assert_eq!(timeout(300, AttemptKind::Retry, not_done), 400);
    assert_eq!(timeout(400, AttemptKind::Poll, not_done), 200);
    assert_eq!(timeout(600, AttemptKind::Poll, unavailable()), 400);
    assert_eq!(timeout(1000, AttemptKind::Retry, not_done), 800);
}

/// Neither the channel's limit of five attempts nor gRPC's jitter is for polls.
#[test]
fn by_grpc_s_rules_polls_are_made_as_by_the_documented_ones() {
    let settings = super::base().to_builder().max_attempts(9).total_timeout(60_000 * MS);
    let settings = settings.jittered(true).build().unwrap();
    let not_done = AttemptResult::not_done(Next::Later);
    let runs = [Compatibility::Documented, Compatibility::Grpc].map(|compatibility| {
        let policy = Policy::for_polls(&settings, compatibility);
        [0.0, 0.5, 1.0].map(|draw| {
            let mut operation = ByHand::begin(&policy).with_jitter(ScriptedJitter::new([draw; 9]));
            operation.send();
            let mut waits: Vec<u128> = Vec::new();
            for _ in 2..=9 {
                let wait = operation.ends(not_done).wait();
                waits.push(wait.as_millis());
                operation.after(wait).send();
            }
            assert!(operation.ends(not_done).now()[0].ends_with("stop of 9 MAX_ATTEMPTS"), "{compatibility}");
            waits
        })
    });
    assert_eq!(runs[0], runs[1]);
    assert_eq!(runs[0][0][..2], [50, 100]);
    assert_eq!(runs[0][2][..2], [100, 200]);
}

#[test]
fn polls_without_any_limit_end_at_once_by_every_rules() {
    for compatibility in [Compatibility::Documented, Compatibility::GaxJava, Compatibility::Grpc] {
        let mut operation = ByHand::begin(&Policy::for_polls(&RetrySettings::default(), compatibility));
        operation.send();
        let end = operation.ends(AttemptResult::not_done(Next::Later)).now();
        assert_eq!(end, ["0 stop of 1 NO_LIMITS"], "{compatibility}");
    }
}

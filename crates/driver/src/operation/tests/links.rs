//! Attempts, and the connections that carry them.

use super::{MS, five_seconds};
use crate::operation::{
    Carrier, Clock, ConnectionLink, DelayType, Event, InProgress, Jitter, Name, Note, Observers,
    OperationInfo, OperationObserver, Peer, Transport,
};
use gax_retry::operation::{Action, AttemptResult, Ready, Resend, RetryFact};
use gax_retry::{AttemptKind, Code, Policy, StartedAttempt};
use http::Extensions;
use std::borrow::Cow;
use std::sync::{Arc, Mutex};
use tokio::time::advance;

const FIRST: &str = "10.0.0.1:443";
const SECOND: &str = "10.0.0.2:443";

/// A connection to that endpoint. It is given up if an attempt expires that began after seven arrivals.
struct Wire(Peer);

impl Carrier for Wire {
    fn peer(&self) -> &Peer {
        &self.0
    }

    fn expire(&self, received: u64) -> bool {
        received == 7
    }
}

fn wire(address: &str) -> Arc<Wire> {
    Arc::new(Wire(Peer::new(&address)))
}

fn policy() -> Policy {
    Policy::new(&five_seconds(), Code::Unavailable)
}

/// An operation whose first attempt is sent.
fn begun(policy: &Policy) -> InProgress {
    let mut progress = InProgress::new();
    progress.begin(Jitter::Thread);
    let Action::Send(first) = progress.start(policy, None, Ready::Now) else { panic!("no attempt") };
    progress.sends(first);
    progress
}

/// The link that the request of that attempt carries.
fn link(progress: &mut InProgress, policy: &Policy, number: u32) -> ConnectionLink {
    let mut extensions = Extensions::new();
    progress.context(policy, number).link(
        &mut extensions,
        Some(true),
        AttemptResult::failed(Code::Unavailable),
    );
    extensions.remove().unwrap()
}

/// The next attempt, which is sent.
fn next(progress: &mut InProgress, policy: &Policy) -> StartedAttempt {
    let Action::Send(attempt) = progress.next(policy) else { panic!("no attempt") };
    progress.sends(attempt);
    attempt
}

fn name() -> Name {
    Name::from(Cow::Borrowed("linked"))
}

#[tokio::test(start_paused = true)]
async fn an_attempt_knows_where_those_before_it_have_failed() {
    let (policy, clock) = (policy(), Clock::start());
    let mut progress = begun(&policy);
    let first = link(&mut progress, &policy, 1);
    assert!(first.retry().is_none());
    assert_eq!(first.waits_for_ready(), Some(true));
    first.waits(DelayType::Stream);
    advance(10 * MS).await;
    first.carried(wire(FIRST), 0, Clock::start(), false);
    progress.ended(&policy, 1, AttemptResult::failed(Code::Unavailable));
    assert!(matches!(progress.next(&policy), Action::Wait(_)));
    advance(200 * MS).await;
    assert_eq!(next(&mut progress, &policy).number(), 2);
    let second = link(&mut progress, &policy, 2);
    let retry = second.retry().unwrap();
    assert!(retry.has_failed_at(&Peer::new(&FIRST)) && !retry.has_failed_at(&Peer::new(&SECOND)));
    assert!(retry.is_spread());
    // It is sent after 210 ms, has three seconds, and a request needs ten milliseconds.
    let has_time_until = |at| retry.has_time_until(clock.at(at * MS).unwrap());
    assert!(has_time_until(3199) && !has_time_until(3200));
    second.waits(DelayType::Connecting);
    advance(30 * MS).await;
    second.carried(wire(SECOND), 0, Clock::start(), false);
    assert_eq!(progress.context(&policy, 2).elapsed(), 30 * MS);
    assert!(progress.ended(&policy, 2, AttemptResult::done()));
    let report = progress.report(&policy, None, name());
    assert_eq!((report.peer(1), report.peer(2)), (Some(FIRST), Some(SECOND)));
    let delays =
        [1, 2].map(|number| report.attempt_delay(number).map(|delay| (delay.delay_type(), delay.time())));
    assert_eq!(delays, [Some((DelayType::Stream, 10 * MS)), Some((DelayType::Connecting, 30 * MS))]);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_sent_again_silently_is_a_retry_too() {
    let policy = policy();
    let mut progress = begun(&policy);
    assert!(!progress.context(&policy, 1).is_resent());
    let lost = AttemptResult::failed(Code::Unavailable).with_resend(Resend::Lost);
    progress.ended(&policy, 1, lost);
    let again = next(&mut progress, &policy);
    assert_eq!((again.number(), again.kind()), (1, AttemptKind::Resend));
    assert!(progress.context(&policy, 1).is_resent());
    assert!(link(&mut progress, &policy, 1).retry().is_some());
}

/// The wait for a back-off takes none of an attempt's time, but of the operation's.
#[tokio::test(start_paused = true)]
async fn the_time_of_an_attempt_begins_when_it_has_a_connection() {
    let (policy, clock) = (policy(), Clock::start());
    let mut progress = begun(&policy);
    let first = link(&mut progress, &policy, 1);
    assert!(first.outwaits(clock.at(4999 * MS).unwrap()) && !first.outwaits(clock.at(5000 * MS).unwrap()));
    first.waits(DelayType::Connecting);
    first.waits(DelayType::Backoff);
    advance(1500 * MS).await;
    assert!(progress.postpones(&policy, 1), "it still waits");
    advance(500 * MS).await;
    first.carried(wire(FIRST), 7, Clock::start(), false);
    assert_eq!(first.postponed(), Some(3000 * MS));
    advance(1000 * MS).await;
    let context = progress.context(&policy, 1);
    assert_eq!((context.elapsed(), context.deadline()), (1000 * MS, clock.at(3500 * MS)));
    assert_eq!(progress.next(&policy), Action::Expire(1));
    assert!(progress.postpones(&policy, 1) && !progress.postpones(&policy, 1));
    assert_eq!(progress.next(&policy), Action::Wait(Some(3500 * MS)));
    progress.ended(&policy, 1, AttemptResult::failed(Code::Unavailable));
    let report = progress.report(&policy, None, name());
    assert_eq!(report.attempts()[0].start(), 2000 * MS);
    let delay = report.attempt_delay(1).unwrap();
    assert_eq!((delay.delay_type(), delay.time()), (DelayType::Backoff, 2000 * MS));
}

/// One that is not sent before the operation's time is up ends with it.
#[tokio::test(start_paused = true)]
async fn no_attempt_waits_longer_than_its_operation() {
    let policy = policy();
    let mut progress = begun(&policy);
    link(&mut progress, &policy, 1).waits(DelayType::OwnConnection);
    advance(4999 * MS).await;
    assert!(progress.postpones(&policy, 1));
    advance(MS).await;
    assert_eq!(progress.next(&policy), Action::Expire(1));
    assert!(!progress.postpones(&policy, 1));
}

#[test]
fn by_grpcs_rules_and_where_unavailable_is_final_no_attempt_waits() {
    let grpc = gax_retry::Compatibility::Grpc;
    for policy in [
        Policy::with_compatibility(&five_seconds(), Code::Unavailable, grpc),
        Policy::new(&five_seconds(), Code::Internal),
    ] {
        assert!(!link(&mut begun(&policy), &policy, 1).outwaits(Clock::start().began()));
    }
}

/// It may have been the reason.
#[tokio::test(start_paused = true)]
async fn an_attempt_after_a_connection_that_we_closed_is_suspect() {
    let policy = policy();
    let mut progress = begun(&policy);
    let mut suspects = vec![link(&mut progress, &policy, 1).is_suspect()];
    for result in [RetryFact::ClosedByUs, RetryFact::ByCode] {
        progress.ended(&policy, progress.number, AttemptResult::failed(Code::Unavailable).with_retry(result));
        progress.next(&policy);
        advance(2000 * MS).await;
        let number = next(&mut progress, &policy).number();
        let link = link(&mut progress, &policy, number);
        suspects.push(link.is_suspect());
        assert!(!progress.context(&policy, number).is_alone());
        link.carried(wire(FIRST), 0, Clock::start(), true);
        assert!(progress.context(&policy, number).is_alone());
    }
    assert_eq!(suspects, [false, true, false]);
}

/// It was with another one, or with none, for most of the time.
#[tokio::test(start_paused = true)]
async fn a_connection_that_had_an_attempt_for_a_moment_is_not_to_blame() {
    let policy = policy();
    for (late, is_given_up) in [(740, true), (760, false)] {
        let mut progress = begun(&policy);
        let link = link(&mut progress, &policy, 1);
        advance(late * MS).await;
        link.carried(wire(FIRST), 7, Clock::start(), false);
        advance((1500 - late) * MS).await;
        progress.context(&policy, 1).expire();
        assert_eq!(progress.notes().is_empty(), !is_given_up, "{late}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_is_given_up_with_an_attempt_is_a_note() {
    let policy = policy();
    for (received, notes) in [(7, &[Note::CONNECTION_GIVEN_UP][..]), (8, &[])] {
        let mut progress = begun(&policy);
        link(&mut progress, &policy, 1).carried(wire(FIRST), received, Clock::start(), false);
        progress.context(&policy, 1).expire();
        assert_eq!(progress.notes(), notes, "{received}");
    }
}

/// Counts what happens to attempts.
#[derive(Default)]
struct Events(Mutex<Vec<u32>>);

impl OperationObserver for Events {
    fn attempt_event(&self, _: &OperationInfo, attempt: StartedAttempt, _: &dyn Event) {
        self.0.lock().unwrap().push(attempt.number());
    }
}

/// To look for the endpoint takes time, which a call that nobody watches doesn't spend.
#[test]
fn the_endpoint_of_a_success_is_recorded_for_whoever_wants_to_know() {
    let policy = policy();
    for (reports, is_observed) in [(false, false), (true, false), (false, true)] {
        let (mut progress, events) = (begun(&policy), Arc::new(Events::default()));
        progress.reports = reports;
        if is_observed {
            let mut observers = Observers::default();
            observers.push(events.clone());
            progress.observe(&policy, &observers, name(), false, &Transport::CLOSURE);
            let started = progress.started(&policy, 1).unwrap();
            progress.sends(started);
        }
        // Another event, which only this transport has.
        progress.context(&policy, 1).event(&Peer::new(&SECOND));
        link(&mut progress, &policy, 1).carried(wire(FIRST), 0, Clock::start(), false);
        assert!(progress.ended(&policy, 1, AttemptResult::done()));
        let is_wanted = reports || is_observed;
        assert_eq!(progress.report(&policy, None, name()).peer(1), is_wanted.then_some(FIRST));
        assert_eq!(*events.0.lock().unwrap(), vec![1; if is_observed { 2 } else { 0 }]);
    }
}

#[test]
fn messages_that_an_attempt_has_delivered_are_counted() {
    let policy = policy();
    let mut progress = begun(&policy);
    progress.context(&policy, 1).ended_after(0);
    assert!(!progress.is_reported());
    progress.context(&policy, 1).ended_after(3);
    progress.ended(&policy, 1, AttemptResult::done());
    assert_eq!(progress.report(&policy, None, name()).messages_delivered(), 3);
}

//! The events that observers of a driver are notified of, and when.

use super::fake::{self, Act, Fake, Script};
use super::{MS, done, driver, five_seconds};
use crate::operation::{
    Driver, InProgress, Jitter, Name, Observers, OperationInfo, OperationObserver, OperationReport,
    OperationSummary, OutgoingHeaders, Output, Transport, WireMessage,
};
use gax_retry::operation::{Action, AttemptResult, Ready};
use gax_retry::{Attempt, Code, Compatibility, Hedging, Policy, StartedAttempt};
use http::Extensions;
use std::borrow::Cow;
use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The events of drops, and how many attempts were alive then.
#[derive(Default)]
struct Drops {
    alive: Mutex<Option<Arc<()>>>,
    notices: Mutex<Vec<(String, usize)>>,
}

impl Drops {
    fn tell(&self, what: String) {
        let alive = self.alive.lock().unwrap().as_ref().map_or(0, |alive| Arc::strong_count(alive) - 1);
        self.notices.lock().unwrap().push((what, alive));
    }
}

impl OperationObserver for Drops {
    fn attempt_cancelled(&self, _: &OperationInfo, attempt: &Attempt) {
        let end = attempt.end().as_millis();
        self.tell(format!("attempt {} {} at {end}", attempt.number(), attempt.code()));
    }

    fn committed(&self, _: &OperationInfo, attempt: StartedAttempt) {
        self.tell(format!("committed to attempt {}", attempt.number()));
    }

    fn operation_succeeded(&self, _: &OperationInfo, summary: &OperationSummary) {
        self.tell(format!("success after {} attempts", summary.attempts()));
    }

    fn operation_failed(&self, _: &OperationInfo, summary: &OperationSummary) {
        self.tell(format!("{} after {} attempts", summary.code(), summary.attempts()));
    }

    fn operation_cancelled(&self, _: &OperationInfo, summary: &OperationSummary) {
        self.tell(format!("operation after {} attempts", summary.attempts()));
    }
}

/// An operation, and its observer.
fn observed(script: Script) -> (Arc<Drops>, Driver<Fake>) {
    let drops = Arc::new(Drops::default());
    let mut observers = Observers::default();
    observers.push(drops.clone());
    let codes = [Code::Unavailable];
    let mut config = fake::config(&five_seconds(), codes, script.compatibility, script.hedging);
    config.observers = observers.shared();
    let fake = Fake::new(script);
    *drops.alive.lock().unwrap() = Some(Arc::clone(&fake.alive));
    (drops, Driver::new(fake, Arc::new(config)))
}

/// Drops an operation after that time; the notices to its observers.
async fn drops(script: Script, after: Duration) -> Vec<(String, usize)> {
    let (drops, driver) = observed(script);
    let mut driver = Box::pin(driver);
    let call = poll_fn(|cx| driver.as_mut().poll(cx, &mut ()));
    assert!(tokio::time::timeout(after, call).await.is_err());
    drop(driver);
    let notices = drops.notices.lock().unwrap();
    notices.clone()
}

#[tokio::test(start_paused = true)]
async fn attempts_are_dropped_before_their_observers_hear_of_it() {
    let notices = drops(Script::of([Act::Hangs]), 700 * MS).await;
    let of = |what: &str| (what.to_owned(), 0);
    assert_eq!(notices, [of("attempt 1 CANCELLED at 700"), of("operation after 1 attempts")]);
}

#[tokio::test(start_paused = true)]
async fn all_attempts_of_a_hedged_operation_are_dropped_first() {
    let hedging = Some(Hedging::new(3).delay(100 * MS));
    let script = Script { hedging, ..Script::of([Act::Hangs, Act::Hangs, Act::Hangs]) };
    let notices = drops(script, 150 * MS).await;
    let of = |what: &str| (what.to_owned(), 0);
    assert_eq!(
        notices,
        [
            of("attempt 1 CANCELLED at 150"),
            of("attempt 2 CANCELLED at 150"),
            of("operation after 2 attempts")
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn an_operation_that_was_never_polled_is_none() {
    let (drops, driver) = observed(Script::of([Act::Hangs]));
    drop(driver);
    assert!(drops.notices.lock().unwrap().is_empty());
}

/// A reply may turn out to be worth nothing, which only its reader knows.
#[tokio::test(start_paused = true)]
async fn whoever_has_the_reply_tells_what_it_is_worth() {
    let (drops, driver) = observed(Script::of([done()]));
    let mut driver = Box::pin(driver);
    assert_eq!(poll_fn(|cx| driver.as_mut().poll(cx, &mut ())).await, Output::Reply);
    let taken = driver.as_mut().hand_over(&mut Extensions::new()).unwrap();
    drop(driver);
    assert!(drops.notices.lock().unwrap().is_empty());
    taken.succeeded();
    assert_eq!(*drops.notices.lock().unwrap(), [("success after 1 attempts".to_owned(), 0)]);
}

#[tokio::test(start_paused = true)]
async fn whoever_wants_to_know_of_a_success_is_notified_once() {
    for (reports, is_observed, into) in (0..8).map(|bits: u8| (bits & 1 > 0, bits & 2 > 0, bits & 4 > 0)) {
        let (drops, mut operation) = observed(Script::of([done()]));
        if !is_observed {
            operation = driver(&five_seconds(), Script::of([done()]));
        }
        let mut driver = Box::pin(operation.reporting(reports));
        assert_eq!(poll_fn(|cx| driver.as_mut().poll(cx, &mut ())).await, Output::Reply);
        assert_eq!(driver.is_watched(), reports || is_observed);
        let report = if into {
            let mut extensions = Extensions::new();
            driver.as_mut().close_into(&mut extensions);
            extensions.remove::<OperationReport>()
        } else {
            driver.as_mut().close()
        };
        drop(driver);
        assert_eq!(report.map(|report| report.attempts().len()), reports.then_some(1));
        let notices = drops.notices.lock().unwrap().iter().map(|(what, _)| what.clone()).collect::<Vec<_>>();
        assert_eq!(notices.len(), usize::from(is_observed), "{notices:?}");
        assert!(notices.iter().all(|what| what == "success after 1 attempts"), "{notices:?}");
    }
}

/// When a thread works on an attempt of an operation whose name is none of a bounded number.
#[derive(Default)]
struct Threads(Mutex<Vec<&'static str>>);

impl OperationObserver for Threads {
    fn attempt_entered(&self, operation: &OperationInfo, _: StartedAttempt) {
        self.0.lock().unwrap().push(if operation.is_registered() { "registered" } else { "in" });
    }

    fn attempt_exited(&self, _: &OperationInfo, _: StartedAttempt) {
        self.0.lock().unwrap().push("out");
    }
}

#[tokio::test(start_paused = true)]
async fn observers_know_when_a_thread_works_on_an_attempt() {
    let threads = Arc::new(Threads::default());
    let mut observers = Observers::default();
    observers.push(threads.clone());
    let observers = observers.registering_none();
    let mut config = fake::config(&five_seconds(), Code::Unavailable, Compatibility::Documented, None);
    config.observers = observers.shared();
    let fake = Fake::new(Script::of([done()]));
    let driver = Driver::begun(fake, Arc::new(config), false, None, |fake, _, _, context| {
        assert_eq!(*threads.0.lock().unwrap(), ["in"]);
        fake.attempt(context)
    });
    assert_eq!(*threads.0.lock().unwrap(), ["in", "out"]);
    let mut driver = Box::pin(driver);
    assert_eq!(poll_fn(|cx| driver.as_mut().poll(cx, &mut ())).await, Output::Reply);
    assert_eq!(*threads.0.lock().unwrap(), ["in", "out", "in", "out"]);
}

/// By gRPC's rules headers commit, and by all rules a request of which more was sent than is buffered.
#[tokio::test(start_paused = true)]
async fn observers_are_notified_once_whose_the_operation_is() {
    for (compatibility, second) in [
        (Compatibility::Grpc, Act::Heads(30 * MS, 400 * MS, AttemptResult::done())),
        (Compatibility::Documented, Act::Overflows(250 * MS, AttemptResult::done())),
    ] {
        let hedging = Some(Hedging::new(3).delay(100 * MS));
        let (drops, driver) =
            observed(Script { compatibility, hedging, ..Script::of([Act::Hangs, second, Act::Hangs]) });
        let mut driver = Box::pin(driver);
        assert_eq!(poll_fn(|cx| driver.as_mut().poll(cx, &mut ())).await, Output::Reply);
        let notices = drops.notices.lock().unwrap();
        let commits: Vec<_> = notices.iter().filter(|(what, _)| what.starts_with("committed")).collect();
        assert_eq!(commits, [&("committed to attempt 2".to_owned(), commits[0].1)], "{compatibility}");
    }
}

/// The hedge's failure is the operation's, whatever the first attempt fails with after it.
#[tokio::test(start_paused = true)]
async fn observers_are_notified_of_the_failure_that_the_operation_ends_with() {
    let fails = |after, code| Act::Ends(after * MS, AttemptResult::failed(code));
    let hedging = Some(Hedging::new(2).delay(100 * MS).non_fatal_codes(Code::Unavailable));
    let exists = fails(50, Code::AlreadyExists);
    for (hedging, acts, expected) in [
        (None, vec![fails(20, Code::Internal)], "INTERNAL after 1 attempts"),
        (hedging, vec![fails(400, Code::Unavailable), exists], "ALREADY_EXISTS after 2 attempts"),
        (hedging, vec![fails(30, Code::Unavailable), fails(50, Code::Internal)], "INTERNAL after 2 attempts"),
    ] {
        let (drops, driver) = observed(Script { hedging, ..Script::of(acts) });
        let mut driver = Box::pin(driver);
        let output = poll_fn(|cx| driver.as_mut().poll(cx, &mut ())).await;
        assert!(matches!(output, Output::Failed(_)), "{output:?}");
        let notices = drops.notices.lock().unwrap();
        assert_eq!(notices.iter().map(|(what, _)| what).collect::<Vec<_>>(), [expected]);
    }
}

/// Adds a header to what is sent, and listens to what arrives.
#[derive(Default)]
struct Wire {
    received: Mutex<Vec<u64>>,
}

impl OperationObserver for Wire {
    fn attempt_headers(&self, _: &OperationInfo, attempt: StartedAttempt, headers: &mut OutgoingHeaders<'_>) {
        headers.set("x-attempt", &attempt.number().to_string());
    }

    fn watches_transfers(&self, _: &OperationInfo) -> bool {
        true
    }

    fn message_received(&self, _: &OperationInfo, _: StartedAttempt, message: WireMessage) {
        self.received.lock().unwrap().push(message.size());
    }
}

#[tokio::test(start_paused = true)]
async fn observers_get_at_the_headers_that_go_out_and_the_messages_that_come_in() {
    const WIRE: Transport = Transport::new("wire").with_wire().with_messages();
    let wire = Arc::new(Wire::default());
    let mut observers = Observers::default();
    observers.push(wire.clone());
    let policy = Policy::new(&five_seconds(), Code::Unavailable);
    let mut progress = InProgress::new();
    progress.begin(Jitter::default());
    assert!(!progress.context(&policy, 1).watches_transfers());
    progress.observe(&policy, &observers, Name::from(Cow::Borrowed("wire")), false, &WIRE);
    let Action::Send(first) = progress.start(&policy, None, Ready::Now) else { panic!("no attempt") };
    progress.sends(first);
    let mut headers = http::HeaderMap::new();
    let mut context = progress.context(&policy, first.number());
    context.add_headers(&mut headers);
    assert_eq!(headers["x-attempt"], "1");
    // A message of three bytes, and the beginning of another one.
    assert!(context.watches_transfers());
    context.received(&[0, 0, 0, 0, 3, 7, 7, 7, 0, 0]);
    assert_eq!(*wire.received.lock().unwrap(), [3]);
}

//! What observers of a driver are told, and when.

use super::fake::{self, Act, Fake, Script};
use super::{MS, five_seconds};
use crate::operation::{Driver, Observers, OperationInfo, OperationObserver, OperationSummary};
use gax_retry::{Attempt, Code, Compatibility, Hedging};
use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What was told of drops, and how many attempts were alive then.
#[derive(Default)]
struct Drops {
    alive: Mutex<Option<Arc<()>>>,
    told: Mutex<Vec<(String, usize)>>,
}

impl Drops {
    fn tell(&self, what: String) {
        let alive = self.alive.lock().unwrap().as_ref().map_or(0, |alive| Arc::strong_count(alive) - 1);
        self.told.lock().unwrap().push((what, alive));
    }
}

impl OperationObserver for Drops {
    fn attempt_cancelled(&self, _: &OperationInfo, attempt: &Attempt) {
        let end = attempt.end().as_millis();
        self.tell(format!("attempt {} {} at {end}", attempt.number(), attempt.code()));
    }

    fn operation_cancelled(&self, _: &OperationInfo, summary: &OperationSummary) {
        self.tell(format!("operation after {} attempts", summary.attempts()));
    }
}

/// Drops an operation after that time; what was told.
async fn drops(script: Script, after: Duration) -> Vec<(String, usize)> {
    let drops = Arc::new(Drops::default());
    let mut observers = Observers::default();
    observers.push(drops.clone());
    let codes = [Code::Unavailable];
    let mut plan = fake::plan(&five_seconds(), codes, Compatibility::Documented, script.hedging);
    plan.observers = observers.shared();
    let fake = Fake::new(script);
    *drops.alive.lock().unwrap() = Some(Arc::clone(&fake.alive));
    let mut driver = Box::pin(Driver::new(fake, Arc::new(plan)));
    let call = poll_fn(|cx| driver.as_mut().poll(cx, &mut ()));
    assert!(tokio::time::timeout(after, call).await.is_err());
    drop(driver);
    let told = drops.told.lock().unwrap();
    told.clone()
}

#[tokio::test(start_paused = true)]
async fn attempts_are_dropped_before_their_observers_hear_of_it() {
    let told = drops(Script::of([Act::Hangs]), 700 * MS).await;
    let of = |what: &str| (what.to_owned(), 0);
    assert_eq!(told, [of("attempt 1 CANCELLED at 700"), of("operation after 1 attempts")]);
}

#[tokio::test(start_paused = true)]
async fn all_attempts_of_a_hedged_operation_are_dropped_first() {
    let hedging = Some(Hedging::new(3).delay(100 * MS));
    let script = Script { hedging, ..Script::of([Act::Hangs, Act::Hangs, Act::Hangs]) };
    let told = drops(script, 150 * MS).await;
    let of = |what: &str| (what.to_owned(), 0);
    assert_eq!(
        told,
        [
            of("attempt 1 CANCELLED at 150"),
            of("attempt 2 CANCELLED at 150"),
            of("operation after 2 attempts")
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn an_operation_that_was_never_polled_is_none() {
    let drops = Arc::new(Drops::default());
    let mut observers = Observers::default();
    observers.push(drops.clone());
    let mut plan = fake::plan(&five_seconds(), [Code::Unavailable], Compatibility::Documented, None);
    plan.observers = observers.shared();
    drop(Driver::new(Fake::new(Script::of([Act::Hangs])), Arc::new(plan)));
    assert!(drops.told.lock().unwrap().is_empty());
}

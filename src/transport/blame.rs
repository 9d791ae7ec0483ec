//! Who is to blame when our own HTTP/2 stack has closed a connection.
//!
//! A server that breaks the rules with one response can cost the whole connection, and every request on it gets
//! the same error: nothing in it says whose response it was. A request that dies alone is the one. If several die within
//! a moment, nobody knows.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::runtime::{Handle, Id};
use tokio::time::Instant;

/// How long it may take until all requests of a connection have heard that it is gone.
pub(crate) const MOMENT: Duration = Duration::from_millis(10);

/// Requests that died shortly after each other, in one runtime.
#[derive(Debug, Clone, Copy)]
struct Deaths {
    last: Instant,
    count: usize,
}

/// The latest deaths of each runtime. Nothing but a connection that we closed leads here.
static LATEST: LazyLock<Mutex<HashMap<Id, Deaths>>> = LazyLock::new(Mutex::default);

fn latest() -> MutexGuard<'static, HashMap<Id, Deaths>> {
    LATEST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A request has died at that moment. Whether it was alone is known a [`MOMENT`] later.
pub(crate) fn died(now: Instant) {
    let mut latest = latest();
    let deaths = latest.entry(Handle::current().id()).or_insert(Deaths { last: now, count: 0 });
    if now.saturating_duration_since(deaths.last) > MOMENT {
        deaths.count = 0;
    }
    *deaths = Deaths { last: now, count: deaths.count + 1 };
}

/// Whether no other request died shortly before or after the one that died at that moment.
pub(crate) fn was_alone(moment: Instant) -> bool {
    let mut latest = latest();
    let runtime = Handle::current().id();
    let was_alone = latest.get(&runtime).is_some_and(|deaths| deaths.count == 1 && deaths.last == moment);
    if was_alone {
        latest.remove(&runtime);
    }
    was_alone
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::{advance, sleep};

    fn now() -> Instant {
        crate::operation::Clock::start().at(Duration::ZERO).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn one_death_is_told_from_several() {
        let first = now();
        died(first);
        sleep(MOMENT).await;
        assert!(was_alone(first));

        let moments = [now(), now() + Duration::from_millis(5)];
        died(moments[0]);
        advance(Duration::from_millis(5)).await;
        died(moments[1]);
        sleep(MOMENT).await;
        assert!(!was_alone(moments[0]) && !was_alone(moments[1]));

        advance(MOMENT).await;
        let later = now();
        died(later);
        assert!(was_alone(later));
    }
}

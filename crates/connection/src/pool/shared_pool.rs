//! A pool as its clones and calls share it, and the task that follows its resolver.

use crate::guarded::guarded;
use crate::pool::keeper::{EndpointTask, keep_connected};
use crate::pool::pool::{Pick, Pool};
use crate::pool::waiting_calls::{CallTerms, Placement};
use crate::settings::Waits;
use crate::wait::{Either, before, either, moment_of};
use gax_driver::__private::{Clock, earlier};
use gax_retry::ThreadJitter;
use gax_wire::__private::NotConnected;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tonic::codegen::StdError;

/// How soon a resolver may be asked again because a connection failed, and because it says that something has changed.
const FAILURE_PAUSE: Duration = Duration::from_secs(1);
const CHANGE_PAUSE: Duration = Duration::from_millis(100);

/// For how long an endpoint may be missing from the resolver's list until the resolver is asked again.
const MAX_ABSENCE: Duration = Duration::from_secs(30);

/// Ends the pool with the last clone of a connection and the last call.
pub(crate) struct SharedPool(Arc<Pool>);

impl SharedPool {
    pub(crate) fn new(pool: Pool) -> Self {
        Self(Arc::new(pool))
    }

    /// Where a call goes, or where it waits for that, with a body of so many bytes.
    pub(crate) fn pick(&self, terms: &CallTerms, bytes: impl FnOnce() -> u64) -> Pick {
        let mut state = self.0.state.lock();
        if !state.is_started {
            let Ok(runtime) = Handle::try_current() else {
                let text = "there is no tokio runtime to run the connections";
                return Pick::Placed(Placement::None(NotConnected::from(StdError::from(text))));
            };
            (state.is_started, state.failure) = (true, None);
            // A runtime that shuts down drops it immediately.
            drop(state);
            runtime.spawn(follow(ResolverTask(Arc::clone(&self.0))));
            state = self.0.state.lock();
        }
        self.0.pick(state, terms, bytes)
    }
}

impl std::ops::Deref for SharedPool {
    type Target = Arc<Pool>;

    fn deref(&self) -> &Arc<Pool> {
        &self.0
    }
}

impl Drop for SharedPool {
    fn drop(&mut self) {
        self.0.closed.cancel();
    }
}

/// The task that asks the resolver. It may end with its runtime: the next call begins another one.
struct ResolverTask(Arc<Pool>);

impl Drop for ResolverTask {
    fn drop(&mut self) {
        let gone = "the runtime that the connection was used in has shut down";
        self.0.state.lock().is_started = false;
        self.0.unresolved(NotConnected::from(StdError::from(gone)), None);
    }
}

/// Asks the resolver again and again, and has calls use the streams that are free, until the connection is no longer needed.
async fn follow(task: ResolverTask) {
    let pool = &task.0;
    either(pool.closed.cancelled(), either(resolve(pool), dispatch(pool))).await;
}

async fn dispatch(pool: &Pool) {
    loop {
        pool.freed().await;
        pool.settle();
    }
}

async fn resolve(pool: &Arc<Pool>) {
    const RESOLVER: &str = "a resolver";
    let settings = pool.settings();
    let mut waits = Waits::new(settings.chosen.backoff);
    let guard = &pool.connector().guard;
    let mut is_announced = false;
    loop {
        let clock = Clock::start();
        // Before the addresses are asked for, so that no change is missed.
        let changed = guarded(guard, RESOLVER, || pool.resolver.changed());
        let changed = async {
            if changed.await.is_err() {
                pending::<()>().await;
            }
        };
        let resolved = guarded(guard, RESOLVER, || pool.resolver.resolve()).await;
        let none = || StdError::from("the resolver found no address");
        let resolved = resolved.and_then(|addresses| addresses);
        let again = match resolved.and_then(|found| if found.is_empty() { Err(none()) } else { Ok(found) }) {
            Ok(addresses) => {
                waits.reset();
                let (new, misses_any) = pool.update(addresses, is_announced);
                for subchannel in new {
                    tokio::spawn(keep_connected(EndpointTask::new(Arc::clone(pool), subchannel)));
                }
                let again = earlier(settings.chosen.resolve_every, misses_any.then_some(MAX_ABSENCE));
                again.and_then(|again| clock.at(again))
            }
            Err(error) => {
                let again = clock.at(waits.draw(&mut ThreadJitter));
                pool.unresolved(NotConnected::from(error), again);
                again
            }
        };
        let urged = either(pool.asked.notified(), pool.urged.notified());
        let asked = before(again, either(changed, urged)).await;
        is_announced = matches!(asked, Some(Either::One(())));
        match asked {
            Some(Either::One(()) | Either::Other(Either::Other(()))) => {
                moment_of(clock.at(CHANGE_PAUSE)).await;
            }
            Some(Either::Other(Either::One(()))) => moment_of(clock.at(FAILURE_PAUSE)).await,
            None => {}
        }
    }
}

//! The task that keeps an endpoint connected.

use crate::connection::endpoint::fate::Fate;
use crate::connection::endpoint::host::{Host, State};
use crate::connection::endpoint::keeping::Keeping;
use crate::connection::endpoint::live::Live;
use crate::connection::endpoint::maker::{Driving, drive};
use crate::connection::error::SharedError;
use crate::connection::settings::Waits;
use crate::connection::wait::{Either, before, either, moment_of};
use crate::operation::{Clock, ConnectionChange, LostReason, Peer};
use gax_retry::ThreadJitter;
use gax_retry::jitter::JitterSource as _;
use std::sync::Arc;
use std::time::Duration;
use tonic::codegen::StdError;

/// Keeps an endpoint connected, whenever calls want it to be, until it is stopped.
pub(crate) async fn keep<H: Host>(pool: Arc<H>, keeping: Arc<Keeping>) {
    let stopped = keeping.stopped.clone();
    either(stopped.cancelled(), connections(&pool, &keeping)).await;
    pool.forget(keeping.number);
}

async fn connections<H: Host>(pool: &Arc<H>, keeping: &Arc<Keeping>) {
    let mut waits = Waits::new(pool.settings().backoff);
    let mut was_short = false;
    keeping.wanted.notified().await;
    loop {
        let clock = Clock::start();
        let wait = match connect(pool, keeping).await {
            Ok((live, driving)) => {
                serve(pool, keeping, live, driving, clock).await;
                pool.ask();
                let is_short = clock.elapsed() < pool.settings().backoff.first();
                if !is_short {
                    waits.reset();
                }
                // A server that ends each connection at once is met with back-off.
                let wait = (is_short && was_short).then(|| waits.draw(&mut ThreadJitter));
                was_short = is_short;
                pool.set_state(keeping.number, State::Idle);
                keeping.wanted.notified().await;
                wait
            }
            Err(error) => {
                let wait = waits.draw(&mut ThreadJitter);
                let error = SharedError::from(error);
                let change = ConnectionChange::Failed { error: &error, retry_in: wait };
                pool.notify(&keeping.name(), change);
                pool.set_state(keeping.number, State::Failed(error));
                pool.ask();
                Some(wait)
            }
        };
        if let Some(wait) = wait {
            moment_of(clock.at(wait)).await;
        }
    }
}

async fn connect<H: Host>(pool: &Arc<H>, keeping: &Keeping) -> Result<(Arc<Live>, Driving), StdError> {
    let clock = Clock::start();
    pool.connecting(keeping.number);
    pool.notify(&keeping.name(), ConnectionChange::Connecting);
    let addresses = keeping.addresses();
    let made = pool.maker().make(&addresses, keeping.number, &keeping.counts, &pool.settings().http2).await;
    let (live, driving) = made?;
    pool.notify(live.peer().as_str(), ConnectionChange::Ready { after: clock.elapsed() });
    Ok((Arc::new(live), driving))
}

/// Has calls use a connection until it is over.
async fn serve<H: Host>(pool: &Arc<H>, keeping: &Keeping, live: Arc<Live>, driving: Driving, clock: Clock) {
    let (fate, peer) = (Arc::clone(live.fate()), live.peer().clone());
    let _pooled =
        Pooled { pool: &**pool, endpoint: keeping.number, peer: peer.clone(), fate: Arc::clone(&fate) };
    pool.add(&live);
    tokio::spawn(drive(driving, Arc::clone(live.traffic()), Arc::clone(&fate)));
    // From here on calls alone keep it open, once it is not in the pool any more.
    drop(live);
    let age = pool.settings().max_age.and_then(|age| clock.at(spread(age)));
    if before(age, fate.ended()).await.is_none() {
        fate.end(LostReason::TooOld);
    }
    if matches!(fate.ended().await, LostReason::Silent | LostReason::Broken(_)) {
        keeping.put_last(peer.as_str());
    }
}

/// A connection in the pool, as long as its endpoint's task looks after it.
struct Pooled<'a, H: Host> {
    pool: &'a H,
    endpoint: u64,
    peer: Peer,
    fate: Arc<Fate>,
}

impl<H: Host> Drop for Pooled<'_, H> {
    fn drop(&mut self) {
        self.fate.end(LostReason::Removed);
        self.pool.remove(self.endpoint, &self.fate);
        if let Some(reason) = self.fate.reason() {
            self.pool.notify(self.peer.as_str(), ConnectionChange::Lost { reason });
        }
    }
}

/// A tenth more or less, so that many clients don't connect at once.
fn spread(age: Duration) -> Duration {
    Duration::try_from_secs_f64(age.as_secs_f64() * (0.9 + 0.2 * ThreadJitter.next_fraction())).unwrap_or(age)
}

/// Makes one more connection to an endpoint whose streams are all taken, and keeps it until it is over.
pub(crate) async fn extend<H: Host>(pool: Arc<H>, keeping: Arc<Keeping>) {
    let stopped = keeping.stopped.clone();
    let extending = async {
        let clock = Clock::start();
        match connect(&pool, &keeping).await {
            Ok((live, driving)) => {
                pool.extended(keeping.number);
                serve(&pool, &keeping, live, driving, clock).await;
            }
            Err(error) => {
                let wait = pool.settings().backoff.first();
                let error = SharedError::from(error);
                let change = ConnectionChange::Failed { error: &error, retry_in: wait };
                pool.notify(&keeping.name(), change);
                // No other is made before that.
                moment_of(clock.at(wait)).await;
                pool.extended(keeping.number);
            }
        }
    };
    if let Either::One(()) = either(stopped.cancelled(), extending).await {
        pool.extended(keeping.number);
    }
}

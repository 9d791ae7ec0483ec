//! The task that keeps an endpoint connected.

use crate::connection::endpoint::fate::Fate;
use crate::connection::endpoint::health::watch;
use crate::connection::endpoint::host::{Host, State};
use crate::connection::endpoint::keeping::Keeping;
use crate::connection::endpoint::live::Live;
use crate::connection::endpoint::maker::{Driving, Order, drive};
use crate::connection::error::SharedError;
use crate::connection::settings::Waits;
use crate::connection::wait::{Either, before, either, moment_of};
use crate::operation::{Clock, ConnectionChange, LostReason, Peer};
use gax_retry::ThreadJitter;
use gax_retry::jitter::JitterSource as _;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;
use tonic::codegen::StdError;

/// Keeps an endpoint connected, whenever calls want it to be, until it is stopped.
pub(crate) async fn keep<H: Host>(pool: Arc<H>, keeping: Arc<Keeping>) {
    let _kept = Kept { pool: &*pool, endpoint: keeping.number };
    let stopped = keeping.stopped.clone();
    either(stopped.cancelled(), Box::pin(connections(&pool, &keeping))).await;
}

/// An endpoint whose task is there. It may end with its runtime.
struct Kept<'a, H: Host> {
    pool: &'a H,
    endpoint: u64,
}

impl<H: Host> Drop for Kept<'_, H> {
    fn drop(&mut self) {
        self.pool.forget(self.endpoint);
    }
}

async fn connections<H: Host>(pool: &Arc<H>, keeping: &Arc<Keeping>) {
    let mut waits = Waits::new(pool.settings().backoff);
    let mut was_short = false;
    keeping.wanted.notified().await;
    loop {
        let clock = Clock::start();
        match connect(pool, keeping).await {
            Ok((live, driving)) => {
                let fate = Arc::clone(live.fate());
                serve(pool, keeping, live, driving, clock).await;
                pool.ask();
                let is_short = clock.elapsed() < pool.settings().backoff.first();
                if !is_short {
                    waits.reset();
                }
                if is_short && was_short {
                    // A server that ends each connection at once is met with back-off.
                    let lost = fate.reason().map_or_else(String::new, ToString::to_string);
                    let error =
                        StdError::from(format!("connections are lost as soon as they are made: {lost}"));
                    pool.set_state(keeping.number, State::Failed(SharedError::from(error)));
                    let wait = waits.draw(&mut ThreadJitter);
                    back_off(clock, wait, keeping, &mut waits).await;
                }
                was_short = is_short;
                pool.set_state(keeping.number, State::Idle);
                keeping.wanted.notified().await;
            }
            Err(error) => {
                let wait = waits.draw(&mut ThreadJitter);
                let error = SharedError::from(error);
                let change = ConnectionChange::Failed { error: &error, retry_in: wait };
                pool.notify(&keeping.name(), change);
                pool.set_state(keeping.number, State::Failed(error));
                pool.ask();
                back_off(clock, wait, keeping, &mut waits).await;
            }
        }
    }
}

/// Waits for so long since the last attempt to connect began. With other addresses there is nothing to wait for.
async fn back_off(clock: Clock, wait: Duration, keeping: &Keeping, waits: &mut Waits) {
    if let Either::Other(()) = either(moment_of(clock.at(wait)), keeping.moved.notified()).await {
        waits.reset();
    }
}

async fn connect<H: Host>(pool: &Arc<H>, keeping: &Keeping) -> Result<(Arc<Live>, Driving), StdError> {
    let clock = Clock::start();
    pool.notify(&keeping.name(), ConnectionChange::Connecting);
    let addresses = keeping.addresses();
    let http2 = &pool.settings().http2;
    let order = Order { endpoint: keeping.number, counts: &keeping.counts, http2 };
    let (live, driving) = pool.maker().make(&addresses, &order).await?;
    pool.notify(live.peer().as_str(), ConnectionChange::Ready { after: clock.elapsed() });
    Ok((Arc::new(live), driving))
}

/// Has calls use a connection until it is over.
async fn serve<H: Host>(pool: &Arc<H>, keeping: &Keeping, live: Arc<Live>, driving: Driving, clock: Clock) {
    let (fate, peer) = (Arc::clone(live.fate()), live.peer().clone());
    let _pooled =
        Pooled { pool: &**pool, endpoint: keeping.number, peer: peer.clone(), fate: Arc::clone(&fate) };
    if pool.settings().health.is_some() {
        live.wait_for_health();
    }
    pool.add(&live);
    let counts = Arc::clone(live.counts());
    tokio::spawn(drive(driving, Arc::clone(live.traffic()), Arc::clone(&fate), counts));
    let age = pool.settings().max_age.and_then(|age| clock.at(spread(age)));
    // After this calls alone keep it open.
    let ended = either(fate.ended(), check(&**pool, live));
    if before(age, ended).await.is_none() {
        fate.end(LostReason::TooOld);
    }
    if matches!(fate.ended().await, LostReason::Silent | LostReason::Broken(_)) {
        keeping.put_last(peer.as_str());
    }
}

/// Has a connection take calls while its server says that the service is up, if anybody wants to know.
async fn check<H: Host>(pool: &H, live: Arc<Live>) {
    let settings = pool.settings();
    if let Some(service) = &settings.health {
        let mut waits = Waits::new(settings.backoff);
        let set_healthy = |is_healthy| {
            live.set_healthy(is_healthy);
            pool.changed();
        };
        loop {
            let clock = Clock::start();
            if watch(&live, settings, service, set_healthy).await.is_ok() {
                break;
            }
            set_healthy(false);
            moment_of(clock.at(waits.draw(&mut ThreadJitter))).await;
        }
    }
    drop(live);
    pending::<()>().await;
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
    if let Either::One(()) = either(stopped.cancelled(), Box::pin(extending)).await {
        pool.extended(keeping.number);
    }
}

//! The tasks that keep an endpoint connected.

use crate::endpoint::{Driving, PooledConnection, Step, Subchannel, drive, is_of_server};
use crate::pool::health_check::check;
use crate::pool::pool::Pool;
use crate::wait::{before, either, moment_of};
use gax_driver::__private::Clock;
use gax_driver::observe::{ConnectionChange, LostReason};
use gax_retry::ThreadJitter;
use gax_retry::jitter::JitterSource;
use gax_wire::__private::NotConnected;
use std::sync::Arc;
use std::time::Duration;

/// Keeps an endpoint connected, whenever calls want it to be, until it is stopped.
pub(super) async fn keep_connected(task: EndpointTask) {
    let EndpointTask { pool, subchannel } = &task;
    either(subchannel.stopped.cancelled(), Box::pin(follow_steps(pool, subchannel))).await;
}

/// The task of an endpoint. It may end with its runtime, even before it has begun.
pub(super) struct EndpointTask {
    pool: Arc<Pool>,
    subchannel: Arc<Subchannel>,
}

impl EndpointTask {
    pub(super) fn new(pool: Arc<Pool>, subchannel: Arc<Subchannel>) -> Self {
        Self { pool, subchannel }
    }
}

impl Drop for EndpointTask {
    fn drop(&mut self) {
        self.pool.forget(self.subchannel.number);
    }
}

async fn follow_steps(pool: &Arc<Pool>, subchannel: &Arc<Subchannel>) {
    loop {
        match pool.step(subchannel.number) {
            Step::Rest => subchannel.wanted.notified().await,
            Step::WaitUntil(moment) => {
                either(moment_of(moment), subchannel.wanted.notified()).await;
            }
            Step::Connect => connect(pool, subchannel).await,
        }
    }
}

async fn connect(pool: &Arc<Pool>, subchannel: &Arc<Subchannel>) {
    let clock = Clock::start();
    pool.notify(&subchannel.name(), ConnectionChange::Connecting);
    match pool.connector().connect(subchannel, &pool.settings().chosen.http2).await {
        Ok((connection, driving)) => {
            let (pool, connection) = (Arc::clone(pool), Arc::new(connection));
            pool.notify(connection.peer().as_str(), ConnectionChange::Ready { after: clock.elapsed() });
            pool.connected(&connection);
            // A runtime that shuts down drops it immediately.
            tokio::spawn(attend(PoolMember { pool, connection }, driving));
        }
        Err(error) => {
            let error = NotConnected::from(error);
            let retry_in = pool.failed(subchannel.number, &error, clock);
            pool.notify(&subchannel.name(), ConnectionChange::Failed { error: &error, retry_in });
            pool.settle();
            pool.resolve_again();
        }
    }
}

/// Has calls use a connection until it takes no more of them. After that they alone keep it open.
async fn attend(member: PoolMember, driving: Driving) {
    let PoolMember { pool, connection } = &member;
    let (subchannel, end) = (connection.subchannel(), connection.end());
    let (traffic, signal) = (Arc::clone(connection.traffic()), Arc::clone(end));
    tokio::spawn(drive(driving, traffic, signal, Arc::clone(subchannel)));
    let age =
        pool.settings().chosen.max_age.and_then(|age| Clock::start().at(spread(age, &mut ThreadJitter)));
    let ended = either(subchannel.stopped.cancelled(), either(end.ended(), check(pool, connection)));
    if before(age, Box::pin(ended)).await.is_none() {
        end.end(LostReason::TooOld);
    }
}

/// A connection in the pool, as long as its task looks after it.
struct PoolMember {
    pool: Arc<Pool>,
    connection: Arc<PooledConnection>,
}

impl Drop for PoolMember {
    fn drop(&mut self) {
        let Self { pool, connection } = self;
        let end = connection.end();
        end.end(LostReason::Removed);
        let Some(reason) = end.reason() else { return };
        if *reason == LostReason::Silent
            || connection.loss().is_bad()
            || matches!(reason, LostReason::Broken(_))
        {
            let until = Clock::start().at(pool.settings().chosen.backoff.longest());
            connection.subchannel().give_up(connection.address().clone(), until);
        }
        pool.notify(connection.peer().as_str(), ConnectionChange::Lost { reason });
        pool.lost(connection);
        if is_of_server(reason) || *reason == LostReason::Silent {
            pool.resolve_again();
        }
    }
}

/// A tenth more or less, so that many clients don't connect at once.
fn spread(age: Duration, jitter: &mut dyn JitterSource) -> Duration {
    Duration::try_from_secs_f64(age.as_secs_f64() * (0.9 + 0.2 * jitter.next_fraction())).unwrap_or(age)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gax_retry::jitter::ScriptedJitter;

    #[test]
    fn a_tenth_of_the_age_is_drawn() {
        let mut jitter = ScriptedJitter::new([0.0, 0.5, 1.0]);
        let drawn: Vec<_> =
            (0..3).map(|_| spread(Duration::from_secs(100), &mut jitter).as_secs_f64().round()).collect();
        assert_eq!(format!("{drawn:?}"), "[90.0, 100.0, 110.0]");
        assert_eq!(spread(Duration::MAX, &mut ScriptedJitter::new([1.0])), Duration::MAX);
    }
}

//! The tasks that keep an endpoint connected.

use crate::endpoint::end_signal::EndSignal;
use crate::endpoint::health_check::check;
use crate::endpoint::http2_connector::{Driving, drive};
use crate::endpoint::lifecycle::Step;
use crate::endpoint::owner::Owner;
use crate::endpoint::pooled_connection::{PooledConnection, is_of_server};
use crate::endpoint::subchannel::Subchannel;
use crate::wait::{before, either, moment_of};
use gax_driver::__private::Clock;
use gax_driver::observe::{ConnectionChange, LostReason};
use gax_retry::ThreadJitter;
use gax_retry::jitter::JitterSource;
use gax_wire::__private::NotConnected;
use std::sync::Arc;
use std::time::Duration;

/// Keeps an endpoint connected, whenever calls want it to be, until it is stopped.
pub(crate) async fn keep_connected<O: Owner>(task: EndpointTask<O>) {
    let EndpointTask { owner, subchannel } = &task;
    either(subchannel.stopped.cancelled(), Box::pin(follow_steps(owner, subchannel))).await;
}

/// The task of an endpoint. It may end with its runtime, even before it has begun.
pub(crate) struct EndpointTask<O: Owner> {
    owner: Arc<O>,
    subchannel: Arc<Subchannel>,
}

impl<O: Owner> EndpointTask<O> {
    pub(crate) fn new(owner: Arc<O>, subchannel: Arc<Subchannel>) -> Self {
        Self { owner, subchannel }
    }
}

impl<O: Owner> Drop for EndpointTask<O> {
    fn drop(&mut self) {
        self.owner.forget(self.subchannel.number);
    }
}

async fn follow_steps<O: Owner>(owner: &Arc<O>, subchannel: &Arc<Subchannel>) {
    loop {
        match owner.step(subchannel.number) {
            Step::Rest => subchannel.wanted.notified().await,
            Step::WaitUntil(moment) => {
                either(moment_of(moment), subchannel.wanted.notified()).await;
            }
            Step::Connect => connect(owner, subchannel).await,
        }
    }
}

async fn connect<O: Owner>(owner: &Arc<O>, subchannel: &Arc<Subchannel>) {
    let clock = Clock::start();
    owner.notify(&subchannel.name(), ConnectionChange::Connecting);
    match owner.connector().connect(subchannel, &owner.settings().http2).await {
        Ok((connection, driving)) => {
            let (owner, connection) = (Arc::clone(owner), Arc::new(connection));
            owner.notify(connection.peer().as_str(), ConnectionChange::Ready { after: clock.elapsed() });
            owner.connected(&connection);
            // A runtime that shuts down drops it immediately.
            tokio::spawn(attend(PoolMember { owner, connection }, driving));
        }
        Err(error) => {
            let error = NotConnected::from(error);
            let retry_in = owner.failed(subchannel.number, &error, clock);
            owner.notify(&subchannel.name(), ConnectionChange::Failed { error: &error, retry_in });
            owner.settle();
            owner.resolve_again();
        }
    }
}

/// Has calls use a connection until it takes no more of them. After that they alone keep it open.
async fn attend<O: Owner>(member: PoolMember<O>, driving: Driving) {
    let PoolMember { owner, connection } = &member;
    let (subchannel, end): (_, &Arc<EndSignal>) = (connection.subchannel(), connection.end());
    let (traffic, signal) = (Arc::clone(connection.traffic()), Arc::clone(end));
    tokio::spawn(drive(driving, traffic, signal, Arc::clone(subchannel)));
    let age = owner.settings().max_age.and_then(|age| Clock::start().at(spread(age, &mut ThreadJitter)));
    let ended = either(subchannel.stopped.cancelled(), either(end.ended(), check(&**owner, connection)));
    if before(age, Box::pin(ended)).await.is_none() {
        end.end(LostReason::TooOld);
    }
}

/// A connection in the pool, as long as its task looks after it.
struct PoolMember<O: Owner> {
    owner: Arc<O>,
    connection: Arc<PooledConnection>,
}

impl<O: Owner> Drop for PoolMember<O> {
    fn drop(&mut self) {
        let Self { owner, connection } = self;
        let end = connection.end();
        end.end(LostReason::Removed);
        let Some(reason) = end.reason() else { return };
        if *reason == LostReason::Silent
            || connection.loss().is_bad()
            || matches!(reason, LostReason::Broken(_))
        {
            let until = Clock::start().at(owner.settings().backoff.longest());
            connection.subchannel().give_up(connection.address().clone(), until);
        }
        owner.notify(connection.peer().as_str(), ConnectionChange::Lost { reason });
        owner.lost(connection);
        if is_of_server(reason) || *reason == LostReason::Silent {
            owner.resolve_again();
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

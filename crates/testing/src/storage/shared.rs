//! The state of an emulator, shared by all its connections.

use super::faults::{ArmedFaults, Faults};
use super::state::{CHUNK, Objects, Session};
use super::{StorageArrival, StorageCall};
use gax_driver::__private::{Clock, Locked};
use std::collections::BTreeMap;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) state: Locked<State>,
    clock: Clock,
    /// A permit for each stall.
    pub(crate) stalls: Semaphore,
    connections: Locked<CancellationToken>,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) objects: Objects,
    /// Uploads by their ids.
    pub(crate) sessions: BTreeMap<String, Session>,
    /// A request that is cut leaves a multiple of so many bytes persisted.
    pub(crate) granularity: u64,
    pub(crate) faults: Faults,
    pub(crate) arrivals: Vec<StorageArrival>,
}

impl Shared {
    pub(crate) fn new() -> Self {
        Self {
            state: Locked::new(State { granularity: CHUNK, ..State::default() }),
            clock: Clock::start(),
            stalls: Semaphore::new(0),
            connections: Locked::default(),
        }
    }

    /// Writes a request down, and arms the faults that can happen to it.
    pub(crate) fn arrive(
        &self,
        head: &http::request::Parts,
        call: StorageCall,
        object: &str,
    ) -> (usize, ArmedFaults) {
        let at = self.clock.elapsed();
        self.state.change(|state| {
            let index = state.arrivals.len();
            state.arrivals.push(StorageArrival {
                index,
                at,
                call,
                method: head.method.clone(),
                target: head.uri.path_and_query().map(ToString::to_string).unwrap_or_default(),
                headers: head.headers.clone(),
                received: 0,
                status: None,
                sent: 0,
                is_whole: false,
            });
            (index, state.faults.arm(call, object))
        })
    }

    /// Notes how far a request has got.
    pub(crate) fn note(&self, index: usize, note: impl FnOnce(&mut StorageArrival)) {
        self.state.change(|state| state.arrivals.get_mut(index).map(note));
    }

    /// Ends with all connections that are open now.
    pub(crate) fn connection(&self) -> CancellationToken {
        self.connections.lock().clone()
    }

    /// Breaks all connections that are open now.
    pub(crate) fn disconnect(&self) {
        let mut connections = self.connections.lock();
        std::mem::take(&mut *connections).cancel();
    }
}

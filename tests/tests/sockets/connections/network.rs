//! A network in memory: hosts at made-up addresses, which serve, refuse, stall or hang up.
#![expect(clippy::panic, reason = "what fails here fails a test, or is to be caught")]

use gax_connection::{Address, AddressList, Connection, ConnectionBuilder};
use gax_testing::{Pipe, Pipes, StorageEmulator};
use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tonic_gax_tests::{RawServer, VirtualClock, VirtualServer};

/// A host. Where there is none, connections are refused.
pub(super) enum Host {
    Serves(Box<dyn Fn() -> io::Result<Pipe<DuplexStream>> + Send>),
    /// It takes connections, and says nothing.
    Stalls,
    /// It says that, and hangs up.
    HangsUp(&'static [u8]),
    Panics,
}

impl From<&Pipes> for Host {
    fn from(pipes: &Pipes) -> Self {
        let pipes = pipes.clone();
        Self::Serves(Box::new(move || pipes.connect().map(hyper_util::rt::TokioIo::into_inner)))
    }
}

impl From<&VirtualServer> for Host {
    fn from(server: &VirtualServer) -> Self {
        Self::from(&server.connector())
    }
}

impl From<&StorageEmulator> for Host {
    fn from(storage: &StorageEmulator) -> Self {
        Self::from(&storage.connector())
    }
}

impl From<&RawServer> for Host {
    fn from(server: &RawServer) -> Self {
        Self::from(&server.connector())
    }
}

#[derive(Clone)]
pub(super) struct Network(Arc<Mutex<State>>);

struct State {
    clock: VirtualClock,
    hosts: HashMap<u8, Host>,
    /// The addresses that were connected to, and when.
    dialed: Vec<(u8, Duration)>,
    held: Vec<DuplexStream>,
}

impl Network {
    pub(super) fn new() -> Self {
        let clock = VirtualClock::start();
        let (hosts, dialed, held) = (HashMap::new(), Vec::new(), Vec::new());
        Self(Arc::new(Mutex::new(State { clock, hosts, dialed, held })))
    }

    pub(super) fn with(self, number: u8, host: impl Into<Host>) -> Self {
        self.set(number, host);
        self
    }

    pub(super) fn set(&self, number: u8, host: impl Into<Host>) {
        self.state().hosts.insert(number, host.into());
    }

    /// From now on it refuses connections.
    pub(super) fn remove(&self, number: u8) {
        self.state().hosts.remove(&number);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A host that panics does so in here.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A connection to these hosts.
    pub(super) fn connection(&self, hosts: &[u8]) -> ConnectionBuilder {
        self.connection_by(&list(hosts))
    }

    /// A connection to the hosts of that list.
    pub(super) fn connection_by(&self, list: &AddressList) -> ConnectionBuilder {
        let network = self.clone();
        Connection::to("http://server").resolver(list.clone()).connector(move |address| {
            let dialed = network.dial(&address);
            async { dialed }
        })
    }

    fn dial(&self, address: &Address) -> io::Result<Pipe<DuplexStream>> {
        let Address::Tcp(SocketAddr::V4(address)) = address else {
            panic!("{address} is not in this network")
        };
        let number = address.ip().octets()[3];
        let mut state = self.state();
        let at = state.clock.elapsed();
        state.dialed.push((number, at));
        match state.hosts.get(&number) {
            None => Err(io::Error::from(io::ErrorKind::ConnectionRefused)),
            Some(Host::Panics) => panic!("this connector panics"),
            Some(Host::Serves(serve)) => serve(),
            Some(Host::Stalls) => {
                let (near, far) = tokio::io::duplex(1 << 16);
                state.held.push(far);
                Ok(Pipe::new(near))
            }
            Some(Host::HangsUp(said)) => {
                let (near, mut far) = tokio::io::duplex(1 << 16);
                let said = *said;
                tokio::spawn(async move {
                    far.read_u8().await.ok();
                    far.write_all(said).await.ok();
                });
                Ok(Pipe::new(near))
            }
        }
    }

    /// When a host was connected to.
    pub(super) fn dialed(&self, number: u8) -> Vec<Duration> {
        let state = self.state();
        state.dialed.iter().filter(|(other, _)| *other == number).map(|(_, at)| *at).collect()
    }
}

pub(super) fn address(number: u8) -> Address {
    Address::from(SocketAddr::from(([10, 0, 0, number], 1)))
}

pub(super) fn list(hosts: &[u8]) -> AddressList {
    AddressList::new(hosts.iter().map(|number| address(*number)))
}

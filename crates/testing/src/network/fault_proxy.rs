//! A proxy with faults, between any client and any server.

use super::acceptor::{Acceptor, Stream};
use super::connection_fault::{ConnectionFault, When};
use super::link::run;
use super::pipes::Pipes;
use gax_driver::__private::Locked;
use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio::sync::{Notify, mpsc};
use tokio::task::{AbortHandle, JoinSet};

/// A proxy that forwards bytes between any client and any server, except if a [`ConnectionFault`] says otherwise. It works over
/// sockets ([`listen`](Self::listen)), and over pipes in virtual time ([`in_memory`](Self::in_memory)).
///
/// Each connection has its own faults: the first that were given by [`next`](Self::next), later those of
/// [`always`](Self::always). Without faults it only forwards and counts. Dropping the proxy closes its connections.
///
/// # Examples
///
/// The server says goodbye after each request, in good order.
///
/// ```
/// use bytes::Bytes;
/// use gax_testing::{ConnectionFault, FaultProxy, Script, VirtualServer, When};
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// let server = VirtualServer::start(Script::new());
/// let (proxy, pipes) = FaultProxy::in_memory(server.connector());
/// proxy.always([ConnectionFault::GoAway { when: When::Requests(1), reason: 0, data: Bytes::new() }]);
/// let channel = pipes.channel();
/// # drop(channel);
/// assert_eq!(proxy.accepted(), 0);
/// # }
/// ```
#[derive(Debug)]
pub struct FaultProxy {
    shared: Arc<Shared>,
    accepting: AbortHandle,
}

#[derive(Debug, Default)]
struct Shared {
    plan: Locked<Plan>,
    /// The plan has changed.
    changed: Notify,
}

#[derive(Debug, Default)]
struct Plan {
    next: VecDeque<Vec<ConnectionFault>>,
    always: Vec<ConnectionFault>,
    accepted: usize,
    open: Vec<mpsc::UnboundedSender<ConnectionFault>>,
}

impl Plan {
    /// Returns whether the next connection is refused.
    fn refuses(&self) -> bool {
        self.next.front().unwrap_or(&self.always).contains(&ConnectionFault::Refuse)
    }
}

/// The server.
#[derive(Clone)]
enum Server {
    Socket(SocketAddr),
    Memory(Pipes),
}

impl Server {
    async fn connect(self) -> io::Result<Box<dyn Stream>> {
        match self {
            Self::Socket(address) => {
                let server = TcpStream::connect(address).await?;
                server.set_nodelay(true)?;
                Ok(Box::new(server))
            }
            Self::Memory(pipes) => Ok(Box::new(pipes.connect()?.into_inner())),
        }
    }
}

impl FaultProxy {
    /// A proxy at a free port of the loopback device, and its address.
    ///
    /// # Errors
    ///
    /// No port can be had.
    #[expect(clippy::unused_async, reason = "it has to be called in a runtime")]
    pub async fn listen(server: SocketAddr) -> io::Result<(Self, SocketAddr)> {
        let (acceptor, address) = Acceptor::on_loopback()?;
        Ok((Self::start(acceptor, Server::Socket(server)), address))
    }

    /// A proxy over pipes to a server over pipes, and what connects to it.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    #[must_use]
    pub fn in_memory(server: Pipes) -> (Self, Pipes) {
        let pipes = Pipes::new();
        (Self::start(Acceptor::of(&pipes), Server::Memory(server)), pipes)
    }

    fn start(acceptor: Acceptor, server: Server) -> Self {
        let shared = Arc::new(Shared::default());
        let accepting = tokio::spawn(accept(Arc::clone(&shared), acceptor, server)).abort_handle();
        Self { shared, accepting }
    }

    /// The faults of one more connection, behind those of earlier calls.
    pub fn next(&self, faults: impl IntoIterator<Item = ConnectionFault>) {
        self.shared.plan.change(|plan| plan.next.push_back(faults.into_iter().collect()));
        self.shared.changed.notify_one();
    }

    /// The faults of all connections that [`next`](Self::next) says nothing about, instead of those before. It also ends
    /// a [refusal](ConnectionFault::Refuse) that `next` has begun.
    pub fn always(&self, faults: impl IntoIterator<Item = ConnectionFault>) {
        self.shared.plan.change(|plan| {
            plan.always = faults.into_iter().collect();
            plan.next.retain(|faults| !faults.contains(&ConnectionFault::Refuse));
        });
        self.shared.changed.notify_one();
    }

    /// Lets a fault happen to all open connections now, whatever its [`When`](super::When). A fault that does not begin at a moment,
    /// such as a delay, is ignored.
    pub fn now(&self, fault: &ConnectionFault) {
        self.shared.plan.change(|plan| plan.open.retain(|connection| connection.send(fault.clone()).is_ok()));
    }

    /// How many connections were accepted.
    #[must_use]
    pub fn accepted(&self) -> usize {
        self.shared.plan.change(|plan| plan.accepted)
    }

    /// How many connections are open.
    #[must_use]
    pub fn open(&self) -> usize {
        self.shared.plan.change(|plan| {
            plan.open.retain(|connection| !connection.is_closed());
            plan.open.len()
        })
    }
}

impl Drop for FaultProxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(shared: Arc<Shared>, mut acceptor: Acceptor, server: Server) {
    let mut connections = JoinSet::new();
    loop {
        if shared.plan.change(|plan| plan.refuses()) {
            acceptor.refuse();
            shared.changed.notified().await;
            continue;
        }
        let client = tokio::select! {
            biased;
            () = shared.changed.notified() => continue,
            accepted = acceptor.accept() => accepted,
        };
        let Ok(Some(client)) = client else {
            // Nobody connects any longer.
            return while connections.join_next().await.is_some() {};
        };
        let (commands, receiver) = mpsc::unbounded_channel();
        let faults = shared.plan.change(|plan| {
            plan.accepted += 1;
            plan.open.push(commands);
            plan.next.pop_front().unwrap_or_else(|| plan.always.clone())
        });
        if faults.contains(&ConnectionFault::Reset(When::Start)) {
            client.resets();
            continue;
        }
        if faults.contains(&ConnectionFault::Close(When::Start)) {
            continue;
        }
        connections.spawn(run(client, server.clone().connect(), faults, receiver));
        while connections.try_join_next().is_some() {}
    }
}

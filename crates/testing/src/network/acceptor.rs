//! Where the connections of a server come from: a socket, or memory.

use super::pipes::{Incoming, Pipes};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio_stream::StreamExt as _;

/// One end of a connection.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {
    /// Closing it will reset it, if there is such a thing.
    fn resets(&self) {}
}

impl Stream for DuplexStream {}
impl Stream for super::Pipe<DuplexStream> {}
impl Stream for TcpStream {
    fn resets(&self) {
        // The kernel then sends RST, where an orderly close would send FIN. Otherwise it is closed.
        self.set_zero_linger().ok();
    }
}

/// Accepts connections, or refuses them.
pub(crate) enum Acceptor {
    Socket(SocketAddr, Option<TcpListener>),
    Memory(Incoming),
}

impl Acceptor {
    /// Listens at an address, whose port is a free one if it is 0; returns it with that port.
    pub(crate) fn listen(address: SocketAddr) -> io::Result<(Self, SocketAddr)> {
        let listener = listen(address)?;
        let address = listener.local_addr()?;
        Ok((Self::Socket(address, Some(listener)), address))
    }

    /// Listens at a free port of the loopback device; returns the address.
    pub(crate) fn on_loopback() -> io::Result<(Self, SocketAddr)> {
        Self::listen((Ipv4Addr::LOCALHOST, 0).into())
    }

    pub(crate) fn of(pipes: &Pipes) -> Self {
        Self::Memory(pipes.accepting())
    }

    /// The next connection, from whoever has not been refused; `None`: nobody connects any longer.
    pub(crate) async fn accept(&mut self) -> io::Result<Option<Box<dyn Stream>>> {
        match self {
            Self::Socket(address, listener) => {
                let listener = match listener {
                    Some(listener) => listener,
                    None => listener.insert(listen(*address)?),
                };
                let (client, _) = listener.accept().await?;
                client.set_nodelay(true)?;
                Ok(Some(Box::new(client)))
            }
            Self::Memory(incoming) => {
                incoming.refuse(false);
                let made = incoming.next().await.transpose()?;
                Ok(made.map(|client| Box::new(client) as Box<dyn Stream>))
            }
        }
    }

    /// Serves each connection in a task of its own, until nobody connects any longer.
    pub(crate) async fn each<F: Future<Output = ()> + Send + 'static>(
        mut self,
        mut serve: impl FnMut(Box<dyn Stream>) -> F,
    ) {
        while let Ok(Some(io)) = self.accept().await {
            tokio::spawn(serve(io));
        }
    }

    /// Refuses all connections until the next is accepted.
    pub(crate) fn refuse(&mut self) {
        match self {
            Self::Socket(_, listener) => *listener = None,
            Self::Memory(incoming) => incoming.refuse(true),
        }
    }
}

/// Listens, also where connections were just refused.
fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // Elsewhere it would share a port that is taken.
    if cfg!(unix) {
        socket.set_reuseaddr(true)?;
    }
    socket.bind(address)?;
    socket.listen(1024)
}

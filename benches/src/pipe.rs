//! A server at the other end of a pipe in this process: the same instructions in every run, its own included.

use crate::loopback::echo_server;
use gax_connection::{Address, AddressList, Connection};
use hyper_util::rt::TokioIo;
use std::io;
use std::net::SocketAddr;
use tokio::io::DuplexStream;
use tonic::transport::{Channel, Endpoint, Server};

/// tonic's channel to a server of its own. It needs the runtime that calls it.
#[must_use]
pub fn channel() -> Channel {
    let connect = |_: http::Uri| std::future::ready(Ok::<_, io::Error>(TokioIo::new(pipe())));
    Endpoint::from_static("http://echo").connect_with_connector_lazy(tower::service_fn(connect))
}

/// A [`Connection`] to a server of its own. It needs the runtime that calls it.
///
/// # Panics
///
/// Never: its target is valid.
#[must_use]
pub fn connection() -> Connection {
    let address = Address::from(SocketAddr::from(([10, 0, 0, 1], 1)));
    let connection = Connection::to("http://echo").resolver(AddressList::new([address]));
    let connection = connection.connector(|_| std::future::ready(Ok(pipe())));
    connection.connect_lazy().expect("the target is valid")
}

/// The client's end.
fn pipe() -> DuplexStream {
    let (client, server) = tokio::io::duplex(1 << 16);
    let serving = Server::builder().add_service(echo_server());
    tokio::spawn(serving.serve_with_incoming(tokio_stream::once(Ok::<_, io::Error>(server))));
    client
}

//! Three servers behind one connection: one fails, one sends a `GOAWAY`, and no call fails.
//!
//! ```text
//! cargo run --example balanced
//! ```

mod library;

use gax_connection::{Address, AddressList, Connection, Picker};
use gax_driver::observe::{ConnectionChange, ConnectionEvent, OperationObserver};
use library::v1::{GetBookRequest, LibraryServiceClient};
use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tonic_gax::{CallOptions, OperationReport, RequestExt as _};

/// A server with its own threads, so that it can stop with all its connections.
struct Library {
    address: SocketAddr,
    runtime: Runtime,
    goodbye: oneshot::Sender<()>,
}

impl Library {
    fn start() -> Result<Self, Box<dyn Error>> {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))?;
        let address = listener.local_addr()?;
        let (goodbye, said) = oneshot::channel();
        let server = Server::builder().add_service(library::Library::refusing(0));
        runtime.spawn(server.serve_with_incoming_shutdown(TcpIncoming::from(listener), async {
            said.await.ok();
        }));
        Ok(Self { address, runtime, goodbye })
    }
}

/// Prints what happens to connections.
struct Printed;

impl OperationObserver for Printed {
    fn connection_event(&self, event: &ConnectionEvent<'_>) {
        if !matches!(event.change(), ConnectionChange::Connecting) {
            println!("  {event}");
        }
    }
}

/// Makes this number of calls, and returns the servers that the attempts went to.
async fn call(client: &LibraryServiceClient<Connection>, calls: usize) -> Result<(), tonic::Status> {
    for _ in 0..calls {
        let book = GetBookRequest { name: "shelves/1/books/1".to_owned() };
        let request = tonic::Request::new(book).with_call_options(CallOptions::new().report(true));
        let response = client.get_book(request).await?;
        if let Some(report) = OperationReport::of(response.extensions()) {
            let peers = (1..=report.attempt_count()).filter_map(|attempt| report.peer(attempt));
            println!("{}", peers.collect::<Vec<_>>().join(", then "));
        }
    }
    Ok(())
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let servers = [Library::start()?, Library::start()?, Library::start()?];
    // In production: `Connection::to("dns:///library:50051")`.
    let addresses = AddressList::new(servers.iter().map(|server| Address::from(server.address)));
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let [dying, leaving, staying] = servers;
    runtime.block_on(async {
        let connection = Connection::to("http://library")
            .resolver(addresses)
            .picker(Picker::RoundRobin)
            .observer(Arc::new(Printed))
            .connect()
            .await?;
        let client = LibraryServiceClient::new(connection);
        call(&client, 6).await?;

        println!("{} dies", dying.address);
        dying.runtime.shutdown_background();
        call(&client, 6).await?;

        println!("{} says goodbye", leaving.address);
        leaving.goodbye.send(()).ok();
        call(&client, 6).await?;
        Ok::<(), Box<dyn Error>>(())
    })?;
    leaving.runtime.shutdown_background();
    staying.runtime.shutdown_background();
    Ok(())
}

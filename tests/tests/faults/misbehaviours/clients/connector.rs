//! How clients connect to the server of a trial.

use crate::faults::misbehaviours::clients::settings::{CONNECT, PING};
use gax_connection::{Address, AddressList, Connection, ConnectionBuilder};
use gax_driver::observe::OperationObserver;
use gax_testing::Pipes;
use hyper_util::client::legacy::Client as Hyper;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use std::future::{Future, pending};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::sleep;
use tonic::transport::Endpoint;
use tonic_gax::OperationOptions;
use tower_service::Service;

#[derive(Clone)]
pub(crate) struct Observer(Arc<dyn OperationObserver>);

impl std::fmt::Debug for Observer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Observer")
    }
}

/// Connects to a server, except while that leads nowhere.
#[derive(Debug, Clone)]
pub(crate) struct Connector {
    pipes: Pipes,
    pub(crate) leads_nowhere: Arc<AtomicBool>,
    /// For clients that leave it to their connector.
    connect_timeout: Option<Duration>,
    observer: Option<Observer>,
}

impl Connector {
    pub(crate) fn new(pipes: Pipes) -> Self {
        Self { pipes, leads_nowhere: Arc::default(), connect_timeout: None, observer: None }
    }

    /// Clients notify that observer.
    pub(crate) fn observed(self, observer: Arc<dyn OperationObserver>) -> Self {
        Self { observer: Some(Observer(observer)), ..self }
    }

    /// Delays are the same each time.
    pub(crate) fn options(&self) -> OperationOptions {
        let observer = self.observer.iter().map(|observer| Arc::clone(&observer.0));
        observer.fold(OperationOptions::new().jitter_seed(1), OperationOptions::observer)
    }

    pub(crate) fn channel(&self, is_plain: bool) -> tonic::transport::Channel {
        let mut endpoint = Endpoint::from_static("http://server.test");
        if !is_plain {
            endpoint =
                endpoint.http2_keep_alive_interval(PING).keep_alive_timeout(CONNECT).connect_timeout(CONNECT);
        }
        endpoint.connect_with_connector_lazy(self.clone())
    }

    pub(crate) fn connection(&self) -> Connection {
        let connector = self.clone();
        let connection = Connection::to("http://server.test").connector(move |_: Address| {
            let connecting = connector.clone().call(http::Uri::default());
            async { connecting.await.map(hyper_util::rt::TokioIo::into_inner) }
        });
        let there = AddressList::new([Address::from(SocketAddr::from(([10, 0, 0, 1], 1)))]);
        let connection = connection.resolver(there).connect_timeout(CONNECT);
        let observer = self.observer.iter().map(|observer| Arc::clone(&observer.0));
        observer.fold(connection, ConnectionBuilder::observer).connect_lazy().unwrap()
    }

    pub(crate) fn hyper<B>(&self, is_http2: bool) -> Hyper<Self, B>
    where
        B: http_body::Body + Send,
        B::Data: Send,
    {
        let this = Self { connect_timeout: Some(CONNECT), ..self.clone() };
        let mut builder = Hyper::builder(TokioExecutor::new());
        if is_http2 {
            builder.http2_only(true).timer(TokioTimer::new());
            builder.http2_keep_alive_interval(PING).http2_keep_alive_timeout(CONNECT);
        }
        builder.build(this)
    }
}

pub(crate) type Connected = <Pipes as Service<http::Uri>>::Response;

impl Service<http::Uri> for Connector {
    type Response = Connected;
    type Error = std::io::Error;
    type Future = Pin<Box<dyn Future<Output = std::io::Result<Connected>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: http::Uri) -> Self::Future {
        let this = self.clone();
        Box::pin(async move {
            if this.leads_nowhere.load(Ordering::Relaxed) {
                match this.connect_timeout {
                    Some(timeout) => sleep(timeout).await,
                    None => pending().await,
                }
                return Err(std::io::ErrorKind::TimedOut.into());
            }
            this.pipes.connect()
        })
    }
}

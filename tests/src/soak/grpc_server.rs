//! A gRPC server that misbehaves.

use super::faults::{Fault, Faults};
use crate::Talker;
use crate::generated::test::talk::v1::talk_server::TalkServer;
use std::convert::Infallible;
use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::runtime::Runtime;
use tonic::Status;
use tonic::body::Body;
use tonic::metadata::MetadataValue;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tower_layer::layer_fn;
use tower_service::Service;

/// A server of Talk with a runtime of its own, so that its tasks are not the clients'.
#[derive(Debug)]
pub(super) struct GrpcServer {
    runtime: Option<Runtime>,
    pub(super) address: SocketAddr,
    faults: Faults,
    pub(super) arrived: Arc<AtomicU64>,
}

impl GrpcServer {
    pub(super) fn start(seed: u64) -> Self {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let mut server = Self { runtime: None, address, faults: Faults::new(seed), arrived: Arc::default() };
        server.listen();
        server
    }

    fn listen(&mut self) {
        let builder = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = builder.unwrap();
        let incoming = {
            let _context = runtime.enter();
            TcpIncoming::bind(self.address).unwrap().with_nodelay(Some(true))
        };
        self.address = incoming.local_addr().unwrap();
        let (faults, arrived) = (self.faults.clone(), Arc::clone(&self.arrived));
        let layer =
            layer_fn(move |inner| Faulty { inner, faults: faults.clone(), arrived: Arc::clone(&arrived) });
        runtime.spawn(async move {
            let mut server = Server::builder().layer(layer);
            server.add_service(TalkServer::new(Talker)).serve_with_incoming(incoming).await.unwrap();
        });
        self.runtime = Some(runtime);
    }

    /// Closes every socket at once, and listens again at the same address.
    pub(super) fn restart(&mut self) {
        self.stop();
        self.listen();
    }

    fn stop(&mut self) {
        const PATIENCE: Duration = Duration::from_secs(30);
        if let Some(runtime) = self.runtime.take() {
            std::thread::spawn(move || runtime.shutdown_timeout(PATIENCE)).join().unwrap();
        }
    }
}

impl Drop for GrpcServer {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A service that misbehaves.
#[derive(Debug, Clone)]
struct Faulty<S> {
    inner: S,
    faults: Faults,
    arrived: Arc<AtomicU64>,
}

impl<S> Service<http::Request<Body>> for Faulty<S>
where
    S: Service<http::Request<Body>, Response = http::Response<Body>, Error = Infallible>,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        self.arrived.fetch_add(1, Ordering::Relaxed);
        let status = match self.faults.next() {
            Fault::None => return Box::pin(self.inner.call(request)),
            Fault::Slow(time) => {
                let served = self.inner.call(request);
                return Box::pin(async move {
                    tokio::time::sleep(time).await;
                    served.await
                });
            }
            Fault::Silent => return Box::pin(std::future::pending()),
            Fault::Foreign => {
                let page = http::Response::builder().status(503).header("content-type", "text/html");
                return Box::pin(std::future::ready(Ok(page.body(Body::empty()).unwrap())));
            }
            Fault::Refused => Status::unavailable("refused"),
            Fault::RefusedUntil(wait) => {
                let mut status = Status::unavailable("refused");
                let wait = wait.map_or_else(|| "-1".to_owned(), |wait| wait.as_millis().to_string());
                status
                    .metadata_mut()
                    .insert("grpc-retry-pushback-ms", MetadataValue::try_from(wait).unwrap());
                status
            }
            Fault::Broken => Status::internal("broken"),
        };
        Box::pin(std::future::ready(Ok(status.into_http())))
    }
}

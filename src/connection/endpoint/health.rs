//! Health checks of endpoints, by `grpc.health.v1`.

use crate::connection::endpoint::live::Live;
use crate::connection::settings::PoolSettings;
use http::{Request, Response};
use hyper::body::Incoming;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tonic::body::Body;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::{Code, Status, Streaming};
use tonic_prost::ProstCodec;
use tower_service::Service;

/// The request of `grpc.health.v1.Health/Watch`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct HealthCheckRequest {
    #[prost(string, tag = "1")]
    service: String,
}

/// One of its responses.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct HealthCheckResponse {
    #[prost(int32, tag = "1")]
    status: i32,
}

/// The service is up.
const SERVING: i32 = 1;

/// One connection, whatever the pool thinks of it.
struct OneConnection {
    live: Arc<Live>,
    settings: Arc<PoolSettings>,
}

impl Service<Request<Body>> for OneConnection {
    type Response = Response<Incoming>;
    type Error = hyper::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Incoming>, hyper::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), hyper::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        self.settings.address(&mut request);
        let sending = self.live.sender().send_request(request);
        Box::pin(sending)
    }
}

/// Watches the health of a service over a connection. It ends well with a server that doesn't know the method: that is taken for
/// healthy, as by gRPC's own clients.
pub(super) async fn watch(
    live: &Arc<Live>,
    settings: &Arc<PoolSettings>,
    service: &str,
    set_healthy: impl Fn(bool),
) -> Result<(), Status> {
    let connection = OneConnection { live: Arc::clone(live), settings: Arc::clone(settings) };
    let request = tonic::Request::new(HealthCheckRequest { service: service.to_owned() });
    let path = PathAndQuery::from_static("/grpc.health.v1.Health/Watch");
    let codec = ProstCodec::<HealthCheckRequest, HealthCheckResponse>::default();
    let watching = Grpc::new(connection).server_streaming(request, path, codec).await;
    let mut statuses: Streaming<HealthCheckResponse> = match watching {
        Err(status) if status.code() == Code::Unimplemented => {
            set_healthy(true);
            return Ok(());
        }
        watching => watching?.into_inner(),
    };
    while let Some(response) = statuses.message().await? {
        set_healthy(response.status == SERVING);
    }
    Err(Status::unavailable("the health check has ended"))
}

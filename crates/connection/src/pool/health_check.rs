//! Health checks of endpoints, by `grpc.health.v1`.

use crate::endpoint::{Health, HealthState as State, InFlight, PooledConnection};
use crate::pool::pool::Pool;
use crate::settings::{PoolSettings, Waits};
use crate::wait::{Either, either, moment_of};
use gax_driver::__private::Clock;
use gax_driver::credentials::CredentialsService;
use gax_retry::ThreadJitter;
use http::{Request, Response};
use hyper::body::Incoming;
use std::future::{Future, pending};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tonic::body::Body;
use tonic::client::{Grpc, GrpcService};
use tonic::codegen::StdError;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::{Code, Status, Streaming};
use tonic_prost::ProstCodec;
use tower_service::Service;

/// For how long calls wait for the first response of a health check that replaces one that ended.
const HOLD: Duration = Duration::from_secs(1);
/// How soon a health check that had a response may follow the previous one.
const PAUSE: Duration = Duration::from_millis(100);

/// The request of `grpc.health.v1.Health/Watch`.
#[derive(Clone, PartialEq, prost::Message)]
struct HealthCheckRequest {
    #[prost(string, tag = "1")]
    service: String,
}

/// One of its responses.
#[derive(Clone, PartialEq, prost::Message)]
struct HealthCheckResponse {
    #[prost(int32, tag = "1")]
    status: i32,
}

/// The service is up.
const SERVING: i32 = 1;

/// One connection, whatever the pool thinks of it. The check takes a stream as calls do.
#[derive(Clone)]
struct OneConnection {
    connection: Arc<PooledConnection>,
    settings: Arc<PoolSettings>,
}

impl Service<Request<Body>> for OneConnection {
    type Response = Response<Incoming>;
    type Error = StdError;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Incoming>, StdError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), StdError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let admitted = self.settings.admit(request);
        let sending = admitted.map(|request| self.connection.sender().send_request(request));
        Box::pin(async { Ok(sending?.await?) })
    }
}

async fn ask<S>(connection: S, service: &str) -> Result<Streaming<HealthCheckResponse>, Status>
where
    S: GrpcService<Body, ResponseBody = Incoming>,
{
    let request = tonic::Request::new(HealthCheckRequest { service: service.to_owned() });
    let path = PathAndQuery::from_static("/grpc.health.v1.Health/Watch");
    let codec = ProstCodec::<HealthCheckRequest, HealthCheckResponse>::default();
    Ok(Grpc::new(connection).server_streaming(request, path, codec).await?.into_inner())
}

/// Watches the health of a service over a connection. It ends well with a server that doesn't know the method: that is taken for
/// healthy, as by gRPC's own clients.
async fn watch(
    connection: &Arc<PooledConnection>,
    settings: &Arc<PoolSettings>,
    service: &str,
    hear: impl Fn(i32),
) -> Result<(), Status> {
    let _stream = InFlight::new(Arc::clone(connection), false);
    let connection = OneConnection { connection: Arc::clone(connection), settings: Arc::clone(settings) };
    let watching = match &settings.chosen.health_credentials {
        Some(credentials) => ask(CredentialsService::new(connection, credentials.clone()), service).await,
        None => ask(connection, service).await,
    };
    let mut statuses = match watching {
        Err(status) if status.code() == Code::Unimplemented => {
            hear(SERVING);
            return Ok(());
        }
        watching => watching?,
    };
    while let Some(response) = statuses.message().await? {
        hear(response.status);
    }
    Err(Status::unavailable("the server ended it"))
}

/// Has an endpoint take calls while its server says that the service is up, if anybody wants to know. Of its connections one asks.
pub(super) async fn check(pool: &Pool, connection: &Arc<PooledConnection>) {
    let (settings, health) = (pool.settings(), &connection.subchannel().health);
    let Some(service) = &settings.chosen.health else { return pending().await };
    let _asking = health.asking.lock().await;
    let _unknown = Unknown(health);
    let mut waits = Waits::new(settings.chosen.backoff);
    let mut hold = None;
    loop {
        let (clock, had_response) = (Clock::start(), AtomicBool::new(false));
        let watching = watch(connection, settings, service, |status| {
            had_response.store(true, Ordering::Relaxed);
            let down = "the server says that the service is not up";
            health.set(if status == SERVING { State::Good } else { State::bad(down) });
            pool.settle();
        });
        let holding = async {
            moment_of(hold).await;
            if health.is_unknown() {
                health.set(State::bad("the health check has no reply"));
                pool.settle();
            }
            pending::<()>().await;
        };
        let wait = match either(watching, holding).await {
            Either::One(Ok(())) | Either::Other(()) => return pending().await,
            Either::One(Err(_)) if had_response.load(Ordering::Relaxed) => {
                // A proxy may have ended it, and knows nothing about the service: calls wait for a moment.
                waits.reset();
                health.forget_good();
                hold = Clock::start().at(HOLD);
                PAUSE
            }
            Either::One(Err(status)) => {
                health.set(State::bad(format!("the health check failed: {status}")));
                pool.settle();
                waits.draw(&mut ThreadJitter)
            }
        };
        moment_of(clock.at(wait)).await;
    }
}

/// Nobody asks any longer: the next connection does.
struct Unknown<'a>(&'a Health);

impl Drop for Unknown<'_> {
    fn drop(&mut self) {
        self.0.set(State::Unknown);
    }
}

//! Real sockets and a real clock: a server that refuses, is killed, restarts and says goodbye.
//!
//! Nothing here asserts a time. What is asserted is that every call ends as it should, and that the server
//! saw no more of it than the report admits.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tonic::transport::{Channel, Endpoint, Server};
use tonic::{Request, Response, Status};
use tonic_gax::{Code, OperationError, OperationOptions, OperationReport, RetrySettings, StopReason};
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_server::{
    AssetService, AssetServiceServer,
};
use tonic_gax_tests::generated::google::cloud::asset::v1::{
    AssetServiceClient, AssetServiceSettings, AssetServiceStubSettings, ListAssetsRequest, ListAssetsResponse,
};
use tonic_gax_tests::{SocketServer, codes};

/// How often a server saw a call, and how often it carried it out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Count {
    seen: u32,
    done: u32,
}

/// A server's state, which outlives its runtime.
#[derive(Debug, Clone, Default)]
struct Assets {
    counts: Arc<Mutex<HashMap<String, Count>>>,
    out_of_order: Arc<AtomicBool>,
    /// Where set, a call notifies that it has come, and then hangs.
    hang: Arc<Mutex<Option<Arc<Notify>>>>,
    /// Notified whenever a call comes that was not seen before.
    new_call: Arc<Notify>,
    /// How long a call takes.
    pace: Duration,
}

impl Assets {
    fn count(&self, parent: &str) -> Count {
        self.counts.lock().unwrap().get(parent).copied().unwrap_or_default()
    }

    /// Waits for so many different calls.
    async fn have_seen(&self, calls: usize) {
        while self.counts.lock().unwrap().len() < calls {
            self.new_call.notified().await;
        }
    }
}

#[tonic::async_trait]
impl AssetService for Assets {
    async fn list_assets(
        &self,
        request: Request<ListAssetsRequest>,
    ) -> Result<Response<ListAssetsResponse>, Status> {
        let parent = request.into_inner().parent;
        let seen = {
            let mut counts = self.counts.lock().unwrap();
            let count = counts.entry(parent.clone()).or_default();
            count.seen += 1;
            count.seen
        };
        if seen == 1 {
            self.new_call.notify_one();
        }
        let hang = self.hang.lock().unwrap().clone();
        if let Some(arrived) = hang {
            arrived.notify_one();
            std::future::pending::<()>().await;
        }
        if !self.pace.is_zero() {
            tokio::time::sleep(self.pace).await;
        }
        if self.out_of_order.load(Ordering::Relaxed) {
            return Err(Status::unavailable("out of order"));
        }
        self.counts.lock().unwrap().entry(parent.clone()).or_default().done += 1;
        Ok(Response::new(ListAssetsResponse { next_page_token: parent, ..Default::default() }))
    }
}

/// A server of these assets.
fn serve(address: SocketAddr, assets: &Assets) -> SocketServer {
    serve_with(address, assets, Server::builder())
}

fn serve_with(address: SocketAddr, assets: &Assets, mut server: Server) -> SocketServer {
    SocketServer::grpc(address, server.add_service(AssetServiceServer::new(assets.clone())))
}

fn channel(address: SocketAddr) -> Channel {
    Endpoint::try_from(format!("http://{address}")).unwrap().connect_lazy()
}

/// So many calls at the same time, each under a name of its own.
fn calls(
    client: &AssetServiceClient<Channel>,
    count: usize,
) -> JoinSet<(String, Result<Response<ListAssetsResponse>, Status>)> {
    let call = |number| {
        let client = client.clone();
        async move {
            let parent = format!("operation {number}");
            (parent.clone(), client.list_assets(named(parent)).await)
        }
    };
    (0..count).map(call).collect()
}

fn client(address: SocketAddr, settings: RetrySettings) -> AssetServiceClient<Channel> {
    let mut stub = AssetServiceStubSettings::builder();
    stub.list_assets().set_retry_settings(settings).set_retryable_codes([Code::Unavailable]);
    let settings = AssetServiceSettings::create(stub.build().unwrap())
        .with_options(OperationOptions::new().reports(true));
    AssetServiceClient::with_settings(channel(address), settings)
}

fn patient() -> RetrySettings {
    RetrySettings::builder()
        .initial_retry_delay(Duration::from_millis(20))
        .retry_delay_multiplier(1.5)
        .max_retry_delay(Duration::from_millis(500))
        .initial_rpc_timeout(Duration::from_secs(200))
        .total_timeout(Duration::from_secs(400))
        .build()
        .unwrap()
}

fn named(parent: impl Into<String>) -> ListAssetsRequest {
    ListAssetsRequest { parent: parent.into(), ..Default::default() }
}

fn report(response: &Response<ListAssetsResponse>) -> &OperationReport {
    response.extensions().get().expect("the client reports")
}

#[tokio::test]
async fn a_refused_connection_is_unavailable_and_retried_until_a_server_is_there() {
    let assets = Assets::default();
    let server = serve(SocketServer::ANY_PORT, &assets);
    let address = server.address();
    server.kill();

    let few = patient().to_builder().max_attempts(3).build().unwrap();
    let status = client(address, few).list_assets(named("nobody")).await.unwrap_err();
    assert_eq!(status.code(), tonic::Code::Unavailable);
    let error = OperationError::of(&status).unwrap();
    assert_eq!(codes(error.report()), [Code::Unavailable; 3]);
    assert_eq!(error.stop_reason(), Some(StopReason::MaxAttempts));
    assert_eq!(error.report().transparent_retries(), 0);

    // A server that comes up while the call is on its way.
    let waiting = client(address, patient());
    let call = tokio::spawn(async move { waiting.list_assets(named("late")).await });
    tokio::task::yield_now().await;
    let server = serve(address, &assets);
    let response = call.await.unwrap().unwrap();
    assert_eq!(response.get_ref().next_page_token, "late");
    assert_eq!(codes(report(&response)).last(), Some(&Code::Ok));
    assert_eq!(assets.count("late"), Count { seen: 1, done: 1 });
    drop(server);
}

#[tokio::test]
async fn a_call_survives_a_server_that_is_killed_in_the_middle_of_it() {
    let assets = Assets::default();
    let arrived = Arc::new(Notify::new());
    *assets.hang.lock().unwrap() = Some(Arc::clone(&arrived));
    let server = serve(SocketServer::ANY_PORT, &assets);
    let address = server.address();

    let caller = client(address, patient());
    let call = tokio::spawn(async move { caller.list_assets(named("survivor")).await });
    arrived.notified().await;
    server.kill();
    *assets.hang.lock().unwrap() = None;
    let server = serve(address, &assets);

    let response = call.await.unwrap().unwrap();
    let report = report(&response);
    assert_eq!(codes(report).first(), Some(&Code::Unavailable), "{report}");
    assert_eq!(codes(report).last(), Some(&Code::Ok));
    assert_eq!(assets.count("survivor"), Count { seen: 2, done: 1 });
    drop(server);
}

#[tokio::test]
async fn a_server_that_restarts_between_calls_is_found_again() {
    let assets = Assets::default();
    let mut server = serve(SocketServer::ANY_PORT, &assets);
    let address = server.address();
    let client = client(address, patient());
    for round in 0..5 {
        let response = client.list_assets(named(format!("round {round}"))).await.unwrap();
        assert_eq!(codes(report(&response)).last(), Some(&Code::Ok));
        server.kill();
        server = serve(address, &assets);
    }
    for round in 0..5 {
        assert_eq!(assets.count(&format!("round {round}")).done, 1);
    }
}

#[tokio::test]
async fn a_goaway_never_reaches_the_caller() {
    let assets = Assets::default();
    let server = Server::builder()
        .max_connection_age(Duration::from_millis(20))
        .max_connection_age_grace(Duration::from_secs(5));
    let server = serve_with(SocketServer::ANY_PORT, &assets, server);
    let client = client(server.address(), patient());
    let mut calls = JoinSet::new();
    for worker in 0..8 {
        let client = client.clone();
        calls.spawn(async move {
            for round in 0..250 {
                let parent = format!("{worker}/{round}");
                client.list_assets(named(parent.as_str())).await.map_err(|status| (parent, status))?;
            }
            Ok::<(), (String, Status)>(())
        });
    }
    while let Some(result) = calls.join_next().await {
        result.unwrap().unwrap();
    }
    let counts = assets.counts.lock().unwrap();
    assert_eq!(counts.len(), 8 * 250);
    assert!(counts.values().all(|count| count.done == 1));
}

/// Once it has seen every call, the server goes on saying UNAVAILABLE for a second; for another it is gone, with
/// every connection.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_operations_ride_out_an_outage_of_two_seconds() {
    const OPERATIONS: usize = 10_000;
    let assets = Assets::default();
    assets.out_of_order.store(true, Ordering::Relaxed);
    let server = serve(SocketServer::ANY_PORT, &assets);
    let address = server.address();
    let client = client(address, patient());

    let mut calls = calls(&client, OPERATIONS);
    let outage = tokio::spawn({
        let assets = assets.clone();
        async move {
            assets.have_seen(OPERATIONS).await;
            tokio::time::sleep(Duration::from_secs(1)).await;
            server.kill();
            tokio::time::sleep(Duration::from_secs(1)).await;
            assets.out_of_order.store(false, Ordering::Relaxed);
            serve(address, &assets)
        }
    });

    let mut finished = 0;
    let mut retried = 0;
    while let Some(call) = calls.join_next().await {
        let (parent, result) = call.unwrap();
        let response = result.unwrap_or_else(|status| panic!("{parent}: {status:?}"));
        assert_eq!(response.get_ref().next_page_token, parent);
        let report = report(&response);
        let Count { seen, done } = assets.count(&parent);
        assert_eq!(done, 1, "{parent} was carried out {done} times:\n{report}");
        let sent = report.attempts().len() + usize::try_from(report.transparent_retries()).unwrap();
        assert!(usize::try_from(seen).unwrap() <= sent, "{parent} was seen {seen} times:\n{report}");
        assert!(codes(report).iter().rev().skip(1).all(|code| *code == Code::Unavailable), "{report}");
        finished += 1;
        retried += usize::from(report.attempts().len() > 1);
    }
    assert_eq!(finished, OPERATIONS);
    assert_eq!(retried, OPERATIONS, "every call met the outage");
    drop(outage.await.unwrap());
}

/// Most of the calls wait for a free stream whenever the server goes away, killed or with a goodbye.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_thousand_operations_at_a_limit_of_streams_outlive_three_restarts() {
    const OPERATIONS: usize = 2_000;
    let assets = Assets { pace: Duration::from_millis(2), ..Assets::default() };
    let limited = || Server::builder().max_concurrent_streams(100);
    let mut server = serve_with(SocketServer::ANY_PORT, &assets, limited());
    let address = server.address();
    let client = client(address, patient());

    let mut calls = calls(&client, OPERATIONS);
    for restart in 1..=3 {
        assets.have_seen(restart * OPERATIONS / 4).await;
        if restart == 2 {
            server.leave().await;
        } else {
            server.kill();
        }
        server = serve_with(address, &assets, limited());
    }
    while let Some(call) = calls.join_next().await {
        let (parent, result) = call.unwrap();
        let response = result.unwrap_or_else(|status| panic!("{parent}: {status:?}"));
        let report = report(&response);
        let sent = report.attempts().len() + usize::try_from(report.transparent_retries()).unwrap();
        let seen = usize::try_from(assets.count(&parent).seen).unwrap();
        assert!((1..=sent).contains(&seen), "{parent} was seen {seen} times:\n{report}");
        assert!(codes(report).iter().rev().skip(1).all(|code| *code == Code::Unavailable), "{report}");
    }
    drop(server);
}

/// A balancer without backends: it takes every connection and closes it.
#[tokio::test]
async fn a_listener_that_only_closes_costs_four_connections_an_attempt() {
    let listener = tokio::net::TcpListener::bind(SocketServer::ANY_PORT).await.unwrap();
    let address = listener.local_addr().unwrap();
    let taken = Arc::new(AtomicUsize::new(0));
    let counting = Arc::clone(&taken);
    let listening = tokio::spawn(async move {
        loop {
            drop(listener.accept().await);
            counting.fetch_add(1, Ordering::Relaxed);
        }
    });
    let few = patient().to_builder().max_attempts(4).build().unwrap();
    let status = client(address, few).list_assets(named("nobody")).await.unwrap_err();
    assert_eq!(status.code(), tonic::Code::Unavailable);
    let report = OperationError::of(&status).unwrap().report();
    assert_eq!(codes(report), [Code::Unavailable; 4]);
    assert!(report.transparent_retries() <= 3 * 4, "{report}");
    // A connection may be made ahead, once the last request has been lost.
    assert!(taken.load(Ordering::Relaxed) <= 4 * 4 + 1, "{report}");
    listening.abort();
}

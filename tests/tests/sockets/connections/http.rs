//! HTTP requests over connections of our own, for clients that speak HTTP/2, in virtual time.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use super::network::{Host, Network};
use bytes::Bytes;
use gax_connection::{Connection, Picker};
use gax_driver::observe::{Event, OperationInfo, OperationObserver, Peer};
use gax_http::{HttpError, HttpRetryLayer, HttpRetryService, OperationOptions, ReplayBody, presets};
use gax_testing::{StorageCall, StorageEmulator, StorageFault};
use gax_transfer::Download;
use std::sync::{Arc, Mutex};
use tonic_gax::{Code, Note, OperationReport, RetrySettings, StartedAttempt};
use tonic_gax_tests::{Break, Reply, Script, VirtualServer, codes, ms};
use tower::buffer::Buffer;
use tower::util::BoxCloneService;
use tower::{BoxError, Service, ServiceExt as _};

type Request = http::Request<ReplayBody>;
type Response = http::Response<tonic::body::Body>;

fn client(connection: Connection) -> HttpRetryService<Connection> {
    layer().layer(connection)
}

/// Services over it that hide its future: one that sends requests from a task of its own, and one that makes others of them.
fn around(connection: &Connection) -> [BoxCloneService<Request, Response, BoxError>; 2] {
    let mapped = connection.clone().map_request(|request: Request| request).map_err(BoxError::from);
    [BoxCloneService::new(Buffer::new(connection.clone(), 8)), BoxCloneService::new(mapped)]
}

fn layer() -> HttpRetryLayer {
    let settings = RetrySettings::builder()
        .initial_retry_delay(ms(10))
        .initial_rpc_timeout(ms(1000))
        .total_timeout(ms(60_000));
    HttpRetryLayer::new(&settings.build().unwrap(), [Code::Unavailable, Code::DeadlineExceeded])
        .options(OperationOptions::new().reports(true))
}

async fn get<S>(client: &HttpRetryService<S>) -> Result<OperationReport, HttpError>
where
    S: Service<Request, Response = Response, Error: Into<BoxError>> + Clone,
{
    let request = http::Request::get("http://elsewhere/test").body(()).unwrap();
    let response = client.send(request).await?;
    assert_eq!(response.status(), 200);
    Ok(response.extensions().get::<OperationReport>().unwrap().clone())
}

fn good() -> VirtualServer {
    VirtualServer::start(Script::always(Reply::Serve))
}

#[tokio::test(start_paused = true)]
async fn requests_go_to_the_target_whatever_they_name() {
    let server = good();
    let connection = Network::new().with(1, &server).connection(&[1]).connect().await.unwrap();
    let report = get(&client(connection)).await.unwrap();
    assert_eq!(report.peer(1), Some("10.0.0.1:1"), "{report}");
    assert_eq!(server.arrivals()[0].path, "/test");
}

/// A proxy that goes silent costs a request two attempts, and later ones none.
#[tokio::test(start_paused = true)]
async fn a_silent_connection_costs_two_attempts() {
    async fn costs_two_attempts<S>(over: impl FnOnce(&Connection) -> S)
    where
        S: Service<Request, Response = Response, Error: Into<BoxError>> + Clone,
    {
        let network = Network::new();
        let silent = VirtualServer::start(Script::of([Reply::Serve]).then_always(ms(0), Reply::Hang));
        network.set(1, &silent);
        let client = layer().layer(over(&network.connection(&[1]).connect().await.unwrap()));
        get(&client).await.unwrap();
        let server = good();
        network.set(1, &server);
        let report = get(&client).await.unwrap();
        assert_eq!(codes(&report), [Code::DeadlineExceeded, Code::DeadlineExceeded, Code::Ok], "{report}");
        assert!(report.notes().contains(&Note::CONNECTION_GIVEN_UP), "{report}");
        assert_eq!([1, 2, 3].map(|attempt| report.peer(attempt)), [Some("10.0.0.1:1"); 3], "{report}");
        for _ in 0..20 {
            assert_eq!(codes(&get(&client).await.unwrap()), [Code::Ok]);
        }
        assert_eq!(network.dialed(1).len(), 2);
    }
    costs_two_attempts(Connection::clone).await;
    for number in 0..2 {
        costs_two_attempts(|connection| around(connection)[number].clone()).await;
    }
}

#[tokio::test(start_paused = true)]
async fn services_in_between_hide_no_endpoint() {
    let (good, bad) = (good(), VirtualServer::start(Script::always(Reply::http(503, &[]))));
    let network = Network::new().with(1, &good).with(2, &bad);
    let connection = network.connection(&[1, 2]).picker(Picker::RoundRobin).connect().await.unwrap();
    tokio::time::sleep(ms(10)).await;
    for service in around(&connection) {
        let client = layer().layer(service);
        let mut retried = 0;
        for _ in 0..10 {
            let report = get(&client).await.unwrap();
            let peers: Vec<_> = (1..=report.attempt_count()).map(|number| report.peer(number)).collect();
            match &*peers {
                [Some("10.0.0.1:1")] => {}
                [Some("10.0.0.2:1"), Some("10.0.0.1:1")] => retried += 1,
                _ => panic!("{report}"),
            }
        }
        assert!(retried > 0);
    }
}

/// The endpoints of attempts, as observers see them.
#[derive(Default)]
struct Peers(Mutex<Vec<String>>);

impl OperationObserver for Peers {
    fn attempt_event(&self, _: &OperationInfo, attempt: StartedAttempt, event: &dyn Event) {
        let peer = event.downcast_ref::<Peer>().unwrap();
        self.0.lock().unwrap().push(format!("{} {peer}", attempt.number()));
    }
}

#[tokio::test(start_paused = true)]
async fn a_retry_avoids_the_endpoint_that_failed() {
    let (good, peers) = (good(), Arc::new(Peers::default()));
    for fault in [Reply::http(503, &[]), Reply::Break(Break::Reset(8)), Reply::Break(Break::Close)] {
        let bad = VirtualServer::start(Script::always(fault));
        let network = Network::new().with(1, &good).with(2, &bad);
        let connection = network.connection(&[1, 2]).picker(Picker::RoundRobin).connect().await.unwrap();
        tokio::time::sleep(ms(10)).await;
        let client = layer().options(OperationOptions::new().observer(peers.clone())).layer(connection);
        peers.0.lock().unwrap().clear();
        let mut retried = 0;
        for _ in 0..10 {
            let report = get(&client).await.unwrap();
            if report.attempt_count() == 2 {
                assert_eq!(
                    (report.peer(1), report.peer(2)),
                    (Some("10.0.0.2:1"), Some("10.0.0.1:1")),
                    "{report}"
                );
                retried += 1;
            }
        }
        assert!(retried > 0);
        let seen = peers.0.lock().unwrap().clone();
        assert_eq!(seen.iter().filter(|peer| *peer == "1 10.0.0.2:1").count(), retried, "{seen:?}");
        assert_eq!(seen.iter().filter(|peer| *peer == "2 10.0.0.1:1").count(), retried, "{seen:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_connection_nothing_is_sent() {
    let network = Network::new().with(2, Host::HangsUp(b""));
    for host in [1, 2] {
        let client = client(network.connection(&[host]).connect_lazy().unwrap());
        let request = http::Request::post("http://elsewhere/test").body(()).unwrap();
        let error = client.send(request).await.map(drop).unwrap_err();
        assert_eq!(codes(error.report()).last(), Some(&Code::Unavailable), "{error:?}");
        assert_eq!(error.report().delivery(), gax_driver::report::Delivery::NotSent, "{error:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn transfers_notice_a_silent_connection_too() {
    let storage = StorageEmulator::start();
    storage.put("bkt", "obj", Bytes::from(vec![7; 1000]));
    storage.fault(StorageFault::stall().on(StorageCall::Download).times(2));
    let network = Network::new().with(1, &storage);
    let connection = network.connection(&[1]).connect().await.unwrap();
    let client = HttpRetryLayer::preset(&presets::storage()).layer(connection);
    let download = Download::of_object("http://storage.test", "bkt", "obj");
    let (bytes, downloaded) = download.to_bytes(&client).await.unwrap();
    assert_eq!(bytes.len(), 1000);
    assert_eq!(network.dialed(1).len(), 2);
    let report = downloaded.report();
    assert!(report.notes().contains(&Note::CONNECTION_GIVEN_UP), "{report}");
    assert_eq!([1, 2, 3].map(|attempt| report.peer(attempt)), [Some("10.0.0.1:1"); 3], "{report}");
}

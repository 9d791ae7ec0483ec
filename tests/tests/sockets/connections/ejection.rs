//! Endpoints that calls fail at, in virtual time.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use super::network::Network;
use gax_connection::{Connection, Ejection, Picker};
use gax_driver::observe::{ConnectionChange, ConnectionEvent, OperationObserver};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tonic_gax_tests::generated::google::cloud::asset::v1::ListAssetsRequest;
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_client::AssetServiceClient;
use tonic_gax_tests::{BodyPart, Break, RawFrame, RawServer, Reply, Script, VirtualServer, ms};

/// For how long the second host was ejected, each time.
#[derive(Default)]
struct Times(Mutex<Vec<Duration>>);

impl OperationObserver for Times {
    fn connection_event(&self, event: &ConnectionEvent<'_>) {
        if let ConnectionChange::Ejected { time } = event.change() {
            assert_eq!(event.peer(), "10.0.0.2:1");
            self.0.lock().unwrap().push(time);
        }
    }
}

/// So many calls, one after the other.
async fn call(connection: &Connection, calls: usize) {
    let mut client = AssetServiceClient::new(connection.clone());
    for _ in 0..calls {
        drop(client.list_assets(ListAssetsRequest::default()).await);
    }
}

const THIRTY: Duration = Duration::from_secs(30);

/// A connection to a good host and that one, ejected after three failures for 30 s.
async fn beside(bad: impl Into<super::network::Host>) -> (Connection, Arc<Times>, VirtualServer) {
    let (good, times) = (VirtualServer::start(Script::always(Reply::Serve)), Arc::new(Times::default()));
    let network = Network::new().with(1, &good).with(2, bad);
    let connection = network
        .connection(&[1, 2])
        .picker(Picker::RoundRobin)
        .eject(Ejection::default().after(3).time(THIRTY))
        .observer(times.clone())
        .connect()
        .await
        .unwrap();
    tokio::time::sleep(ms(10)).await;
    (connection, times, good)
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_is_out_for_longer_each_time_in_a_row() {
    let bad = VirtualServer::start(Script::always(Reply::unavailable()));
    let (connection, times, _good) = beside(&bad).await;
    for _ in 0..3 {
        call(&connection, 20).await;
        let last = times.0.lock().unwrap().last().copied().unwrap();
        tokio::time::sleep(last + ms(1)).await;
    }
    assert_eq!(*times.0.lock().unwrap(), [THIRTY, 2 * THIRTY, 3 * THIRTY]);
    assert_eq!(bad.arrivals().len(), 9);
    // It is good for as long as it was out, and begins anew.
    tokio::time::sleep(3 * THIRTY).await;
    call(&connection, 20).await;
    assert_eq!(times.0.lock().unwrap()[3..], [THIRTY]);
}

/// A status in trailers counts as one in headers does, and a response that breaks off as a connection that does.
#[tokio::test(start_paused = true)]
async fn whatever_the_way_it_fails() {
    let unavailable = || BodyPart::trailers(&[("grpc-status", "14")]);
    let in_trailers = VirtualServer::start(Script::always(Reply::play([unavailable()])));
    let by_http = VirtualServer::start(Script::always(Reply::http(503, &[])));
    let reset = VirtualServer::start(Script::always(Reply::Break(Break::Reset(2))));
    for bad in [&in_trailers, &by_http, &reset] {
        let (connection, times, good) = beside(bad).await;
        call(&connection, 20).await;
        assert_eq!(*times.0.lock().unwrap(), [THIRTY]);
        assert_eq!((bad.arrivals().len(), good.arrivals().len()), (3, 17));
    }
    let broken =
        RawServer::start((0..20).map(|_| vec![RawFrame::Headers, RawFrame::Data, RawFrame::Reset(2)]));
    let (connection, times, good) = beside(&broken).await;
    call(&connection, 20).await;
    assert_eq!(*times.0.lock().unwrap(), [THIRTY]);
    assert_eq!((broken.requests().len(), good.arrivals().len()), (3, 17));
}

/// A failure of the caller's own says nothing of the endpoint, and a good reply in between begins the count anew.
#[tokio::test(start_paused = true)]
async fn other_failures_eject_nobody() {
    let bad = || Reply::play([BodyPart::trailers(&[("grpc-status", "14")])]);
    for script in [
        Script::always(Reply::code(tonic::Code::NotFound)),
        Script::always(Reply::play([BodyPart::trailers(&[("grpc-status", "5")])])),
        Script::cycle([bad(), bad(), Reply::Serve]),
    ] {
        let (connection, times, _good) = beside(&VirtualServer::start(script)).await;
        call(&connection, 40).await;
        assert!(times.0.lock().unwrap().is_empty());
    }
}

/// However many may be out, calls go somewhere.
#[tokio::test(start_paused = true)]
async fn where_all_are_ejected_calls_go_to_them() {
    let servers = [(); 2].map(|()| VirtualServer::start(Script::always(Reply::unavailable())));
    let network = Network::new().with(1, &servers[0]).with(2, &servers[1]);
    let connection = network.connection(&[1, 2]).picker(Picker::RoundRobin);
    let ejection = Ejection::default().after(1).max_percent(100);
    let connection = connection.eject(ejection).connect().await.unwrap();
    tokio::time::sleep(ms(10)).await;
    call(&connection, 20).await;
    assert_eq!(servers.map(|server| server.arrivals().len()), [10, 10]);
    let (bad, times) =
        (VirtualServer::start(Script::always(Reply::unavailable())), Arc::new(Times::default()));
    let alone =
        Network::new().with(2, &bad).connection(&[2]).picker(Picker::RoundRobin).observer(times.clone());
    call(&alone.eject(Ejection::default()).connect().await.unwrap(), 20).await;
    assert!(times.0.lock().unwrap().is_empty(), "half of one is none");
}

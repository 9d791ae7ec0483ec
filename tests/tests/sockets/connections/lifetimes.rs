//! How long connections live, and that they leave nothing behind, in virtual time.

use super::network::{Host, Network};
use gax_connection::{Connection, Picker};
use std::time::Duration;
use tonic_gax_tests::generated::google::cloud::asset::v1::ListAssetsRequest;
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_client::AssetServiceClient;
use tonic_gax_tests::{RawFrame, RawServer, Reply, Script, VirtualServer, ms};

fn tasks() -> usize {
    tokio::runtime::Handle::current().metrics().num_alive_tasks()
}

async fn call(connection: &Connection) -> Result<(), tonic::Status> {
    AssetServiceClient::new(connection.clone()).list_assets(ListAssetsRequest::default()).await.map(drop)
}

/// A connection is made and lost again and again: before a reply, after it, and in the middle of it.
/// `GAX_CONNECTIONS=100000` does so a hundred thousand times.
#[tokio::test(start_paused = true)]
async fn connections_that_are_made_and_lost_leave_nothing() {
    /// Longer than the first back-off, so that none is left to wait for once a connection is lost.
    const SECOND: RawFrame = RawFrame::Wait(Duration::from_millis(1300));
    let lost = |round: usize| match round % 3 {
        0 => vec![SECOND, RawFrame::Drop],
        1 => vec![RawFrame::Good, SECOND, RawFrame::Drop],
        _ => vec![RawFrame::Headers, RawFrame::Data, SECOND, RawFrame::Drop],
    };
    let rounds = std::env::var("GAX_CONNECTIONS").map_or(20_000, |rounds| rounds.parse().unwrap());
    let server = RawServer::start((0..rounds).map(lost));
    let network = Network::new().with(1, &server);
    let connection = network.connection(&[1]).connect_lazy().unwrap();
    let mut most = 0;
    for round in 0..rounds {
        let result = call(&connection).await;
        assert_eq!(result.is_ok(), round % 3 == 1, "{round}: {result:?} {:?}", network.dialed(1).last());
        tokio::time::sleep(Duration::from_secs(2)).await;
        if round < 10 {
            most = most.max(tasks());
        } else {
            assert!(tasks() <= most, "{} in round {round}, {most} before", tasks());
        }
    }
    assert_eq!(network.dialed(1).len(), rounds);
    drop(connection);
    tokio::time::sleep(ms(10)).await;
    // Those that accept for the server.
    assert!(tasks() <= 1, "{}", tasks());
}

/// Connections that can't be made leave nothing either.
#[tokio::test(start_paused = true)]
async fn so_do_those_that_can_t_be_made() {
    let network = Network::new().with(2, Host::HangsUp(b""));
    let connection = network.connection(&[1, 2]).picker(Picker::RoundRobin).connect_lazy().unwrap();
    let before = tasks();
    for _ in 0..5000 {
        call(&connection).await.unwrap_err();
        tokio::time::sleep(Duration::from_secs(100)).await;
    }
    assert!(network.dialed(1).len() > 3000);
    // The resolver's and one an endpoint.
    assert!(tasks() <= before + 3, "{}", tasks());
    drop(connection);
    tokio::time::sleep(ms(10)).await;
    assert_eq!(tasks(), 0);
}

#[tokio::test(start_paused = true)]
async fn the_last_clone_takes_tasks_and_connections_with_it() {
    let servers =
        [(); 3].map(|()| VirtualServer::start(Script::at_once([]).then_always(ms(100), Reply::Serve)));
    let mut network = Network::new();
    for (number, server) in (1..).zip(&servers) {
        network = network.with(number, server);
    }
    tokio::time::sleep(ms(10)).await;
    let before = tasks();
    let connection = network.connection(&[1, 2, 3]).picker(Picker::RoundRobin).health_check("");
    let connection = connection.connect().await.unwrap();
    for _ in 0..6 {
        call(&connection).await.unwrap();
    }
    assert!(tasks() > before + 6, "{}", tasks());
    // A call goes on without a clone.
    let mut client = AssetServiceClient::new(connection);
    let mut last = Box::pin(async move { client.list_assets(ListAssetsRequest::default()).await });
    assert!(tokio::time::timeout(ms(10), &mut last).await.is_err());
    last.await.unwrap();
    tokio::time::sleep(ms(10)).await;
    // The servers' side of the connections has ended with them.
    assert_eq!(tasks(), before);
}

#[tokio::test(start_paused = true)]
async fn a_connection_of_the_maximum_age_carries_its_calls_to_their_end() {
    let server =
        VirtualServer::start(Script::of([Reply::Serve]).then_always(Duration::from_secs(30), Reply::Serve));
    let network = Network::new().with(1, &server);
    let connection = network.connection(&[1]).max_age(Duration::from_secs(20)).connect().await.unwrap();
    call(&connection).await.unwrap();
    tokio::time::sleep(Duration::from_secs(15)).await;
    let old = tokio::spawn({
        let connection = connection.clone();
        async move { call(&connection).await }
    });
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(network.dialed(1).len(), 1);
    call(&connection).await.unwrap();
    old.await.unwrap().unwrap();
    let dialed = network.dialed(1);
    assert_eq!(dialed.len(), 2, "{dialed:?}");
}

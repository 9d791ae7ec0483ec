//! HTTP/2 pings, against a server that counts them as grpc-go does, in virtual time.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use super::network::Network;
use gax_connection::{Connection, Http2};
use std::time::Duration;
use tonic_gax_tests::generated::google::cloud::asset::v1::ListAssetsRequest;
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_client::AssetServiceClient;
use tonic_gax_tests::{RawFrame, RawServer};

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);

fn pinging(server: &RawServer, interval: Duration) -> Connection {
    let http2 = Http2::default().keep_alive_interval(interval);
    Network::new().with(1, server).connection(&[1]).http2(http2).connect_lazy().unwrap()
}

/// A call that waits for its reply for so long, or gets it.
async fn call(connection: &Connection, time: Duration) {
    let mut client = AssetServiceClient::new(connection.clone());
    let call = client.list_assets(ListAssetsRequest::default());
    drop(tokio::time::timeout(time, call).await);
}

/// The interval that the guide names: quiet calls, busy ones, both, and none.
#[tokio::test(start_paused = true)]
async fn servers_with_default_limits_see_no_ping_too_many_in_ten_hours() {
    const QUIET: [RawFrame; 0] = [];
    let plays = [QUIET.to_vec()].into_iter().chain((0..24).map(|_| vec![RawFrame::Good]));
    let plays = plays.chain([QUIET.to_vec()]).chain((0..1000).map(|_| vec![RawFrame::Good]));
    let server = RawServer::counting_pings(plays);
    let connection = pinging(&server, Duration::from_secs(330));
    // A quiet call for two hours and a half, beside which others come every six minutes from the first half hour on.
    let quiet = tokio::spawn({
        let connection = connection.clone();
        async move { call(&connection, HOUR * 5 / 2).await }
    });
    tokio::time::sleep(HOUR / 2).await;
    for _ in 0..19 {
        call(&connection, MINUTE).await;
        tokio::time::sleep(6 * MINUTE).await;
    }
    quiet.await.unwrap();
    let busy = server.pings();
    for _ in 0..5 {
        call(&connection, MINUTE).await;
        tokio::time::sleep(6 * MINUTE).await;
    }
    // Quiet for two hours, and then without a call.
    call(&connection, 2 * HOUR).await;
    let idle_from = server.pings().len();
    tokio::time::sleep(HOUR).await;
    assert_eq!(server.pings().len(), idle_from, "none without a call: {:?}", server.pings());
    // Calls one after the other, closer than the interval and further apart.
    let mut pause = Duration::from_secs(1);
    for _ in 0..300 {
        call(&connection, MINUTE).await;
        tokio::time::sleep(pause).await;
        pause = Duration::from_secs((pause.as_secs() * 7 + 1) % 660);
    }
    assert!(server.times().last().unwrap() > &(10 * HOUR), "{:?}", server.times().last());
    assert!(server.goodbyes().is_empty(), "{:?}", server.pings());
    assert!(
        busy.len() > 5 && idle_from > busy.len() + 18,
        "the connection is looked after: {:?}",
        server.pings()
    );
    assert!(server.requests().iter().all(|number| *number == 1));
}

/// Such a server throws out whoever pings more often. The interval of the next connection is doubled (gRFC A8), until it is
/// long enough.
#[tokio::test(start_paused = true)]
async fn a_client_that_pings_too_often_learns_to_ping_less() {
    let server = RawServer::counting_pings((0..100).map(|_| Vec::new()));
    let connection = pinging(&server, Duration::from_secs(30));
    let end = tokio::time::sleep(10 * HOUR);
    tokio::pin!(end);
    loop {
        tokio::select! {
            () = &mut end => break,
            () = call(&connection, 20 * HOUR) => {}
        }
    }
    let goodbyes = server.goodbyes();
    // 30 s, 60 s, 120 s and 240 s are too often.
    assert_eq!(goodbyes.len(), 4, "{goodbyes:?}");
    let pings = server.pings();
    let later: Vec<_> = pings.iter().filter(|at| **at > goodbyes[3]).collect();
    assert!(later.len() > 60, "{later:?}");
    let apart = |pair: &[&Duration]| pair[1].saturating_sub(*pair[0]);
    assert!(later.windows(2).all(|pair| apart(pair) >= Duration::from_secs(480)), "{later:?}");
}

/// It is the endpoint's next connection that has the longer interval, and each of its calls hears of the goodbye.
#[tokio::test(start_paused = true)]
async fn the_interval_is_doubled_once_for_many_calls() {
    let goodbye = RawFrame::GoAway { reason: 11, taken: true };
    let good = vec![RawFrame::Good];
    let server = RawServer::start([good, Vec::new(), Vec::new(), vec![goodbye, RawFrame::Drop], Vec::new()]);
    let connection = pinging(&server, Duration::from_secs(30));
    call(&connection, MINUTE).await;
    let calls: Vec<_> = (0..3)
        .map(|_| {
            let connection = connection.clone();
            tokio::spawn(async move { call(&connection, MINUTE).await })
        })
        .collect();
    for ended in calls {
        ended.await.unwrap();
    }
    call(&connection, 10 * MINUTE).await;
    let pings: Vec<_> = server.pings().iter().map(Duration::as_secs).collect();
    assert_eq!(pings, (1..10).map(|number| 60 * number).collect::<Vec<_>>());
}

//! The keep-alive numbers that the guide recommends, against the limits that gRPC servers have by default.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use std::time::Duration;
use tonic::transport::Endpoint;
use tonic_gax_tests::RawServer;
use tonic_gax_tests::generated::google::cloud::asset::v1::ListAssetsRequest;
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_client::AssetServiceClient;

const PAGE: &str = include_str!("../../../docs/src/connecting.md");
const HOUR: Duration = Duration::from_secs(3600);
/// gRPC servers want this time between two pings while they send nothing (gRFC A8; grpc-go, grpc-java and C++ alike).
const LEAST: Duration = Duration::from_secs(300);

/// The seconds between two pings in the page's program, which sends none without a call.
fn interval() -> Duration {
    let (_, rest) =
        PAGE.split_once("let http2 = Http2::default().keep_alive_interval(Duration::from_secs(").unwrap();
    let (seconds, rest) = rest.split_once("))").unwrap();
    let (program, _) = rest.split_once("\n```\n").unwrap();
    assert!(!program.contains("while_idle"), "{program}");
    Duration::from_secs(seconds.parse().unwrap())
}

#[tokio::test(start_paused = true)]
async fn servers_with_default_limits_take_the_recommended_pings() {
    let endpoint = Endpoint::from_static("http://server").http2_keep_alive_interval(interval());
    // A call that gets no reply.
    let server = RawServer::start([Vec::new()]);
    let channel = endpoint.connect_with_connector(server.connector());
    let mut client = AssetServiceClient::new(channel.await.unwrap());
    let call = client.list_assets(ListAssetsRequest::default());
    assert!(tokio::time::timeout(HOUR, call).await.is_err());
    // And an hour without a call.
    tokio::time::sleep(HOUR).await;

    let pings = server.pings();
    assert!(pings.windows(2).all(|pair| pair[1] > pair[0] + LEAST), "{pings:?}");
    assert!(pings.len() >= 9, "the connection is looked after: {pings:?}");
    let idle: Vec<_> = pings.iter().filter(|at| **at > HOUR).collect();
    assert!(idle.is_empty(), "servers count a ping without a call as too many: {idle:?}");
}

//! Connections that stall, over real sockets.
//!
//! A server takes the first connection and says nothing. The times are far enough apart that nothing here depends on
//! how fast the machine is.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use bytes::Bytes;
use gax_client::{Connector, connect, connect_lazy};
use gax_connection::Connection;
use gax_http::HttpRetryLayer;
use http_body_util::Full;
use std::error::Error;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::AbortHandle;
use tonic::ConnectError;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Endpoint, Server};
use tonic_gax::{Code, OperationReport, RetrySettings};
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_client::AssetServiceClient as TonicClient;
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_server::AssetServiceServer;
use tonic_gax_tests::generated::google::cloud::asset::v1::{AssetServiceClient, ListAssetsRequest};
use tonic_gax_tests::{Assets, Log, Reply, Script, Scripted, Setup, Stack, report_of, reported};

/// A server whose first connection is taken and left alone.
struct Stalling {
    address: SocketAddr,
    serving: AbortHandle,
}

impl Stalling {
    async fn start() -> Self {
        Self::serving(Script::always(Reply::Serve)).await
    }

    async fn serving(script: Script) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let serving = tokio::spawn(async move {
            let silent = listener.accept().await.unwrap();
            let service = Scripted::new(AssetServiceServer::new(Assets::default()), script, Log::default());
            let served =
                Server::builder().add_service(service).serve_with_incoming(TcpIncoming::from(listener)).await;
            drop((silent, served));
        });
        Self { address, serving: serving.abort_handle() }
    }

    fn endpoint(&self) -> Endpoint {
        Endpoint::from_shared(format!("http://{}", self.address)).unwrap()
    }
}

impl Drop for Stalling {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

const SHORT: Duration = Duration::from_millis(100);

fn setup(rpc_timeout: u64) -> Setup {
    let settings = RetrySettings::builder()
        .initial_retry_delay(Duration::from_millis(10))
        .initial_rpc_timeout(Duration::from_secs(rpc_timeout))
        .total_timeout(Duration::from_secs(120));
    Setup::new(settings.build().unwrap())
}

/// The first attempt ends with its connection, and the second has another one.
fn assert_second_connection(report: &OperationReport) {
    let codes: Vec<_> = report.attempts().iter().map(tonic_gax::Attempt::code).collect();
    assert_eq!(codes, [Code::Unavailable, Code::Ok], "{report}");
}

async fn list(client: &AssetServiceClient<tonic::transport::Channel>) -> OperationReport {
    report_of(&client.list_assets(ListAssetsRequest::default()).await)
}

#[tokio::test]
async fn a_generated_client_gives_up_a_connection_that_stalls() {
    let server = Stalling::start().await;
    let settings = setup(60).client().with_connect_timeout(SHORT);
    let client = AssetServiceClient::connect_with_settings(server.endpoint(), settings).await.unwrap();
    assert_second_connection(&list(&client).await);
}

#[tokio::test]
async fn so_it_does_by_its_rpc_timeouts() {
    let server = Stalling::start().await;
    let settings = setup(3).client();
    let client = AssetServiceClient::connect_with_settings(server.endpoint(), settings).await.unwrap();
    assert_second_connection(&list(&client).await);
}

#[tokio::test]
async fn an_endpoint_s_own_connect_timeout_comes_first() {
    let server = Stalling::start().await;
    let settings = setup(60).client().with_connect_timeout(Duration::from_secs(60));
    let endpoint = server.endpoint().connect_timeout(SHORT);
    let client = AssetServiceClient::connect_with_settings(endpoint, settings).await.unwrap();
    assert_second_connection(&list(&client).await);
}

#[tokio::test]
async fn so_do_channels_for_the_layer() {
    for way in 0..4 {
        let server = Stalling::start().await;
        let endpoint = server.endpoint().connect_timeout(SHORT);
        let channel = match way {
            0 => connect(endpoint).await.unwrap(),
            1 => connect_lazy(endpoint).unwrap(),
            2 => endpoint.connect_with_connector_lazy(Connector::new(&endpoint)),
            _ => {
                let endpoint = server.endpoint();
                endpoint.connect_with_connector_lazy(Connector::new(&endpoint).connect_timeout(SHORT))
            }
        };
        let mut caller = Stack::Layer.caller(channel, &setup(60));
        let result = caller.list(reported(ListAssetsRequest::default())).await;
        assert_second_connection(&report_of(&result));
    }
}

/// Once a server has said something, a connection may be silent for as long as it likes.
#[tokio::test]
async fn a_connection_that_stands_is_not_bounded() {
    let server = Stalling::serving(Script::at_once([]).then_always(5 * SHORT, Reply::Serve)).await;
    let settings = setup(60).client().with_connect_timeout(SHORT);
    let client = AssetServiceClient::connect_with_settings(server.endpoint(), settings).await.unwrap();
    assert_second_connection(&list(&client).await);
}

/// The text of an error and of its sources, but for the wrapper by which tonic knows that there is no connection: it has the text of
/// what it wraps.
fn texts(error: &(dyn Error + 'static)) -> Vec<String> {
    let chain = std::iter::successors(Some(error), |error| Error::source(*error));
    chain.filter(|error| !error.is::<ConnectError>()).map(ToString::to_string).collect()
}

/// Each text of a chain stands in it once: a status has it as its message, and as the cause of what went wrong.
#[tokio::test]
async fn the_cause_of_a_refused_connection_is_said_once() {
    let unused = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let target = format!("http://{unused}");
    let cause = "Connection refused (os error 111)";
    let times = |texts: &[String]| texts.iter().map(|text| text.matches(cause).count()).sum::<usize>();
    let said = texts(&Connection::to(&target).connect().await.unwrap_err());
    assert_eq!((said.len(), times(&said)), (1, 1), "{said:?}");
    let connection = Connection::to(&target).connect_lazy().unwrap();
    let plain = TonicClient::new(connection.clone()).list_assets(ListAssetsRequest::default()).await;
    let status = plain.unwrap_err();
    assert_eq!((status.code(), status.message().matches(cause).count()), (tonic::Code::Unavailable, 1));
    let said = texts(status.source().unwrap());
    assert_eq!((said[0].as_str(), times(&said)), ("no connection", 1), "{said:?}");
    let settings = RetrySettings::builder().max_attempts(1).build().unwrap();
    for stack in Stack::ALL {
        let status = stack.list(connection.clone(), &Setup::new(settings.clone())).await.unwrap_err();
        let said = texts(status.source().unwrap());
        assert_eq!(status.message().matches(cause).count(), 1, "{stack:?} {status}");
        assert!(times(&said) < 2, "{stack:?} {said:?}");
    }
    let layer = HttpRetryLayer::new(&settings, [Code::Unavailable]);
    let request = http::Request::get("http://server/thing").body(Full::<Bytes>::default()).unwrap();
    let error = layer.layer(connection).send(request).await.unwrap_err();
    let said = texts(&error);
    assert_eq!((said[1].as_str(), times(&said)), ("no connection", 1), "{said:?}");
}

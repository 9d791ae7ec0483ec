//! The address that connections are made to, and the name that requests are sent in.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use super::shapes::table;
use gax_client::google::ServiceEndpoint;
use gax_testing::VirtualServer;
use std::convert::Infallible;
use std::future::ready;
use std::sync::{Arc, Mutex};
use tonic::body::Body;
use tonic::transport::Endpoint;
use tonic::{Code, Status};
use tonic_gax_tests::generated::google_shapes::shapes::routing::v1::{TablesClient, TablesSettings};
use tonic_gax_tests::{Reply, Script};
use tower::service_fn;

/// The `:authority` of a call by that endpoint.
async fn authority(endpoint: ServiceEndpoint) -> String {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let service = service_fn(move |request: http::Request<Body>| {
        log.lock().unwrap().push(request.uri().authority().unwrap().to_string());
        ready(Ok::<_, Infallible>(Status::not_found("").into_http::<Body>()))
    });
    let server = VirtualServer::serving(service, Script::always(Reply::Serve));
    let endpoint = Endpoint::try_from(endpoint).unwrap();
    let channel = endpoint.connect_with_connector(server.connector()).await.unwrap();
    let status = TablesClient::new(channel).read(table("t")).await.unwrap_err();
    assert_eq!(status.code(), Code::NotFound);
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), 1);
    seen.concat()
}

#[tokio::test(start_paused = true)]
async fn requests_are_sent_in_the_name_of_the_service() {
    let endpoint = TablesSettings::endpoint;
    assert_eq!(endpoint().uri().unwrap(), "https://tables.googleapis.com");
    for (address, expected) in [
        ("http://private.googleapis.com", "tables.googleapis.com"),
        ("http://tables-x.p.googleapis.com:80", "tables.googleapis.com"),
        ("http://us-east1-tables.googleapis.com", "us-east1-tables.googleapis.com"),
        ("http://localhost:8080", "localhost:8080"),
    ] {
        assert_eq!(authority(endpoint().address(address)).await, expected);
    }
    let other = endpoint().universe_domain("u.example").address("http://restricted.u.example");
    assert_eq!(authority(other).await, "tables.u.example");
}

#[tokio::test]
async fn an_address_that_cannot_be_used_is_an_error_of_connecting() {
    let error = TablesClient::connect(TablesSettings::endpoint().address("ftp://a")).await.unwrap_err();
    let source = std::error::Error::source(&error).unwrap();
    assert_eq!(
        source.to_string(),
        "the address is \"ftp://a\", which has a scheme other than http and https"
    );
}

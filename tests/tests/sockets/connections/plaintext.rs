//! Plain text where TLS was meant, and credentials over it.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use super::waiting::to;
use gax_connection::{Address, AddressList, Connection, ConnectionBuilder};
use gax_driver::credentials::{AuthHeaders, Credentials, CredentialsService};
use tonic::Code;
use tonic_gax_tests::generated::google::cloud::asset::v1::ListAssetsRequest;
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_client::AssetServiceClient;
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_server::AssetServiceServer;
use tonic_gax_tests::{
    Assets, Log, Reply, Script, Scripted, Setup, SocketServer, Stack, VirtualServer, error_report, settings,
};

#[test]
fn port_443_without_a_scheme_wants_one() {
    for target in ["dns:///assets.test", "assets.test", "assets.test:443", "ipv4:192.0.2.1", "ipv6:[::1]:443"]
    {
        let error = Connection::to(target).connect_lazy().unwrap_err();
        let expected = format!(
            "no connection: port 443 is for TLS, and {target:?} says neither https nor http: write the scheme that is \
             meant"
        );
        assert_eq!(error.to_string(), expected);
    }
    let accepted = |builder: ConnectionBuilder| {
        tokio::runtime::Runtime::new().unwrap().block_on(async { builder.connect_lazy().map(drop) }).unwrap();
    };
    accepted(Connection::to("dns:///assets.test:50051"));
    accepted(Connection::to("http://assets.test:443"));
    accepted(Connection::to("dns:///assets.test").resolver(AddressList::new([])));
}

#[test]
fn user_and_password_of_a_target_are_printed_nowhere() {
    for target in [
        "https://user:s3cret@assets.test",
        "http://user:s3cret/s3cret@assets.test",
        "dns:///user:s3cret@assets.test",
        "user:s3cret@assets.test:443",
        "s3cret//s3cret@assets.test",
    ] {
        let builder = Connection::to(target);
        let shown = format!("{builder:?} ");
        let error = builder.connect_lazy().unwrap_err();
        let shown = shown + &format!("{error} {error:?}");
        assert!(!shown.contains("s3cret"), "{shown}");
        assert!(shown.contains("leave them out"), "{shown}");
    }
    let error = Connection::to("http://assets.test").authority("user:s3cret@a").connect_lazy().unwrap_err();
    assert_eq!(
        error.to_string(),
        "no connection: \"..@a\" is not an authority: a host, or a host and a port"
    );
    let error = Connection::to("http://assets.test").proxy("http://user:s3cret/s3cret@a:1").connect_lazy();
    assert!(!format!("{:?}", error.unwrap_err()).contains("s3cret"));
}

fn with_credentials(builder: ConnectionBuilder, allows_plaintext: bool) -> CredentialsService<Connection> {
    let credentials = Credentials::new(|| async { Ok(AuthHeaders::bearer("t").unwrap()) });
    let credentials = if allows_plaintext { credentials.allow_plaintext() } else { credentials };
    CredentialsService::new(builder.connect_lazy().unwrap(), credentials)
}

#[tokio::test]
async fn credentials_are_not_sent_in_plain_text_but_to_this_machine() {
    let service = Scripted::new(
        AssetServiceServer::new(Assets::default()),
        Script::always(Reply::Serve),
        Log::default(),
    );
    let router = tonic::transport::Server::builder().add_service(service);
    let server = SocketServer::grpc(SocketServer::ANY_PORT, router);
    let address = Address::from(server.address());
    // Where a resolver's addresses are is not known.
    let exposed = || Connection::to("http://assets.test").resolver(AddressList::new([address.clone()]));
    for (builder, allows_plaintext, is_sent) in [
        (exposed(), false, false),
        (exposed(), true, true),
        (Connection::to(format!("http://{}", server.address())), false, true),
        (Connection::to(format!("dns:///localhost:{}", server.address().port())), false, true),
        (Connection::to(format!("ipv4:{}", server.address())), false, true),
    ] {
        let service = with_credentials(builder, allows_plaintext);
        for stack in Stack::ALL {
            let result = stack
                .caller(service.clone(), &Setup::new(settings()))
                .list(ListAssetsRequest::default())
                .await;
            if is_sent {
                result.unwrap();
                continue;
            }
            let status = result.unwrap_err();
            assert_eq!(
                (status.code(), error_report(&status).attempts().len()),
                (Code::FailedPrecondition, 1)
            );
            assert_eq!(status.message(), REFUSED);
        }
        let result = AssetServiceClient::new(service).list_assets(ListAssetsRequest::default()).await;
        assert_eq!(
            result.map_err(|status| status.message().to_owned()).err(),
            (!is_sent).then(|| REFUSED.to_owned())
        );
    }
}

const REFUSED: &str = "credentials would be sent to assets.test in plain text: connect over TLS, or allow it \
                       with Credentials::allow_plaintext";

/// The program knows what its own connector does.
#[tokio::test(start_paused = true)]
async fn credentials_are_sent_over_a_connector_of_the_program() {
    let server = VirtualServer::start(Script::always(Reply::Serve));
    let service = with_credentials(to(&server).0, false);
    AssetServiceClient::new(service).list_assets(ListAssetsRequest::default()).await.unwrap();
    assert_eq!(server.arrivals()[0].header("authorization"), Some("Bearer t"));
}

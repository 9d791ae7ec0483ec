//! TLS, and a channel that connects with the first call.
//!
//! `connect_lazy` returns immediately, so that a program starts even if a server is down; the first call connects,
//! and is retried with its settings until there is a server. `gax_client::connect_lazy` closes a connection that
//! stalls, which tonic's own doesn't. Problems that waiting doesn't solve, such as a certificate that is not
//! trusted, end a call after its first attempt.
//!
//! ```text
//! cargo run --example tls --features tls-ring
//! ```

mod library;

use library::v1::{GetBookRequest, LibraryServiceClient};
use std::error::Error;
use std::net::Ipv4Addr;
use tokio::net::TcpListener;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Certificate, ClientTlsConfig, Endpoint, Identity, Server, ServerTlsConfig};
use tonic_gax::OperationError;

fn book() -> GetBookRequest {
    GetBookRequest { name: "shelves/1/books/1".to_owned() }
}

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn Error>> {
    // Only a program with both `tls-ring` and `tls-aws-lc` has to choose. An error means that it already has.
    rustls::crypto::ring::default_provider().install_default().ok();

    // A server with a certificate that it issued itself.
    let issued = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
    let (certificate, key) = (issued.cert.pem(), issued.signing_key.serialize_pem());
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let url = format!("https://localhost:{}", listener.local_addr()?.port());
    let server = Server::builder()
        .tls_config(ServerTlsConfig::new().identity(Identity::from_pem(&certificate, key)))?
        .add_service(library::Library::refusing(1));
    tokio::spawn(server.serve_with_incoming(TcpIncoming::from(listener)));

    // A client that trusts the certificate. For public servers, use `.with_enabled_roots()` instead, and the feature
    // `tls-webpki-roots` or `tls-native-roots`.
    let tls = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(certificate));
    let endpoint = Endpoint::from_shared(url.clone())?.tls_config(tls)?;
    let client = LibraryServiceClient::new(gax_client::connect_lazy(endpoint)?);
    println!("{:?}", client.get_book(book()).await?.into_inner());

    // A client that doesn't trust it makes one attempt and reports the reason.
    let endpoint = Endpoint::from_shared(url)?.tls_config(ClientTlsConfig::new())?;
    let client = LibraryServiceClient::new(gax_client::connect_lazy(endpoint)?);
    let status = client.get_book(book()).await.err().ok_or("the certificate is not trusted")?;
    let error = OperationError::of(&status).ok_or("a call ends with a report")?;
    println!("{}", error.report());
    assert_eq!(error.report().attempt_count(), 1);
    Ok(())
}

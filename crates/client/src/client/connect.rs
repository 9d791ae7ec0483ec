//! Connecting.

use crate::client::connector::{Connector, LONGEST};
use crate::settings::ClientSettings;
use std::time::Duration;
use tonic::codegen::StdError;
use tonic::transport::{Channel, Endpoint, Error};

/// A channel to anything that can be made an endpoint: a URI as text, a URI, or an [`Endpoint`] with its own
/// settings, TLS among them.
///
/// Connecting is bounded, now and whenever the channel connects again: by the endpoint's own
/// [`connect_timeout`](Endpoint::connect_timeout), or else by 20 s. The time runs from the name's resolution to the
/// end of the TLS handshake, or without TLS to the server's first byte. So if a connection stalls, the attempt that
/// waits for it ends early enough for another attempt on a new connection.
///
/// The system ends connections whose bytes are not acknowledged: see [`Connector`]. What a channel can't do is to ask for another
/// address, to avoid an endpoint that failed, to notice a silent proxy, to go through the proxy that the environment names, or to
/// wait between attempts to connect: a [`Connection`](https://tonic-gax.github.io/tonic-gax/connecting.html) of `gax-connection`
/// can.
///
/// The endpoint's [local address](Endpoint::local_address) is not taken over, since tonic keeps it to itself: give it
/// to a [`Connector`].
///
/// # Errors
///
/// The destination is not a URI, or no server replies in time.
pub async fn connect<D>(destination: D) -> Result<Channel, Error>
where
    D: TryInto<Endpoint>,
    D::Error: Into<StdError>,
{
    connect_within(Endpoint::new(destination)?, LONGEST).await
}

/// A channel as of [`connect`], which connects when it is first used.
///
/// # Errors
///
/// The destination is not a URI.
pub fn connect_lazy<D>(destination: D) -> Result<Channel, Error>
where
    D: TryInto<Endpoint>,
    D::Error: Into<StdError>,
{
    let endpoint = bounded(Endpoint::new(destination)?, LONGEST);
    Ok(if is_socket_file(&endpoint) {
        endpoint.connect_lazy()
    } else {
        endpoint.connect_with_connector_lazy(Connector::new(&endpoint))
    })
}

/// Connects for a client with these settings, for generated code.
///
/// # Errors
///
/// The destination is not a URI, or no server replies in time.
pub async fn connect_for<D, S>(destination: D, settings: &ClientSettings<S>) -> Result<Channel, Error>
where
    D: TryInto<Endpoint>,
    D::Error: Into<StdError>,
{
    connect_within(Endpoint::new(destination)?, settings.config.connect_timeout()).await
}

async fn connect_within(endpoint: Endpoint, timeout: Duration) -> Result<Channel, Error> {
    let endpoint = bounded(endpoint, timeout);
    if is_socket_file(&endpoint) {
        return endpoint.connect().await;
    }
    endpoint.connect_with_connector(Connector::new(&endpoint)).await
}

/// The endpoint with that connect timeout, if it has none. tonic makes it cover TLS too, if it is given a connector.
fn bounded(endpoint: Endpoint, timeout: Duration) -> Endpoint {
    match endpoint.get_connect_timeout() {
        Some(_) => endpoint,
        None => endpoint.connect_timeout(timeout),
    }
}

/// Returns whether the endpoint may be a socket in the file system: tonic does not say, but calls all of them by one name.
fn is_socket_file(endpoint: &Endpoint) -> bool {
    *endpoint.uri() == "http://tonic"
}

#[cfg(test)]
mod tests {
    use super::*;
    use gax_wire::ConnectProblem;
    use std::error::Error as _;
    use tower_service::Service;

    /// The messages of an error's sources.
    fn reason(error: &Error) -> String {
        let mut text = String::new();
        let mut source = error.source();
        while let Some(error) = source {
            text = format!("{text}{error}; ");
            source = error.source();
        }
        text
    }

    #[tokio::test]
    async fn a_socket_in_the_file_system_is_connected_to_as_tonic_does() {
        let error = connect("unix:/nowhere/at/all").await.unwrap_err();
        assert!(reason(&error).contains("No such file"), "{error:?}");
    }

    /// If tonic has no TLS, it would speak to the port in plain text.
    #[tokio::test]
    async fn https_without_tls_sends_nothing() {
        use tokio::io::AsyncReadExt as _;

        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        for (scheme, received) in [("https", 0), ("http", 24)] {
            let uri = format!("{scheme}://{address}").parse().unwrap();
            let connecting = Service::call(&mut Connector::new(&Endpoint::from_static("http://a")), uri);
            let (io, peer) = tokio::join!(connecting, listener.accept());
            let executor = hyper_util::rt::TokioExecutor::new();
            let made =
                hyper::client::conn::http2::handshake::<_, _, tonic::body::Body>(executor, io.unwrap()).await;
            let problem = made.map(drop).err().and_then(|error| ConnectProblem::behind(&error));
            assert_eq!(problem, (received == 0).then_some(ConnectProblem::UnsupportedScheme));
            let mut bytes = [0; 24];
            assert_eq!(peer.unwrap().0.read(&mut bytes).await.unwrap(), received);
        }
    }

    #[cfg(feature = "tls-ring")]
    #[tokio::test]
    async fn a_tls_handshake_that_stalls_is_given_up() {
        use tokio::io::AsyncWriteExt as _;
        use tonic::transport::ClientTlsConfig;

        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        // The first connection stalls immediately, the second within the handshake.
        let stalling = tokio::spawn(async move {
            let silent = listener.accept().await.unwrap();
            let (mut begun, _) = listener.accept().await.unwrap();
            begun.write_all(&[22]).await.unwrap();
            std::future::pending::<()>().await;
            drop((silent, begun));
        });
        for _ in 0..2 {
            let endpoint = Endpoint::from_shared(format!("https://{address}")).unwrap();
            let endpoint = endpoint.tls_config(ClientTlsConfig::new().domain_name("localhost")).unwrap();
            connect(endpoint.connect_timeout(Duration::from_millis(100))).await.unwrap_err();
        }
        stalling.abort();
    }
}

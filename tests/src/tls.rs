//! Servers that speak TLS, or should, with real handshakes over memory.

use crate::Assets;
use crate::generated::google::cloud::asset::v1::asset_service_server::AssetServiceServer;
use gax_connection::{AddressList, ClientTls, Connection};
use gax_testing::Pipe;
use http::Uri;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio::sync::mpsc;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, ServerName};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig, SupportedProtocolVersion};
use tokio_rustls::{TlsAcceptor, client, server};
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Server};
use tower_service::Service;

/// The host that clients connect to.
const HOST: &str = "server.test";

/// Somebody who issues certificates.
#[derive(Debug)]
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    /// A new one of that name, which nobody trusts yet.
    #[must_use]
    pub fn new(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    /// A certificate for that host, valid in these years, for a server that offers these protocols.
    #[must_use]
    pub fn server(&self, host: &str, years: [i32; 2], protocols: &[&str]) -> Handshake {
        let mut params = CertificateParams::new(vec![host.to_owned()]).unwrap();
        [params.not_before, params.not_after] = years.map(|year| date_time_ymd(year, 1, 1));
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap();
        config.alpn_protocols = named(protocols);
        Handshake::Tls(Arc::new(config))
    }

    /// A good certificate.
    #[must_use]
    pub fn good(&self, protocols: &[&str]) -> Handshake {
        self.server(HOST, [2000, 4000], protocols)
    }

    /// The server shows the authority's own certificate.
    #[must_use]
    pub fn itself(&self, protocols: &[&str]) -> Handshake {
        let key = PrivateKeyDer::Pkcs8(self.0.key().serialize_der().into());
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![self.0.der().clone()], key)
            .unwrap();
        config.alpn_protocols = named(protocols);
        Handshake::Tls(Arc::new(config))
    }

    /// The server wants a certificate of the client from this authority, by that version of TLS.
    #[must_use]
    pub fn mutual(&self, version: &'static SupportedProtocolVersion, protocols: &[&str]) -> Handshake {
        let Handshake::Tls(good) = self.good(protocols) else { unreachable!() };
        let provider = Arc::new(ring::default_provider());
        let verifier =
            WebPkiClientVerifier::builder_with_provider(Arc::new(self.roots()), Arc::clone(&provider));
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[version])
            .unwrap()
            .with_client_cert_verifier(verifier.build().unwrap())
            .with_cert_resolver(Arc::clone(&good.cert_resolver));
        config.alpn_protocols = named(protocols);
        Handshake::Tls(Arc::new(config))
    }

    fn roots(&self) -> RootCertStore {
        let mut roots = RootCertStore::empty();
        roots.add(self.0.der().clone()).unwrap();
        roots
    }

    /// A channel's TLS for clients that trust it.
    #[must_use]
    pub fn channel_tls(&self) -> ClientTlsConfig {
        ClientTlsConfig::new().domain_name(HOST).ca_certificate(Certificate::from_pem(self.0.pem()))
    }

    /// The TLS of connections of our own that trust it.
    pub fn connection_tls(&self) -> ClientTls {
        ClientTls::new().domain_name(HOST).ca_certificate(self.0.pem())
    }

    /// TLS for HTTP clients that trust it.
    #[must_use]
    pub fn client_tls(
        &self,
        versions: &[&'static SupportedProtocolVersion],
        protocols: &[&str],
    ) -> ClientConfig {
        let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(versions)
            .unwrap()
            .with_root_certificates(self.roots())
            .with_no_client_auth();
        config.alpn_protocols = named(protocols);
        config
    }
}

/// An address that nobody looks at.
const ANYWHERE: std::net::SocketAddr =
    std::net::SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 1);

/// Protocols as ALPN has them.
fn named(protocols: &[&str]) -> Vec<Vec<u8>> {
    protocols.iter().map(|name| name.as_bytes().to_vec()).collect()
}

/// The server's treatment of a connection.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Handshake {
    /// It speaks TLS, and then HTTP/2 or HTTP/1.1.
    Tls(Arc<ServerConfig>),
    /// It speaks HTTP/1.1 without TLS.
    Plaintext,
    /// It closes the connection when the client has begun to speak.
    Close,
}

/// A server that does one of these things with each connection, the last one for ever.
#[derive(Debug)]
pub struct TlsServer {
    accept: mpsc::UnboundedSender<DuplexStream>,
    connections: Arc<AtomicUsize>,
    now: Arc<Mutex<Option<Handshake>>>,
}

impl TlsServer {
    /// A server that does so.
    pub fn start(handshakes: impl IntoIterator<Item = Handshake>) -> Self {
        let handshakes: Vec<Handshake> = handshakes.into_iter().collect();
        let (accept, mut accepted) = mpsc::unbounded_channel::<DuplexStream>();
        let (ready, incoming) = mpsc::unbounded_channel();
        let service = AssetServiceServer::new(Assets);
        let incoming = UnboundedReceiverStream::new(incoming);
        tokio::spawn(Server::builder().add_service(service).serve_with_incoming(incoming));
        let connections = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&connections);
        let now = Arc::new(Mutex::new(None));
        let replaced = Arc::clone(&now);
        tokio::spawn(async move {
            while let Some(io) = accepted.recv().await {
                let number = counted.fetch_add(1, Ordering::SeqCst);
                let replaced = replaced.lock().unwrap_or_else(PoisonError::into_inner).clone();
                let handshake =
                    replaced.unwrap_or_else(|| handshakes[number.min(handshakes.len() - 1)].clone());
                let ready = ready.clone();
                // However the connection ends, the test sees it from the other side.
                tokio::spawn(async move { drop(serve(io, handshake, ready).await) });
            }
        });
        Self { accept, connections, now }
    }

    /// Does so with every connection from now on.
    pub fn replace(&self, handshake: Handshake) {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) = Some(handshake);
    }

    /// How many connections were made.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// A gRPC channel to it, over `https`; without TLS of its own if there is none.
    #[must_use]
    pub fn channel(&self, tls: Option<ClientTlsConfig>) -> Channel {
        let accept = self.accept.clone();
        let connector =
            tower::service_fn(move |_: Uri| std::future::ready(connect(&accept).map(TokioIo::new)));
        let mut endpoint = Endpoint::from_static("https://server.test");
        if let Some(tls) = tls {
            endpoint = endpoint.tls_config(tls).unwrap();
        }
        endpoint.connect_with_connector_lazy(connector)
    }

    /// A connection of our own to it.
    #[must_use]
    pub fn connection(&self, tls: ClientTls) -> Connection {
        let accept = self.accept.clone();
        let connection = Connection::to("https://server.test").resolver(AddressList::new([ANYWHERE.into()]));
        connection.tls(tls).connector(move |_| std::future::ready(connect(&accept))).connect_lazy().unwrap()
    }

    /// An HTTP client of it.
    #[must_use]
    pub fn http_client<B>(&self, config: ClientConfig) -> Client<TlsConnector, B>
    where
        B: http_body::Body + Send,
        B::Data: Send,
    {
        let connector = TlsConnector { accept: self.accept.clone(), config: Arc::new(config) };
        Client::builder(TokioExecutor::new()).build(connector)
    }
}

fn connect(accept: &mpsc::UnboundedSender<DuplexStream>) -> io::Result<DuplexStream> {
    let (near, far) = tokio::io::duplex(64 * 1024);
    accept.send(far).map_err(|_| io::Error::from(io::ErrorKind::ConnectionRefused))?;
    Ok(near)
}

async fn serve(
    mut io: DuplexStream,
    handshake: Handshake,
    ready: mpsc::UnboundedSender<io::Result<server::TlsStream<DuplexStream>>>,
) -> io::Result<()> {
    match handshake {
        Handshake::Close => io.read_u8().await.map(drop),
        Handshake::Plaintext => {
            io.read_u8().await?;
            io.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await
        }
        Handshake::Tls(config) => {
            let stream = TlsAcceptor::from(config).accept(io).await?;
            if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
                drop(ready.send(Ok(stream)));
                return Ok(());
            }
            let mut stream = BufReader::new(stream);
            let mut line = String::new();
            while stream.read_line(&mut line).await? > 0 {
                if line == "\r\n" {
                    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await?;
                    stream.flush().await?;
                }
                line.clear();
            }
            Ok(())
        }
    }
}

/// Connects to a [`TlsServer`], and wraps what goes wrong as hyper-rustls does.
#[derive(Debug, Clone)]
pub struct TlsConnector {
    accept: mpsc::UnboundedSender<DuplexStream>,
    config: Arc<ClientConfig>,
}

impl Service<Uri> for TlsConnector {
    type Response = TokioIo<Pipe<client::TlsStream<DuplexStream>>>;
    type Error = Box<dyn std::error::Error + Send + Sync>;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Uri) -> Self::Future {
        let Self { accept, config } = self.clone();
        Box::pin(async move {
            let host = ServerName::try_from(HOST)?;
            let connector = tokio_rustls::TlsConnector::from(config);
            let stream = connector.connect(host, connect(&accept)?).await.map_err(io::Error::other)?;
            Ok(TokioIo::new(Pipe::new(stream)))
        })
    }
}

//! TLS.

use crate::io::dialer::BoxIo;
use gax_wire::__private::KnownProblem;
use gax_wire::ConnectProblem;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use std::sync::Arc;
use tokio_rustls::TlsConnector;
use tonic::codegen::StdError;

const HTTP2: &[u8] = b"h2";

/// How a connection is encrypted, by the names that tonic's `ClientTlsConfig` has.
///
/// # Defaults
///
/// No certificate authority is trusted until one is added. An `https` target without this setting trusts those of the
/// features `tls-native-roots` and `tls-webpki-roots`.
///
/// # Examples
///
/// ```no_run
/// use gax_connection::{ClientTls, Connection};
///
/// # fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let tls = ClientTls::new()
///     .ca_certificate(std::fs::read("ca.pem")?)
///     .identity(std::fs::read("client.pem")?, std::fs::read("client.key")?);
/// let connection = Connection::to("https://assets.internal").tls(tls).connect_lazy()?;
/// # drop(connection);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct ClientTls {
    authorities: Vec<Vec<u8>>,
    identity: Option<(Vec<u8>, Vec<u8>)>,
    server_name: Option<String>,
    wants_enabled_roots: bool,
    assumes_http2: bool,
}

impl ClientTls {
    /// TLS without trusted certificates.
    pub fn new() -> Self {
        Self::default()
    }

    /// Trusts the certificates in a text of PEM.
    pub fn ca_certificate(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.authorities.push(pem.into());
        self
    }

    /// Trusts the authorities that the features `tls-native-roots` (the system's) and `tls-webpki-roots` (Mozilla's) add.
    pub fn with_enabled_roots(self) -> Self {
        Self { wants_enabled_roots: true, ..self }
    }

    gax_text::setters! { self:
        /// The client's own certificate with its chain, and its key, both as PEM: for servers that ask for them.
        pub identity(certificates: impl Into<Vec<u8>>, key: impl Into<Vec<u8>>) =>
            self.identity = Some((certificates.into(), key.into()));

        /// The name that the server's certificate has to have. Default: the target's host.
        pub domain_name(name: impl Into<String>) => self.server_name = Some(name.into());

        /// Takes a server that negotiates no protocol for one of HTTP/2. Otherwise it has to negotiate it.
        pub assume_http2(assumes: bool) => self.assumes_http2 = assumes;
    }

    /// The maker of TLS connections to a host, unless another name is set.
    ///
    /// # Errors
    ///
    /// A certificate, a key or the name can't be read, or no crypto provider is there.
    pub(crate) fn connector(&self, host: &str) -> Result<Encryption, StdError> {
        let builder =
            ClientConfig::builder_with_provider(provider()?).with_safe_default_protocol_versions()?;
        let mut roots = RootCertStore::empty();
        if self.wants_enabled_roots {
            add_enabled_roots(&mut roots)?;
        }
        for pem in &self.authorities {
            let certificates = certificates(pem, "ca_certificate")?;
            if certificates.is_empty() {
                return Err("ca_certificate contains no certificate: it must be PEM text".into());
            }
            roots.add_parsable_certificates(certificates);
        }
        let builder = builder.with_root_certificates(roots);
        let mut config = match &self.identity {
            None => builder.with_no_client_auth(),
            Some((pem, key)) => {
                let certificates = certificates(pem, "the identity's certificates")?;
                let key = PrivateKeyDer::from_pem_slice(key)
                    .map_err(|error| format!("the identity's key can't be read: {error}"))?;
                builder.with_client_auth_cert(certificates, key)?
            }
        };
        config.alpn_protocols.push(HTTP2.to_vec());
        let name = self.server_name.as_deref().unwrap_or(host);
        let name = ServerName::try_from(name.to_owned())
            .map_err(|error| format!("{name:?} is not a name that a certificate can have: {error}"))?;
        let connector = TlsConnector::from(Arc::new(config));
        Ok(Encryption { connector, name, assumes_http2: self.assumes_http2 })
    }
}

/// The certificates in a text of PEM.
fn certificates(pem: &[u8], option: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let certificates = CertificateDer::pem_slice_iter(pem).collect::<Result<_, _>>();
    certificates.map_err(|error| format!("{option} can't be read: {error}"))
}

// Short: keys are left out.
gax_text::short_debug! { self: ClientTls { server_name: self.server_name } }

/// The crypto provider that the program has installed, or the one of the features.
#[cfg_attr(
    any(feature = "tls-ring", feature = "tls-aws-lc"),
    expect(clippy::unnecessary_wraps, reason = "without these features there may be none")
)]
fn provider() -> Result<Arc<rustls::crypto::CryptoProvider>, StdError> {
    if let Some(installed) = rustls::crypto::CryptoProvider::get_default() {
        return Ok(Arc::clone(installed));
    }
    #[cfg(feature = "tls-ring")]
    return Ok(Arc::new(rustls::crypto::ring::default_provider()));
    #[cfg(all(feature = "tls-aws-lc", not(feature = "tls-ring")))]
    return Ok(Arc::new(rustls::crypto::aws_lc_rs::default_provider()));
    #[cfg(not(any(feature = "tls-ring", feature = "tls-aws-lc")))]
    Err("TLS needs the feature tls-ring or tls-aws-lc, or an installed rustls::crypto::CryptoProvider".into())
}

#[cfg_attr(
    not(any(feature = "tls-native-roots", feature = "tls-webpki-roots")),
    expect(clippy::unnecessary_wraps, clippy::needless_pass_by_ref_mut, reason = "no roots are compiled in")
)]
fn add_enabled_roots(roots: &mut RootCertStore) -> Result<(), StdError> {
    #[cfg(feature = "tls-native-roots")]
    {
        let found = rustls_native_certs::load_native_certs();
        if found.certs.is_empty() {
            return Err("the system has no root certificates".into());
        }
        roots.add_parsable_certificates(found.certs);
    }
    #[cfg(feature = "tls-webpki-roots")]
    roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    #[cfg(not(any(feature = "tls-native-roots", feature = "tls-webpki-roots")))]
    let _ = roots;
    Ok(())
}

/// The maker of TLS connections.
#[derive(Clone)]
pub(crate) struct Encryption {
    connector: TlsConnector,
    name: ServerName<'static>,
    assumes_http2: bool,
}

impl Encryption {
    pub(crate) async fn connect(&self, io: BoxIo) -> Result<BoxIo, StdError> {
        let io = self.connector.connect(self.name.clone(), io).await?;
        let protocol = io.get_ref().1.alpn_protocol();
        if protocol != Some(HTTP2) && !self.assumes_http2 {
            let text = "HTTP/2 was not negotiated: the server speaks TLS, but not gRPC over it";
            return Err(KnownProblem::new(ConnectProblem::NoCommonProtocol, text).into());
        }
        Ok(Box::new(io))
    }
}

//! Why a connection can't be made.

use std::fmt;

/// Why a connection can't be made, if its error says so, and what to change.
///
/// Waiting helps with few of these. With the others the operation ends at once, with
/// [`StopReason::NonRetryable`](crate::StopReason::NonRetryable). A report names it in its
/// [notes](crate::Note::CannotConnect).
///
/// TLS errors are recognised if rustls does the TLS, with one of tonic's `tls-` features or the feature `http`.
///
/// # Examples
///
/// ```
/// use tonic_gax::{Note, OperationReport};
/// use tonic_gax::report::ConnectProblem;
///
/// fn clock_is_wrong(report: &OperationReport) -> bool {
///     report.notes().contains(&Note::CannotConnect(ConnectProblem::CertificateNotYetValid))
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ConnectProblem {
    /// The URI has no scheme or no host.
    IncompleteUri,
    /// The client's connector does not speak the URI's scheme: most often `https` without TLS.
    UnsupportedScheme,
    /// The server does not speak TLS.
    PlaintextServer,
    /// Client and server have no TLS version or cipher suite in common.
    IncompatibleTls,
    /// The server does not offer the version of HTTP that the client asks for (ALPN).
    NoCommonProtocol,
    /// The certificate of the server comes from an issuer that the client does not trust.
    UnknownIssuer,
    /// The certificate of the server is for another host.
    WrongHost,
    /// The certificate of the server has expired. A later attempt may find another one.
    CertificateExpired,
    /// The certificate of the server is not valid yet. A later attempt may find that it is.
    CertificateNotYetValid,
    /// The certificate of the server is revoked, malformed, badly signed or for another purpose.
    BadCertificate,
    /// The server wants a certificate of the client, or another one.
    ClientNotAccepted,
    /// The proxy on the way refuses to connect to the server (403), or wants other credentials (407).
    RefusedByProxy,
}

impl ConnectProblem {
    /// Whether a later attempt may succeed without a change to the client.
    #[must_use]
    pub const fn may_recover(self) -> bool {
        matches!(self, ConnectProblem::CertificateExpired | ConnectProblem::CertificateNotYetValid)
    }
}

impl fmt::Display for ConnectProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ConnectProblem::IncompleteUri => "the URI has no scheme or no host: write it as https://host/path",
            ConnectProblem::UnsupportedScheme => {
                "the client's connector does not speak the URI's scheme: for https build the client with TLS \
                 (tonic's tls_config, hyper-rustls, reqwest's rustls feature), else use a scheme that it speaks"
            }
            ConnectProblem::PlaintextServer => {
                "the server does not speak TLS: use its port for TLS, or http in place of https"
            }
            ConnectProblem::IncompatibleTls => {
                "client and server have no TLS version or cipher suite in common: enable one on either side, and \
                 check whether the server wants a certificate of the client"
            }
            ConnectProblem::NoCommonProtocol => {
                "the server does not offer the version of HTTP that the client asks for (ALPN; HTTP/2 for gRPC): enable it \
                 at the server or at the proxy before it"
            }
            ConnectProblem::UnknownIssuer => {
                "the server's certificate comes from an issuer that the client does not trust: add its root \
                 certificate to the client's TLS configuration"
            }
            ConnectProblem::WrongHost => {
                "the server's certificate is for another host: connect by a name that it lists, or set that name in \
                 the client's TLS configuration"
            }
            ConnectProblem::CertificateExpired => {
                "the server's certificate has expired: renew it, and check the clock of this machine"
            }
            ConnectProblem::CertificateNotYetValid => {
                "the server's certificate is not valid yet: check the clocks of both machines"
            }
            ConnectProblem::BadCertificate => {
                "the server's certificate is revoked, malformed, badly signed or for another purpose: replace it"
            }
            ConnectProblem::ClientNotAccepted => {
                "the server wants a certificate of the client, or another one: set the identity in the client's TLS \
                 configuration"
            }
            ConnectProblem::RefusedByProxy => {
                "the proxy on the way refuses the connection: give it credentials that it takes, have it allow the server, or \
                 exempt the server in no_proxy"
            }
        })
    }
}

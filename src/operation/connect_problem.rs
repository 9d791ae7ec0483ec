//! Why a connection can't be made.

use super::chain;
use std::error::Error;
use std::fmt;

/// Why a connection can't be made, where its error says so, and what to change.
///
/// Most of these don't get better by waiting: the operation ends at once then, with
/// [`StopReason::NonRetryable`](crate::StopReason::NonRetryable). A report names it in its
/// [notes](crate::Note::CannotConnect).
///
/// TLS errors are read where they are rustls's, with one of tonic's `tls-` features or the feature `http`.
///
/// # Examples
///
/// ```
/// use tonic_gax::{ConnectProblem, Note, OperationReport};
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
}

impl ConnectProblem {
    /// Whether a later attempt may succeed although nobody changes the client.
    #[must_use]
    pub const fn may_recover(self) -> bool {
        matches!(self, ConnectProblem::CertificateExpired | ConnectProblem::CertificateNotYetValid)
    }

    /// What an error says of it.
    pub(crate) fn of(error: &(dyn Error + 'static)) -> Option<Self> {
        let mut is_connected = false;
        chain(error).find_map(|link| {
            is_connected |= link.is::<hyper::Error>();
            #[cfg(feature = "_rustls")]
            if let Some(error) = link.downcast_ref::<rustls::Error>() {
                return of_rustls(error, is_connected);
            }
            if is_connected { None } else { of_words(&link.to_string()) }
        })
    }
}

/// Connectors say these things with errors of private types.
fn of_words(words: &str) -> Option<ConnectProblem> {
    const WORDS: [(&str, ConnectProblem); 7] = [
        // hyper-util's, which reqwest has too, and hyper-tls's.
        ("invalid URL, scheme is missing", ConnectProblem::IncompleteUri),
        ("invalid URL, host is missing", ConnectProblem::IncompleteUri),
        ("invalid URL, scheme", ConnectProblem::UnsupportedScheme),
        // hyper-rustls's.
        ("missing scheme", ConnectProblem::IncompleteUri),
        ("unsupported scheme", ConnectProblem::UnsupportedScheme),
        // tonic's.
        ("Connecting to HTTPS without TLS enabled", ConnectProblem::UnsupportedScheme),
        ("HTTP/2 was not negotiated", ConnectProblem::NoCommonProtocol),
    ];
    WORDS.into_iter().find(|(start, _)| words.starts_with(start)).map(|(_, problem)| problem)
}

#[cfg(feature = "_rustls")]
fn of_rustls(error: &rustls::Error, is_connected: bool) -> Option<ConnectProblem> {
    use rustls::{AlertDescription as Alert, Error as Tls};
    match error {
        Tls::InvalidCertificate(error) => of_certificate(error),
        Tls::NoCertificatesPresented | Tls::UnsupportedNameType => Some(ConnectProblem::BadCertificate),
        // Later on, these are bytes that went astray.
        Tls::InvalidMessage(_) if !is_connected => Some(ConnectProblem::PlaintextServer),
        Tls::PeerIncompatible(_) => Some(ConnectProblem::IncompatibleTls),
        Tls::NoApplicationProtocol => Some(ConnectProblem::NoCommonProtocol),
        Tls::AlertReceived(alert) => match alert {
            Alert::ProtocolVersion | Alert::HandshakeFailure | Alert::InsufficientSecurity => {
                Some(ConnectProblem::IncompatibleTls)
            }
            Alert::NoApplicationProtocol => Some(ConnectProblem::NoCommonProtocol),
            Alert::UnrecognisedName => Some(ConnectProblem::WrongHost),
            Alert::CertificateRequired
            | Alert::NoCertificate
            | Alert::BadCertificate
            | Alert::UnsupportedCertificate
            | Alert::CertificateRevoked
            | Alert::CertificateExpired
            | Alert::CertificateUnknown
            | Alert::UnknownCA
            | Alert::AccessDenied => Some(ConnectProblem::ClientNotAccepted),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(feature = "_rustls")]
fn of_certificate(error: &rustls::CertificateError) -> Option<ConnectProblem> {
    use rustls::CertificateError as Certificate;
    match error {
        Certificate::Expired | Certificate::ExpiredContext { .. } => Some(ConnectProblem::CertificateExpired),
        Certificate::NotValidYet | Certificate::NotValidYetContext { .. } => {
            Some(ConnectProblem::CertificateNotYetValid)
        }
        Certificate::UnknownIssuer => Some(ConnectProblem::UnknownIssuer),
        Certificate::NotValidForName | Certificate::NotValidForNameContext { .. } => {
            Some(ConnectProblem::WrongHost)
        }
        // Whether it is revoked is perhaps known later, and what a verifier of the program's own says is for it to know.
        Certificate::UnknownRevocationStatus
        | Certificate::ExpiredRevocationList
        | Certificate::ExpiredRevocationListContext { .. }
        | Certificate::InvalidOcspResponse
        | Certificate::ApplicationVerificationFailure => None,
        // A root certificate that a server shows as its own is no kind of its own.
        Certificate::Other(other) => {
            format!("{other:?}").contains("CaUsedAsEndEntity").then_some(ConnectProblem::BadCertificate)
        }
        _ => Some(ConnectProblem::BadCertificate),
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
        })
    }
}

#[cfg(all(test, feature = "_rustls"))]
mod tests {
    use super::*;
    use rustls::{
        AlertDescription as Alert, CertificateError as Certificate, Error as Tls, PeerIncompatible,
    };
    use std::io;

    fn of(error: Tls) -> Option<ConnectProblem> {
        ConnectProblem::of(&io::Error::other(io::Error::new(io::ErrorKind::InvalidData, error)))
    }

    #[test]
    fn of_tls_errors_wrapped_twice() {
        for (error, problem) in [
            (Tls::InvalidCertificate(Certificate::NotValidForName), Some(ConnectProblem::WrongHost)),
            (Tls::InvalidCertificate(Certificate::Expired), Some(ConnectProblem::CertificateExpired)),
            (Tls::InvalidCertificate(Certificate::Revoked), Some(ConnectProblem::BadCertificate)),
            (Tls::InvalidCertificate(Certificate::UnknownRevocationStatus), None),
            (Tls::AlertReceived(Alert::UnrecognisedName), Some(ConnectProblem::WrongHost)),
            (Tls::AlertReceived(Alert::UnknownCA), Some(ConnectProblem::ClientNotAccepted)),
            (Tls::AlertReceived(Alert::ProtocolVersion), Some(ConnectProblem::IncompatibleTls)),
            (Tls::AlertReceived(Alert::InternalError), None),
            (
                Tls::PeerIncompatible(PeerIncompatible::NoCipherSuitesInCommon),
                Some(ConnectProblem::IncompatibleTls),
            ),
            (Tls::DecryptError, None),
        ] {
            assert_eq!(of(error.clone()), problem, "{error:?}");
        }
    }

    #[test]
    fn of_what_connectors_say() {
        for (words, problem) in [
            ("invalid URL, host is missing", Some(ConnectProblem::IncompleteUri)),
            ("missing scheme", Some(ConnectProblem::IncompleteUri)),
            ("unsupported scheme gopher", Some(ConnectProblem::UnsupportedScheme)),
            ("dns error", None),
        ] {
            assert_eq!(ConnectProblem::of(&io::Error::other(words)), problem, "{words}");
        }
    }
}

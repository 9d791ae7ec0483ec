//! Why a connection can't be made, read from the error's chain of sources.

use crate::operation::ConnectProblem;
use crate::transport::chain::chain;
use std::error::Error;
use std::fmt;

/// An `https` target is to be spoken to without TLS.
#[derive(Debug)]
pub(crate) struct NoTls;

impl fmt::Display for NoTls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "https needs TLS: enable the feature tls-ring or tls-aws-lc, and tls-native-roots or tls-webpki-roots",
        )
    }
}

impl Error for NoTls {}

impl ConnectProblem {
    /// The problem that an error speaks of.
    pub(crate) fn of(error: &(dyn Error + 'static)) -> Option<Self> {
        let mut is_connected = false;
        chain(error).find_map(|link| {
            if link.is::<NoTls>() {
                return Some(Self::UnsupportedScheme);
            }
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
    const WORDS: [(&str, ConnectProblem); 8] = [
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
        // A connection's own.
        ("the proxy refuses: ", ConnectProblem::RefusedByProxy),
    ];
    WORDS.into_iter().find(|(start, _)| words.starts_with(start)).map(|(_, problem)| problem)
}

#[cfg(feature = "_rustls")]
fn of_rustls(error: &rustls::Error, is_connected: bool) -> Option<ConnectProblem> {
    use rustls::{AlertDescription as Alert, Error as Tls};
    match error {
        Tls::InvalidCertificate(error) => of_certificate(error),
        Tls::NoCertificatesPresented | Tls::UnsupportedNameType => Some(ConnectProblem::BadCertificate),
        // On a connection that was made, it is garbage, not a server without TLS.
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
        // Revocation may be known later, and the result of the program's own verifier means whatever it decides.
        Certificate::UnknownRevocationStatus
        | Certificate::ExpiredRevocationList
        | Certificate::ExpiredRevocationListContext { .. }
        | Certificate::InvalidOcspResponse
        | Certificate::ApplicationVerificationFailure => None,
        // rustls has no variant for a root certificate that a server uses as its own.
        Certificate::Other(other) => {
            format!("{other:?}").contains("CaUsedAsEndEntity").then_some(ConnectProblem::BadCertificate)
        }
        _ => Some(ConnectProblem::BadCertificate),
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
            ("the proxy refuses: it replied 407", Some(ConnectProblem::RefusedByProxy)),
            ("dns error", None),
        ] {
            assert_eq!(ConnectProblem::of(&io::Error::other(words)), problem, "{words}");
        }
    }
}

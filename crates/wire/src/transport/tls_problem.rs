//! Why TLS can't be spoken, where rustls implements it.

use crate::transport::connect_problem::ConnectProblem;
use rustls::{AlertDescription as Alert, CertificateError as Certificate, Error as Tls};

/// The problem that an error of rustls speaks of, on a connection that was made or on one that was not.
pub(super) fn of_rustls(error: &Tls, is_connected: bool) -> Option<ConnectProblem> {
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

fn of_certificate(error: &Certificate) -> Option<ConnectProblem> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::PeerIncompatible;
    use std::io;

    fn of(error: Tls) -> Option<ConnectProblem> {
        ConnectProblem::behind(&io::Error::other(io::Error::new(io::ErrorKind::InvalidData, error)))
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
}

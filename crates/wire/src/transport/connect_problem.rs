//! Why a connection can't be made, read from the error's chain of sources.

use crate::transport::chain::{chain, text_of};
use gax_driver::{Note, OperationReport};
use gax_text::Escaped;
use std::borrow::Cow;
use std::error::Error;
use std::fmt;

/// Why a connection can't be made, if its error says so, and what to change.
///
/// Few of these can recover. With the others, the operation ends immediately, with
/// [`StopReason::NonRetryable`](gax_retry::StopReason::NonRetryable). A report names it in its [notes](Self::note).
///
/// TLS errors are recognised if rustls implements TLS, with the feature `rustls`.
///
/// # Examples
///
/// ```
/// use gax_driver::OperationReport;
/// use gax_wire::ConnectProblem;
///
/// fn clock_is_wrong(report: &OperationReport) -> bool {
///     ConnectProblem::of(report) == Some(ConnectProblem::CertificateNotYetValid)
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
    /// The proxy on the way refuses to connect to the server (403, 405; SOCKS 2, 7, 8), or wants other credentials (407).
    RefusedByProxy,
    /// The server at the proxy's address is not a proxy of that kind.
    UnusableProxy,
    /// The server speaks TLS, and the client does not.
    EncryptedServer,
    /// The system has no such address: the path of a Unix socket is too long, for example.
    UnusableAddress,
}

/// The note of each problem in a report, in the form `Problem = "name", "text";`.
macro_rules! notes {
    ($($problem:ident = $name:literal, $text:literal;)+) => {
        const ALL: &[Self] = &[$(Self::$problem),+];

        /// Its note in a report.
        #[must_use]
        pub const fn note(self) -> Note {
            Note::new(match self {
                $(Self::$problem => &($name, $text),)+
            })
        }
    };
}

impl ConnectProblem {
    /// Returns whether a later attempt may succeed without a change to the client.
    #[must_use]
    pub const fn may_recover(self) -> bool {
        matches!(self, ConnectProblem::CertificateExpired | ConnectProblem::CertificateNotYetValid)
    }

    /// The problem that the notes of a report name.
    #[must_use]
    pub fn of(report: &OperationReport) -> Option<Self> {
        Self::ALL.iter().copied().find(|problem| report.notes().contains(&problem.note()))
    }

    notes! {
        IncompleteUri = "connect.incomplete_uri",
            "the URI has no scheme or no host: write it as https://host/path";
        UnsupportedScheme = "connect.unsupported_scheme",
            "the client's connector does not support the URI's scheme: for https build the client with TLS \
            (tonic's tls_config, hyper-rustls, reqwest's rustls feature), otherwise use a scheme that it supports";
        PlaintextServer = "connect.plaintext_server",
            "the server does not speak TLS: use its port for TLS, or http instead of https";
        IncompatibleTls = "connect.incompatible_tls",
            "client and server have no TLS version or cipher suite in common: enable one on either side, and \
            check whether the server requires a client certificate";
        NoCommonProtocol = "connect.no_common_protocol",
            "the server does not offer the version of HTTP that the client asks for (ALPN; HTTP/2 for gRPC): enable it \
            on the server or on the proxy in front of it";
        UnknownIssuer = "connect.unknown_issuer",
            "the server's certificate comes from an issuer that the client does not trust: add its root \
            certificate to the client's TLS configuration";
        WrongHost = "connect.wrong_host",
            "the server's certificate is for another host: connect by a name that it lists, or set that name in \
            the client's TLS configuration";
        CertificateExpired = "connect.certificate_expired",
            "the server's certificate has expired: renew it, and check the clock of this machine";
        CertificateNotYetValid = "connect.certificate_not_yet_valid",
            "the server's certificate is not valid yet: check the clocks of both machines";
        BadCertificate = "connect.bad_certificate",
            "the server's certificate is revoked, malformed, badly signed or for another purpose: replace it";
        ClientNotAccepted = "connect.client_not_accepted",
            "the server requires a client certificate, or a different one: set the identity in the client's TLS \
            configuration";
        RefusedByProxy = "connect.refused_by_proxy",
            "the proxy rejects the connection: give it valid credentials, let it allow the server, or exempt the server \
            with no_proxy";
        UnusableProxy = "connect.unusable_proxy",
            "the server at the proxy's address is not a proxy of that kind: check its scheme, host and port";
        EncryptedServer = "connect.encrypted_server",
            "the server speaks TLS: write https, or enable TLS in the client";
        UnusableAddress = "connect.unusable_address",
            "the system has no such address: shorten the path of the Unix socket";
    }

    /// The problem that an error speaks of.
    pub fn behind(error: &(dyn Error + 'static)) -> Option<Self> {
        let mut is_connected = false;
        chain(error).find_map(|link| {
            if let Some(known) = link.downcast_ref::<KnownProblem>() {
                return Some(known.problem);
            }
            is_connected |= link.is::<hyper::Error>();
            #[cfg(feature = "rustls")]
            if let Some(error) = link.downcast_ref::<rustls::Error>() {
                return super::tls_problem::of_rustls(error, is_connected);
            }
            if is_connected { None } else { of_words(&link.to_string()) }
        })
    }
}

/// The problem, and the change that helps.
impl fmt::Display for ConnectProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.note().fmt(f)
    }
}

/// An error of our own crates, which know its problem.
#[derive(Debug)]
pub struct KnownProblem {
    problem: ConnectProblem,
    text: Cow<'static, str>,
}

impl KnownProblem {
    /// An `https` target is to be spoken to without TLS.
    pub const NO_TLS: Self = Self {
        problem: ConnectProblem::UnsupportedScheme,
        text: Cow::Borrowed(
            "https needs TLS: enable the feature tls-ring or tls-aws-lc, and tls-native-roots or tls-webpki-roots",
        ),
    };

    /// An error of that text.
    pub fn new(problem: ConnectProblem, text: impl Into<Cow<'static, str>>) -> Self {
        Self { problem, text: text.into() }
    }
}

gax_text::error_text! { KnownProblem { text }, "{text}" }

/// The messages of an error and of all its sources, which may repeat what a server sent, and what to do about it, if that is known.
pub fn explain(error: &(dyn Error + 'static)) -> String {
    let mut text = text_of(error);
    if let Some(problem) = ConnectProblem::behind(error) {
        text.push_str(": ");
        text.push_str(&problem.to_string());
    }
    Escaped(text).to_string()
}

/// Connectors say these things with errors of private types.
fn of_words(words: &str) -> Option<ConnectProblem> {
    const WORDS: [(&str, ConnectProblem); 16] = [
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
        // Those of hyper-util's proxies, which reqwest has too.
        ("tunnel error: proxy authorization required", ConnectProblem::RefusedByProxy),
        ("tunnel error: proxy response headers too long", ConnectProblem::UnusableProxy),
        ("SOCKS error: connection not allowed", ConnectProblem::RefusedByProxy),
        ("SOCKS error: command not supported", ConnectProblem::RefusedByProxy),
        ("SOCKS error: address type not supported", ConnectProblem::RefusedByProxy),
        ("SOCKS error: credentials not accepted", ConnectProblem::RefusedByProxy),
        ("SOCKS error: server does not support user/pass", ConnectProblem::RefusedByProxy),
        ("SOCKS error: server implements authentication incorrectly", ConnectProblem::UnusableProxy),
        ("SOCKS error: failed parsing server response", ConnectProblem::UnusableProxy),
    ];
    WORDS.into_iter().find(|(start, _)| words.starts_with(start)).map(|(_, problem)| problem)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    #[test]
    fn of_what_connectors_say() {
        for (words, problem) in [
            ("invalid URL, host is missing", Some(ConnectProblem::IncompleteUri)),
            ("missing scheme", Some(ConnectProblem::IncompleteUri)),
            ("unsupported scheme gopher", Some(ConnectProblem::UnsupportedScheme)),
            ("tunnel error: proxy authorization required", Some(ConnectProblem::RefusedByProxy)),
            ("SOCKS error: connection not allowed", Some(ConnectProblem::RefusedByProxy)),
            ("SOCKS error: host unreachable", None),
            ("dns error", None),
        ] {
            assert_eq!(ConnectProblem::behind(&io::Error::other(words)), problem, "{words}");
        }
    }
}

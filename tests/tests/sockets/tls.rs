//! Connections that can't be made, by TLS handshakes above all: what can't get better ends the operation and says
//! why, in its message and in its report.
#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "what fails here fails a test")]

use bytes::Bytes;
use gax_client::GrpcTransport;
use gax_http::{HttpRetryLayer, OperationOptions, ReqwestService, TransportFailure};
use gax_retry::{Code, RetrySettings, StopReason};
use gax_wire::ConnectProblem;
use http_body_util::Full;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use tokio_rustls::rustls::version::{TLS12, TLS13};
use tonic_gax::{Note, OperationReport};
use tonic_gax_tests::generated::google::cloud::asset::v1::ListAssetsRequest;
use tonic_gax_tests::{
    Authority, Handshake, Setup, Stack, TlsServer, codes, error_report, failed, lasting, report_of, reported,
};
use tower_service::Service;

const DOWN: Code = Code::Unavailable;

/// Five attempts of a second, 200 ms apart.
fn settings() -> RetrySettings {
    lasting(10_000).to_builder().max_attempts(5).build().unwrap()
}

fn layer() -> HttpRetryLayer {
    HttpRetryLayer::new(&settings(), [DOWN]).options(OperationOptions::new().reports(true))
}

/// A server's handshakes that are final, the problem that each is, and its message.
fn hopeless(ours: &Authority, protocol: &str) -> Vec<(Handshake, ConnectProblem, &'static str)> {
    let theirs = Authority::new("theirs");
    let protocols = &[protocol];
    vec![
        (
            ours.server("other.test", [2000, 4000], protocols),
            ConnectProblem::WrongHost,
            "the server's certificate is for another host: connect by a name that it lists, or set that name in the \
             client's TLS configuration",
        ),
        (
            theirs.good(protocols),
            ConnectProblem::UnknownIssuer,
            "the server's certificate comes from an issuer that the client does not trust: add its root certificate \
             to the client's TLS configuration",
        ),
        (
            ours.itself(protocols),
            ConnectProblem::BadCertificate,
            "the server's certificate is revoked, malformed, badly signed or for another purpose: replace it",
        ),
        (
            Handshake::Plaintext,
            ConnectProblem::PlaintextServer,
            "the server does not speak TLS: use its port for TLS, or http instead of https",
        ),
        (
            ours.good(&["something-else"]),
            ConnectProblem::NoCommonProtocol,
            "the server does not offer the version of HTTP that the client asks for (ALPN; HTTP/2 for gRPC): enable it on \
             the server or on the proxy in front of it",
        ),
        (
            ours.mutual(&TLS12, protocols),
            ConnectProblem::ClientNotAccepted,
            "the server requires a client certificate, or a different one: set the identity in the client's TLS \
             configuration",
        ),
    ]
}

/// Calls over such a connection end there, whichever client makes them.
async fn grpc_ends<T: GrpcTransport + Sync>(ours: &Authority, connect: impl Fn(&TlsServer) -> T) {
    let mut servers = hopeless(ours, "h2");
    let without_alpn = (ours.good(&[]), servers[4].1, servers[4].2);
    servers.push(without_alpn);
    for (handshake, problem, words) in servers {
        for stack in Stack::ALL {
            let server = TlsServer::start([handshake.clone()]);
            let mut caller = stack.caller(connect(&server), &Setup::new(settings()));
            let status = caller.list(ListAssetsRequest::default()).await.unwrap_err();
            let report = error_report(&status);
            assert_eq!(status.code(), tonic::Code::Unavailable, "{problem:?}: {status}");
            assert!(status.message().ends_with(words), "{problem:?}: {status}");
            assert_eq!(codes(&report), [DOWN], "{problem:?} {stack:?}");
            assert_eq!(report.stop_reason(), Some(StopReason::NonRetryable), "{problem:?} {stack:?}");
            assert_eq!(report.notes(), [problem.note()], "{stack:?}");
            assert!(report.to_string().contains(words), "{report}");
            assert_eq!(server.connections(), 1, "{problem:?} {stack:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn grpc_ends_where_no_other_attempt_can_do_better() {
    let ours = Authority::new("ours");
    grpc_ends(&ours, |server| server.channel(Some(ours.channel_tls()))).await;
}

#[tokio::test(start_paused = true)]
async fn connections_of_our_own_end_there_too() {
    let ours = Authority::new("ours");
    grpc_ends(&ours, |server| server.connection(ours.connection_tls())).await;
    let server = TlsServer::start([ours.good(&["h2"])]);
    let mut caller = Stack::Layer.caller(server.connection(ours.connection_tls()), &Setup::new(settings()));
    caller.list(ListAssetsRequest::default()).await.unwrap();
}

const URL: &str = "https://server.test/thing";

#[tokio::test(start_paused = true)]
async fn http_ends_where_no_other_attempt_can_do_better() {
    let ours = Authority::new("ours");
    let mut servers = hopeless(&ours, "http/1.1");
    // By TLS 1.3 it comes after the handshake. An HTTP/2 connection keeps it to itself.
    let later = (ours.mutual(&TLS13, &["http/1.1"]), servers[5].1, servers[5].2);
    servers.push(later);
    for (handshake, problem, words) in servers {
        let server = TlsServer::start([handshake]);
        let client = server.http_client::<Full<Bytes>>(ours.client_tls(&[&TLS12, &TLS13], &["http/1.1"]));
        let error = failed(&mut layer().layer(client), URL).await;
        let report = error.report();
        assert_eq!(codes(report), [DOWN], "{problem:?}: {error}");
        assert!(error.to_string().ends_with(words), "{problem:?}: {error}");
        assert_eq!(report.stop_reason(), Some(StopReason::NonRetryable), "{problem:?}");
        assert_eq!(report.notes(), [problem.note()]);
        assert!(report.to_string().contains(words), "{report}");
        assert_eq!(server.connections(), 1, "{problem:?}");
    }
}

/// Handshakes that may recover: a certificate that is renewed, a clock that is set right, a server that comes up.
fn hopeful(ours: &Authority, protocol: &str) -> Vec<(Handshake, Vec<Note>)> {
    vec![
        (
            ours.server("server.test", [2000, 2001], &[protocol]),
            vec![ConnectProblem::CertificateExpired.note()],
        ),
        (
            ours.server("server.test", [3999, 4000], &[protocol]),
            vec![ConnectProblem::CertificateNotYetValid.note()],
        ),
        (Handshake::Close, vec![]),
    ]
}

#[tokio::test(start_paused = true)]
async fn grpc_waits_for_what_may_recover() {
    let ours = Authority::new("ours");
    for (handshake, notes) in hopeful(&ours, "h2") {
        for stack in Stack::ALL {
            let server = TlsServer::start([handshake.clone(), handshake.clone(), ours.good(&["h2"])]);
            let mut caller = stack.caller(server.channel(Some(ours.channel_tls())), &Setup::new(settings()));
            let report = report_of(&caller.list(reported(ListAssetsRequest::default())).await);
            assert_eq!(codes(&report), [DOWN, DOWN, Code::Ok], "{notes:?} {stack:?}: {report}");
            assert_eq!(report.notes(), notes, "{stack:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn http_waits_for_what_may_recover() {
    let ours = Authority::new("ours");
    for (handshake, notes) in hopeful(&ours, "http/1.1") {
        let server = TlsServer::start([handshake.clone(), handshake, ours.good(&["http/1.1"])]);
        let client = server.http_client(ours.client_tls(&[&TLS12, &TLS13], &["http/1.1"]));
        let request = http::Request::post(URL).body(Full::<Bytes>::default()).unwrap();
        let response = layer().layer(client).call(request).await.unwrap();
        let report = response.extensions().get::<OperationReport>().unwrap();
        assert_eq!(codes(report), [DOWN, DOWN, Code::Ok], "{notes:?}: {report}");
        assert_eq!(report.notes(), notes);
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_common_version_of_tls() {
    let ours = Authority::new("ours");
    let server = TlsServer::start([ours.good(&["http/1.1"])]);
    let client = server.http_client(ours.client_tls(&[&TLS12], &["http/1.1"]));
    let response =
        layer().layer(client).call(http::Request::get(URL).body(Full::<Bytes>::default()).unwrap());
    assert_eq!(response.await.unwrap().status(), 200);
    let server = TlsServer::start([ours.mutual(&TLS13, &["http/1.1"])]);
    let client = server.http_client::<Full<Bytes>>(ours.client_tls(&[&TLS12], &["http/1.1"]));
    let error = failed(&mut layer().layer(client), URL).await;
    assert_eq!(error.report().notes(), [ConnectProblem::IncompatibleTls.note()], "{error}");
    assert_eq!(error.failure(), Some(TransportFailure::Connect));
}

/// `https` over a connector that doesn't speak TLS.
#[tokio::test]
async fn a_scheme_that_the_client_does_not_speak_is_final() {
    let plain = Client::builder(TokioExecutor::new()).build_http::<Full<Bytes>>();
    let reqwest = ReqwestService::new(reqwest::Client::new());
    for (error, method) in [
        (failed(&mut layer().layer(plain.clone()), "https://127.0.0.1:1/thing").await, "GET /thing"),
        (
            failed::<_, Full<Bytes>>(&mut layer().layer(reqwest), "https://127.0.0.1:1/thing").await,
            "GET /thing",
        ),
        (failed(&mut layer().layer(plain), "gopher://127.0.0.1:1/thing").await, "GET /thing"),
    ] {
        let report = error.report();
        assert_eq!(
            error.to_string().split(" in ").next().unwrap(),
            format!("{method} failed after 1 attempt"),
            "{error}"
        );
        assert!(
            error.to_string().ends_with(
                "(NON_RETRYABLE): the request can't be sent: the client's connector does not support the URI's \
                 scheme: for https build the client with TLS (tonic's tls_config, hyper-rustls, reqwest's rustls feature), otherwise \
                 use a scheme that it supports"
            ),
            "{error}"
        );
        assert_eq!((error.failure(), codes(report)), (None, vec![Code::Unknown]));
        assert_eq!(report.notes(), [ConnectProblem::UnsupportedScheme.note()]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_channel_without_tls_takes_no_https() {
    let server = TlsServer::start([Handshake::Close]);
    for stack in Stack::ALL {
        let mut caller = stack.caller(server.channel(None), &Setup::new(settings()));
        let status = caller.list(ListAssetsRequest::default()).await.unwrap_err();
        let report = error_report(&status);
        assert_eq!((codes(&report), report.stop_reason()), (vec![DOWN], Some(StopReason::NonRetryable)));
        assert_eq!(report.notes(), [ConnectProblem::UnsupportedScheme.note()], "{status}");
    }
}

//! Attempts of transfers count as those of any other HTTP request.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use super::object::{storage_of, to_object};
use super::setup::{KIB_256, client, content, with_layer};
use gax_http::{HttpRetryLayer, HttpRetryService, ReplayBody, ReqwestService, note, presets};
use gax_retry::Attempt;
use gax_testing::{HttpChange, StorageCall, StorageEmulator, StorageFault, StorageObject};
use gax_transfer::{
    Checksums, Download, TransferError, TransferErrorKind, TransferService, Upload, UploadSession,
};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use tonic_gax::{Code, Note, OperationReport, StopReason};
use tonic_gax_tests::{
    FaultServer, HttpAct, HttpScript, RawFrame, RawServer, http2_client, lasting, ms, settings,
};

const URL: &str = "http://server/thing";
const DOWN: Code = Code::Unavailable;

/// Attempts of a second, 200 ms apart.
fn layer() -> HttpRetryLayer {
    HttpRetryLayer::new(&settings(), [DOWN])
}

fn download(url: &str) -> Download<'static> {
    Download::new(http::Request::get(url).body(()).unwrap())
}

async fn failed<S: TransferService>(client: &HttpRetryService<S>) -> TransferError {
    download(URL).to_bytes(client).await.unwrap_err()
}

fn codes(report: &OperationReport) -> Vec<Code> {
    report.attempts().iter().map(Attempt::code).collect()
}

/// A server that breaks HTTP/2 costs the connection, which others may have shared: nobody is blamed for it.
#[tokio::test(start_paused = true)]
async fn a_response_that_costs_the_connection_is_retried() {
    let wait = RawFrame::Wait(ms(30));
    for play in [vec![wait, RawFrame::Garbage], vec![RawFrame::Headers, wait, RawFrame::Garbage]] {
        let server = RawServer::start([play.clone(), play.clone(), play.clone(), play.clone()]);
        let client = layer().layer(http2_client(server.connector()));
        let (_, transferred) = download(URL).to_bytes(&client).await.unwrap();
        assert_eq!(codes(transferred.report()), [DOWN, DOWN, DOWN, DOWN, Code::Ok], "{play:?}");
        assert_eq!(server.requests(), [1, 2, 3, 4, 5], "{play:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_response_that_can_not_be_read_is_noted() {
    let script = HttpScript::always(HttpAct::Raw(b"HTTP/1.1 2x0 OK\r\n\r\n".to_vec()));
    let (server, connector) = FaultServer::in_memory(script);
    let error = failed(&layer().layer(FaultServer::client(connector))).await;
    let report = error.report().unwrap();
    assert_eq!((codes(report), report.notes()), (vec![Code::Internal], &[Note::UNREADABLE_RESPONSE][..]));
    assert_eq!((error.kind(), server.arrivals().len()), (TransferErrorKind::Connection, 1));
}

#[tokio::test(start_paused = true)]
async fn the_delay_in_a_json_body_is_heeded() {
    let info = r#"{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"3s"}"#;
    let refused = || {
        let body = format!(r#"{{"error":{{"code":503,"details":[{info}]}}}}"#);
        HttpAct::status(503).with_header("retry-after", "1").with_body(body)
    };
    let (server, connector) = FaultServer::in_memory(HttpScript::new([refused()]));
    let client = layer().layer(FaultServer::client(connector));
    download(URL).to_bytes(&client).await.unwrap();
    assert_eq!(server.times(), [0, 3200]);
    // An upload and the end of its session, too.
    let (server, connector) = FaultServer::in_memory(HttpScript::new([refused(), HttpAct::status(204)]));
    let client = layer().layer(FaultServer::client(connector));
    UploadSession::from_uri(URL).unwrap().cancel(&client).await.unwrap();
    assert_eq!(server.times(), [0, 3200]);
}

/// The server has begun to send all of it again, and ends behind fewer bytes than have come already.
#[tokio::test(start_paused = true)]
async fn a_prefix_alone_is_not_the_end() {
    // A response of no known length.
    let chunked = |chunks: &str| {
        let head = "HTTP/1.1 200 OK\r\netag: \"a\"\r\ntransfer-encoding: chunked\r\n\r\n";
        HttpAct::Raw(format!("{head}{chunks}").into_bytes())
    };
    let script = HttpScript::new([
        chunked("5\r\n01234\r\n"),
        chunked("3\r\n012\r\n0\r\n\r\n"),
        chunked("a\r\n0123456789\r\n0\r\n\r\n"),
    ]);
    let (server, connector) = FaultServer::in_memory(script);
    let layer = HttpRetryLayer::new(&settings(), [Code::DeadlineExceeded, DOWN]);
    let client = layer.layer(FaultServer::client(connector));
    let (bytes, downloaded) = download(URL).to_bytes(&client).await.unwrap();
    assert_eq!((&bytes[..], server.arrivals().len()), (&b"0123456789"[..], 3), "{}", downloaded.report());
}

/// To be sent elsewhere leads nowhere: the failure before is why the transfer ends.
#[tokio::test(start_paused = true)]
async fn a_redirect_does_not_hide_the_failure_before_it() {
    let redirect = || HttpAct::status(307).with_header("location", "/there");
    let script = HttpScript::new([HttpAct::status(503), redirect(), redirect()]);
    let (server, connector) = FaultServer::in_memory(script);
    let client = HttpRetryLayer::new(&lasting(300), [DOWN]).layer(FaultServer::client(connector));
    let error = failed(&client).await;
    assert_eq!((error.status(), server.times()), (Some(503), vec![0, 200, 200]), "{error}");
    assert_eq!(error.report().unwrap().stop_reason(), Some(StopReason::TotalTimeout));
}

/// The head of a response says what was refused, and more of it is not waited for.
#[tokio::test(start_paused = true)]
async fn a_refusal_that_is_cut_off_is_one() {
    let cut = [HttpChange::Status(403), HttpChange::Body("forbidden".into()), HttpChange::Cut(2)];
    let (_server, connector) = FaultServer::in_memory(HttpScript::always(HttpAct::Forward(cut.to_vec())));
    let upload = Upload::new(http::Request::post(URL).body(()).unwrap(), "bytes").single_request_below(0);
    let error = upload.send(&layer().layer(FaultServer::client(connector))).await.unwrap_err();
    assert_eq!((error.status(), codes(error.report().unwrap())), (Some(403), vec![Code::PermissionDenied]));
}

/// Nothing is missing in the response, and not all that was requested is in it.
#[tokio::test(start_paused = true)]
async fn a_range_shorter_than_requested_is_followed_by_the_rest() {
    let range = |range: &str, body: &'static str| {
        let response = HttpAct::status(206).with_header("etag", "\"a\"");
        response.with_header("content-range", &format!("bytes {range}/10")).with_body(body)
    };
    let script = HttpScript::new([range("0-4", "01234"), range("5-6", "56"), range("7-9", "789")]);
    let (server, connector) = FaultServer::in_memory(script);
    let (bytes, _) = download(URL).to_bytes(&layer().layer(FaultServer::client(connector))).await.unwrap();
    assert_eq!((&bytes[..], server.arrivals().len()), (&b"0123456789"[..], 3));
}

/// The server had given the idle connection up when the request went out. All requests of a transfer are safe to retry.
#[tokio::test]
async fn a_408_on_a_connection_that_was_used_before_is_a_closed_connection() {
    let parting = || HttpAct::status(408).with_header("connection", "close");
    let ok = || HttpAct::status(200);
    let script = HttpScript::new([ok(), parting(), ok(), parting(), HttpAct::status(403)]);
    let (server, url) = FaultServer::on_socket(script).await;
    let pooled: Client<_, ReplayBody> = Client::builder(TokioExecutor::new()).build_http();
    let client = layer().layer(pooled);
    download(&url).to_bytes(&client).await.unwrap();
    let (_, downloaded) = download(&url).to_bytes(&client).await.unwrap();
    let report = downloaded.report();
    assert_eq!((codes(report), report.transparent_retries(), server.accepted()), (vec![Code::Ok], 1, 2));
    let start = http::Request::post(&url).body(()).unwrap();
    let error = Upload::new(start, "bytes").single_request_below(0).send(&client).await.unwrap_err();
    let report = error.report().unwrap();
    assert_eq!((codes(report), report.transparent_retries()), (vec![Code::PermissionDenied], 1), "{report}");
    assert_eq!((error.status(), server.accepted()), (Some(403), 3));
    // So was the first response of a connection.
    let (_server, url) = FaultServer::on_socket(HttpScript::new([parting()])).await;
    let error = download(&url).to_bytes(&client).await.unwrap_err();
    assert_eq!((error.status(), error.report().unwrap().transparent_retries()), (Some(408), 0));
}

#[tokio::test]
async fn redirects_of_the_client_are_noted() {
    let client = layer().layer(ReqwestService::new(reqwest::Client::new()));
    let redirect = HttpAct::status(307).with_header("location", "/there");
    let (_server, url) = FaultServer::on_socket(HttpScript::new([redirect])).await;
    let (_, downloaded) = download(&url).to_bytes(&client).await.unwrap();
    assert_eq!(downloaded.report().notes(), [note::FOLLOWED_REDIRECTS]);
    let (_, downloaded) = download(&url).to_bytes(&client).await.unwrap();
    assert_eq!(downloaded.report().notes(), []);
}

/// An attempt before may have made the object, or have deleted what this one needs.
#[tokio::test(start_paused = true)]
async fn refusals_that_can_come_of_an_earlier_attempt() {
    let succeeded = [Note::EARLIER_ATTEMPT_MAY_HAVE_SUCCEEDED];
    let layer = HttpRetryLayer::preset(&presets::storage().with_host("storage.test"));
    for (status, notes) in
        [(404, &succeeded[..]), (409, &succeeded), (412, &succeeded), (400, &[]), (413, &[])]
    {
        let storage = StorageEmulator::start();
        storage.fault(StorageFault::status(503).on(StorageCall::Insert));
        storage.fault(StorageFault::status(status).on(StorageCall::Insert));
        let upload = to_object(content(1000)).query("ifGenerationMatch", "0").checksums(Checksums::NONE);
        let error = upload.send(&with_layer(&storage, &layer)).await.unwrap_err();
        assert_eq!((error.status(), error.report().unwrap().notes()), (Some(status), notes), "{error}");
    }
    // To read does nothing.
    let storage = storage_of(KIB_256);
    storage.fault(StorageFault::status(503).on(StorageCall::Download));
    storage.fault(StorageFault::status(404).on(StorageCall::Download));
    let error = super::object::download().to_bytes(&client(&storage)).await.unwrap_err();
    assert_eq!((error.status(), error.report().unwrap().notes()), (Some(404), &[][..]), "{error}");
    // Nor does it make another object.
    let storage = storage_of(KIB_256);
    storage.fault(StorageFault::reset().on(StorageCall::Download).at(1000));
    let other = StorageObject::new(vec![7; 1000]);
    storage.fault(StorageFault::overwrite(other).on(StorageCall::Download).skip(1));
    let mut written = Vec::new();
    let error = super::object::download().to_writer(&client(&storage), &mut written).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.report().unwrap().notes()),
        (TransferErrorKind::ObjectChanged, &[][..]),
        "{error}"
    );
}

//! Credentials that a server refuses in the middle of a transfer: they are dropped, and the transfer goes on with others.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use super::object::{download, storage_of, stored, to_object, upload_by};
use super::setup::{ENDPOINT, KIB_256, content};
use gax_driver::credentials::{AuthHeaders, Credentials, CredentialsService};
use gax_http::{HttpRetryLayer, HttpRetryService, ReplayBody};
use gax_testing::{StorageCall, StorageEmulator, StorageFault};
use gax_transfer::{Download, TransferErrorKind, TransferService};
use http::Response;
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use std::convert::Infallible;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tonic_gax::{Code, RetrySettings};
use tonic_gax_tests::ms;

const SIZE: usize = 3 * KIB_256 + 1000;

/// Credentials that count their fetches, each of which takes 50 ms.
fn numbered() -> (Credentials, Arc<AtomicU32>) {
    let fetches = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&fetches);
    let credentials = Credentials::new(move || {
        let number = 1 + counter.fetch_add(1, Ordering::Relaxed);
        async move {
            tokio::time::sleep(ms(50)).await;
            Ok(AuthHeaders::bearer(&format!("token-{number}"))?)
        }
    });
    (credentials.allow_plaintext(), fetches)
}

/// One attempt within ten seconds.
fn once() -> HttpRetryLayer {
    let settings = RetrySettings::builder().max_attempts(1).total_timeout(Duration::from_secs(10));
    HttpRetryLayer::new(&settings.build().unwrap(), [Code::Unavailable])
}

fn client(storage: &StorageEmulator, credentials: Credentials) -> HttpRetryService<impl TransferService> {
    let client: Client<_, ReplayBody> = Client::builder(TokioExecutor::new()).build(storage.connector());
    once().layer(CredentialsService::new(client, credentials))
}

/// The requests with their tokens, in short.
fn tokens(storage: &StorageEmulator) -> Vec<(StorageCall, String)> {
    let token = |value: Option<&str>| value.unwrap_or("-").replace("Bearer token-", "");
    let arrivals = storage.arrivals();
    arrivals.iter().map(|arrival| (arrival.call, token(arrival.header("authorization")))).collect()
}

#[tokio::test(start_paused = true)]
async fn an_upload_asks_what_the_server_has_and_goes_on_with_another_token() {
    use StorageCall::{QueryUpload, StartUpload, Upload as Send};
    for is_universal in [false, true] {
        for fault in [
            StorageFault::status(401).on(Send).at(KIB_256 as u64 + 7),
            StorageFault::status(401).on(Send).early(),
            StorageFault::status(401).on(StartUpload),
        ] {
            let (storage, (credentials, fetches)) = (StorageEmulator::start(), numbered());
            storage.fault(fault.clone());
            let upload = upload_by(is_universal, content(SIZE)).single_request_below(0);
            let uploaded = upload.send(&client(&storage, credentials)).await;
            let uploaded =
                uploaded.unwrap_or_else(|error| panic!("{fault:?}: {error} {:?}", tokens(&storage)));
            assert_eq!(stored(&storage), content(SIZE), "{fault:?}");
            assert_eq!(fetches.load(Ordering::Relaxed), 2, "{fault:?}");
            let report = uploaded.report();
            let seen = tokens(&storage);
            let calls: Vec<_> = seen.iter().map(|(call, token)| (*call, &**token)).collect();
            if calls.first() == calls.get(1) || calls[1].0 == StartUpload {
                assert_eq!(calls, [(StartUpload, "1"), (StartUpload, "2"), (Send, "2")]);
            } else {
                assert_eq!(calls, [(StartUpload, "1"), (Send, "1"), (QueryUpload, "2"), (Send, "2")]);
            }
            // No attempt more than the server's replies were: one is sent again.
            let attempts = usize::try_from(report.attempt_count()).unwrap();
            assert_eq!((attempts, report.transparent_retries()), (seen.len() - 1, 1), "{report}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_download_goes_on_with_another_token() {
    for parallel in [0, 2] {
        let (storage, (credentials, fetches)) = (storage_of(SIZE), numbered());
        storage.fault(StorageFault::status(401).on(StorageCall::Download));
        let folder = super::setup::Scratch::new("o");
        let request = download().parallel(parallel, KIB_256 as u64);
        let downloaded = request.to_file(&client(&storage, credentials), folder.path()).await.unwrap();
        assert_eq!(std::fs::read(folder.path()).unwrap(), content(SIZE));
        assert_eq!((fetches.load(Ordering::Relaxed), downloaded.report().attempt_count()), (2, 1));
    }
    // Also in the middle, as often as there is something new meanwhile: tokens that last for less than a transfer.
    let (storage, (credentials, fetches)) = (storage_of(SIZE), numbered());
    let layer = HttpRetryLayer::new(
        &RetrySettings::builder()
            .max_attempts(2)
            .initial_retry_delay(ms(20_000))
            .jittered(false)
            .build()
            .unwrap(),
        [Code::Unavailable],
    );
    for (place, number) in [(100_000, 1), (200_000, 2), (300_000, 3)] {
        storage.fault(StorageFault::reset().on(StorageCall::Download).at(place).skip(2 * number - 2));
        storage.fault(StorageFault::status(401).on(StorageCall::Download).skip(number));
    }
    let client: Client<_, ReplayBody> = Client::builder(TokioExecutor::new()).build(storage.connector());
    let client = layer.layer(CredentialsService::new(client, credentials));
    let (bytes, _) = download().to_bytes(&client).await.unwrap();
    assert!(bytes == content(SIZE));
    assert_eq!(fetches.load(Ordering::Relaxed), 4, "{:?}", tokens(&storage));
}

#[tokio::test(start_paused = true)]
async fn a_transfer_that_is_refused_again_ends() {
    for status in [401, 403, 407] {
        let (storage, (credentials, fetches)) = (storage_of(SIZE), numbered());
        storage.fault(StorageFault::status(status).on(StorageCall::Download).always());
        let error = download().to_bytes(&client(&storage, credentials)).await.unwrap_err();
        assert_eq!((error.kind(), error.status()), (TransferErrorKind::Status, Some(status)));
        let requests = if status == 401 { 2 } else { 1 };
        assert_eq!(
            (fetches.load(Ordering::Relaxed), storage.arrivals().len()),
            (requests, requests as usize)
        );
    }
    // The program's own token is the program's to replace.
    let (storage, (credentials, fetches)) = (storage_of(SIZE), numbered());
    storage.fault(StorageFault::status(401).on(StorageCall::Download));
    let own = download().header("authorization", "Bearer own");
    let client = client(&storage, credentials);
    assert_eq!(own.to_bytes(&client).await.unwrap_err().status(), Some(401));
    download().to_bytes(&client).await.unwrap();
    assert_eq!((fetches.load(Ordering::Relaxed), storage.arrivals().len()), (1, 2));
}

/// A session at another origin has no credentials of ours, which its 401 says nothing of.
#[tokio::test(start_paused = true)]
async fn another_origin_refuses_nothing_of_ours() {
    let (credentials, fetches) = numbered();
    let requests = Arc::new(Mutex::new(Vec::new()));
    let known = Arc::clone(&requests);
    let server = tower::service_fn(move |request: http::Request<ReplayBody>| {
        let known = Arc::clone(&known);
        async move {
            let (head, body) = request.into_parts();
            body.collect().await.unwrap();
            let is_elsewhere = head.uri.host() == Some("elsewhere.test");
            known.lock().unwrap().push((is_elsewhere, head.headers.contains_key("authorization")));
            let response = Response::builder();
            let response = if is_elsewhere {
                response.status(401)
            } else {
                response.header("location", "http://elsewhere.test/session")
            };
            Ok::<_, Infallible>(response.body(Full::<bytes::Bytes>::default()).unwrap())
        }
    });
    let client = once().layer(CredentialsService::new(server, credentials));
    let error = to_object(content(SIZE)).single_request_below(0).send(&client).await.unwrap_err();
    assert_eq!((error.status(), fetches.load(Ordering::Relaxed)), (Some(401), 1));
    let error = Download::of_object("http://elsewhere.test", "b", "o").to_bytes(&client).await.unwrap_err();
    // Here it is the program's own.
    assert_eq!((error.status(), fetches.load(Ordering::Relaxed)), (Some(401), 2));
    assert_eq!(*requests.lock().unwrap(), [(false, true), (true, false), (true, true), (true, true)]);
    assert!(!ENDPOINT.contains("elsewhere"));
}

//! The origins that a transfer's requests go to, and which of them get credentials.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use super::object::{download, layer_of, storage_of, to_object, universal};
use super::setup::{KIB_256, content};
use gax_driver::credentials::{AuthHeaders, Credentials, CredentialsService};
use gax_http::{HttpRetryService, ReplayBody};
use gax_testing::{Pipes, StorageCall, StorageEmulator, StorageFault};
use gax_transfer::{TransferService, Upload, UploadSession};
use http::HeaderValue;
use http::header::LOCATION;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;

fn credentials() -> Credentials {
    Credentials::new(|| async { Ok(AuthHeaders::bearer("s3cret").unwrap()) })
}

/// A client with these credentials below its layer, of a server that keeps the sessions of uploads at `up.test`.
fn client(storage: &StorageEmulator, credentials: Credentials) -> HttpRetryService<impl TransferService> {
    let client: Client<Pipes, ReplayBody> = Client::builder(TokioExecutor::new()).build(storage.connector());
    let client = tower::ServiceBuilder::new()
        .map_response(|mut response: http::Response<hyper::body::Incoming>| {
            for value in response.headers_mut().values_mut() {
                let elsewhere = value.to_str().unwrap().replace("http://storage.test", "http://up.test");
                *value = HeaderValue::try_from(elsewhere).unwrap();
            }
            response
        })
        .service(client);
    layer_of(2).layer(CredentialsService::new(client, credentials))
}

/// The requests since then, and whether each had credentials.
fn seen(storage: &StorageEmulator, from: usize) -> Vec<(StorageCall, bool)> {
    let arrivals = storage.arrivals().into_iter().skip(from);
    arrivals.map(|arrival| (arrival.call, arrival.header("authorization").is_some())).collect()
}

#[tokio::test(start_paused = true)]
async fn a_redirect_leads_no_credentials_to_another_origin() {
    for (location, is_sent) in [("http://cdn.test", false), ("http://named.test:81", true), ("", true)] {
        let storage = storage_of(10);
        let location =
            HeaderValue::try_from(format!("{location}/storage/v1/b/b/o/folder%2Fo?alt=media")).unwrap();
        let redirect = StorageFault::status(302).with_header(LOCATION, location);
        storage.fault(redirect.on(StorageCall::Download));
        let credentials = credentials().allow_plaintext().for_hosts(["Named.test"]);
        download().to_bytes(&client(&storage, credentials)).await.unwrap();
        assert_eq!(seen(&storage, 0), [(StorageCall::Download, true), (StorageCall::Download, is_sent)]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_elsewhere_gets_no_credentials() {
    use StorageCall::{CancelUpload, QueryUpload, StartUpload, Upload as Send};
    for is_universal in [false, true] {
        for hosts in [vec![], vec!["up.test"]] {
            let is_named = !hosts.is_empty();
            let storage = StorageEmulator::start();
            let client = client(&storage, credentials().allow_plaintext().for_hosts(hosts));
            storage.fault(StorageFault::status(403).on(Send).always());
            let content = content(2 * KIB_256);
            let upload = if is_universal { universal(content.clone()) } else { to_object(content.clone()) };
            let error = upload.single_request_below(0).send(&client).await.unwrap_err();
            let start = seen(&storage, 0);
            assert_eq!(start[..2], [(StartUpload, true), (Send, is_named)]);
            assert!(start[2..].iter().all(|(_, is_sent)| *is_sent == is_named), "{start:?}");

            // The session remembers that a server has named its origin; that of a URI is the program's own.
            let session = error.session().unwrap().clone();
            let resumed =
                Upload::resume(session.clone(), content.clone()).header("authorization", "Bearer mine");
            resumed.send(&client).await.unwrap_err();
            let resumed = seen(&storage, start.len());
            assert_eq!(resumed[..2], [(QueryUpload, is_named), (Send, is_named)]);
            assert!(resumed[2..].iter().all(|(_, is_sent)| *is_sent == is_named), "{resumed:?}");
            session.cancel(&client).await.unwrap();
            let uri = session.expose_uri();
            let session = if is_universal {
                UploadSession::universal_from_uri(&uri)
            } else {
                UploadSession::from_uri(&uri)
            };
            session.unwrap().cancel(&client).await.unwrap();
            assert_eq!(
                seen(&storage, start.len() + resumed.len()),
                [(CancelUpload, is_named), (CancelUpload, true)]
            );
        }
    }
}

/// Nothing is sent, and it isn't tried again.
#[tokio::test(start_paused = true)]
async fn credentials_are_not_sent_in_plain_text() {
    let storage = storage_of(10);
    let error = download().to_bytes(&client(&storage, credentials())).await.unwrap_err();
    let report = error.report().unwrap();
    assert_eq!(report.attempts().len(), 1);
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert!(source.contains("credentials would be sent to storage.test in plain text: connect over TLS, or allow it with Credentials::allow_plaintext"), "{source}");
    assert!(storage.arrivals().is_empty());
}

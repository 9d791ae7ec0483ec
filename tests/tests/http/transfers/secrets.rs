//! The URIs of sessions, and credentials, are nowhere to be read.
#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use super::setup::{ENDPOINT, KIB_256, content, with_layer};
use crate::observing::lines::Lines;
use gax_driver::observe::{OperationInfo, OperationObserver, OperationSummary, TracingObserver};
use gax_http::{HttpRetryLayer, OperationOptions, presets};
use gax_testing::{StorageCall, StorageEmulator, StorageFault};
use gax_transfer::{Download, TransferError, Transferred, Upload, UploadSession};
use http::HeaderName;
use http::header::{HeaderValue, LOCATION};
use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex};
use tracing_subscriber::Registry;
use tracing_subscriber::layer::SubscriberExt as _;

/// All that observers get.
#[derive(Debug, Default)]
struct Seen(Mutex<String>);

impl OperationObserver for Seen {
    fn operation_succeeded(&self, operation: &OperationInfo, summary: &OperationSummary) {
        writeln!(self.0.lock().unwrap(), "{operation:?} {} {summary:?}", operation.method()).unwrap();
    }

    fn operation_failed(&self, operation: &OperationInfo, summary: &OperationSummary) {
        writeln!(self.0.lock().unwrap(), "{operation:?} {} {summary:?}", operation.method()).unwrap();
    }
}

/// All that a program can print of an upload's end.
fn printed(result: &Result<Transferred, TransferError>) -> String {
    let text = |value: &dyn Debug| format!("{value:?} {value:#?}");
    match result {
        Ok(uploaded) => format!("{} {}", text(uploaded), uploaded.report()),
        Err(error) => {
            let mut all = format!("{error} {} {:?}", text(error), error.session());
            let mut source = std::error::Error::source(error);
            while let Some(inner) = source {
                write!(all, " {inner} {inner:?}").unwrap();
                source = inner.source();
            }
            error.report().map_or(all.clone(), |report| format!("{all} {report} {report:?}"))
        }
    }
}

fn check(text: &str, what: &str) {
    for secret in ["s3cret", "upload_id", "upload-0000"] {
        assert!(!text.contains(secret), "{what} has {secret}: {text}");
    }
}

#[tokio::test(start_paused = true)]
async fn sessions_and_credentials_are_not_printed() {
    let lines = Lines::default();
    let _guard = tracing::subscriber::set_default(Registry::default().with(lines.clone()));
    let seen = Arc::new(Seen::default());
    let preset = presets::storage().without_deadline().with_max_attempts(2);
    let layer = HttpRetryLayer::preset(&preset)
        .options(OperationOptions::new().observer(Arc::new(TracingObserver::new())).observer(seen.clone()));
    let url = |name: &'static str| HeaderName::from_static(name);
    let secret = |uri: &'static str| HeaderValue::from_static(uri);
    let start = format!("{ENDPOINT}/upload/storage/v1/b/b/o?name=o&key=s3cret");
    for is_universal in [false, true] {
        for fault in [
            StorageFault::reset().on(StorageCall::Upload).at(KIB_256 as u64),
            StorageFault::status(503).on(StorageCall::Upload).always(),
            StorageFault::status(503).on(StorageCall::QueryUpload).always(),
            StorageFault::status(403).on(StorageCall::Upload).with_body("no"),
            StorageFault::stall().on(StorageCall::Upload).always(),
            StorageFault::expired(404).on(StorageCall::Upload),
            StorageFault::expired(410).on(StorageCall::Upload).always(),
            StorageFault::lost_reply().on(StorageCall::Upload),
            StorageFault::corrupt(5).on(StorageCall::Upload),
            StorageFault::header(LOCATION, secret("http://storage.test/s3cret/s?upload_id=s3cret"))
                .on(StorageCall::StartUpload)
                .always(),
            StorageFault::header(
                url("x-goog-upload-url"),
                secret("http://storage.test/s3cret?upload_id=s3cret"),
            )
            .on(StorageCall::StartUpload)
            .always(),
            StorageFault::header(LOCATION, secret("ftp://s3cret.test/s3cret"))
                .on(StorageCall::StartUpload)
                .always(),
        ] {
            let storage = StorageEmulator::start();
            storage.fault(fault.clone());
            let client = with_layer(&storage, &layer);
            let request = http::Request::post(&start).body(()).unwrap();
            let content = content(2 * KIB_256);
            let upload = if is_universal {
                Upload::universal(request, content.clone())
            } else {
                Upload::new(request, content.clone())
            };
            let upload = upload.header("authorization", "Bearer s3cret").header("cookie", "a=s3cret");
            check(&format!("{upload:?} {upload:#?}"), "the upload");
            let result = upload.send(&client).await;
            check(&printed(&result), &format!("{fault:?}"));
            if let Some(session) = result.err().and_then(|error| error.session().cloned()) {
                let resumed =
                    Upload::resume(session.clone(), content).header("authorization", "Bearer s3cret");
                check(&format!("{resumed:?} {resumed:#?} {session:?}"), "the resumed upload");
                check(&printed(&resumed.send(&client).await), &format!("resumed, {fault:?}"));
                if let Err(error) = session.cancel(&client).await {
                    check(&printed(&Err(error)), "cancel");
                }
            }
        }
    }
    // A session whose path is the secret, in a place that nobody reaches.
    let session = UploadSession::from_uri("http://storage.test/s3cret/session").unwrap();
    let storage = StorageEmulator::start();
    storage.fault(StorageFault::reset().always());
    let client = with_layer(&storage, &layer);
    check(&printed(&Upload::resume(session.clone(), "x").send(&client).await), "unreachable");
    check(&printed(&Err(session.cancel(&client).await.unwrap_err())), "cancel");
    let request = http::Request::get(format!("{ENDPOINT}/o?signature=s3cret")).body(()).unwrap();
    let download = Download::new(request).header("authorization", "Bearer s3cret");
    check(&format!("{download:?}"), "the download");
    check(&printed(&Err(download.to_bytes(&client).await.unwrap_err())), "download");

    let lines = lines.take();
    assert!(lines.len() > 100, "{}", lines.len());
    check(&lines.join("\n"), "spans");
    check(&seen.0.lock().unwrap(), "observers");
}

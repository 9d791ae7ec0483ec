//! Observers that panic, in every method, with a poisoned lock, and while a call is dropped.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "what fails here fails a test; and these observers panic"
)]

use crate::observing::lines::Lines;
use bytes::Bytes;
use gax_driver::Retryer;
use gax_driver::observe::{
    AttemptTransfer, OperationInfo, OperationObserver, OperationSummary, OutgoingHeaders, WireMessage,
};
use gax_http::HttpRetryLayer;
use gax_retry::{Attempt, Code, RetryBudget, RetrySettings, ServerDelay, StartedAttempt, StopReason};
use http_body_util::Full;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tonic::Status;
use tonic_gax::OperationOptions;
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_client::AssetServiceClient as TonicClient;
use tonic_gax_tests::generated::google::cloud::asset::v1::{AssetServiceClient, ListAssetsRequest};
use tonic_gax_tests::generated::test::talk::v1::{Line, TalkClient, TalkSettings, TalkStubSettings};
use tonic_gax_tests::{
    BodyPart, Caller, FaultServer, HttpAct, HttpScript, Recorder, Reply, Script, Setup, Stack, VirtualServer,
    delays, error_report, ms,
};
use tracing_subscriber::Registry;
use tracing_subscriber::layer::SubscriberExt as _;

/// Panics whenever it is called, and holds a lock that it does not take when that is poisoned.
#[derive(Clone, Default)]
struct Panics {
    lock: Arc<Mutex<u32>>,
    called: Arc<Mutex<BTreeSet<&'static str>>>,
    /// Whether it says that it watches transfers, in place of a panic.
    watches: bool,
}

impl Panics {
    fn in_method(&self, method: &'static str) -> ! {
        self.called.lock().unwrap_or_else(PoisonError::into_inner).insert(method);
        let _held = self.lock.lock().unwrap();
        panic!("in {method}")
    }

    fn called(&self) -> Vec<&'static str> {
        self.called.lock().unwrap().iter().copied().collect()
    }
}

impl OperationObserver for Panics {
    fn for_operation(&self, _: &OperationInfo) -> Option<Arc<dyn OperationObserver>> {
        self.in_method("for_operation")
    }

    fn operation_started(&self, _: &OperationInfo) {
        self.in_method("operation_started")
    }

    fn operation_succeeded(&self, _: &OperationInfo, _: &OperationSummary) {
        self.in_method("operation_succeeded")
    }

    fn operation_failed(&self, _: &OperationInfo, _: &OperationSummary) {
        self.in_method("operation_failed")
    }

    fn operation_cancelled(&self, _: &OperationInfo, _: &OperationSummary) {
        self.in_method("operation_cancelled")
    }

    fn attempt_started(&self, _: &OperationInfo, _: StartedAttempt) {
        self.in_method("attempt_started")
    }

    fn attempt_headers(&self, _: &OperationInfo, _: StartedAttempt, _: &mut OutgoingHeaders<'_>) {
        self.in_method("attempt_headers")
    }

    fn attempt_sent(&self, _: &OperationInfo, _: StartedAttempt, _: Duration) {
        self.in_method("attempt_sent")
    }

    fn watches_transfers(&self, _: &OperationInfo) -> bool {
        self.watches || self.in_method("watches_transfers")
    }

    fn request_read(&self, _: &OperationInfo, _: StartedAttempt, _: Duration) {
        self.in_method("request_read")
    }

    fn message_sent(&self, _: &OperationInfo, _: StartedAttempt, _: WireMessage) {
        self.in_method("message_sent")
    }

    fn message_received(&self, _: &OperationInfo, _: StartedAttempt, _: WireMessage) {
        self.in_method("message_received")
    }

    fn attempt_transferred(&self, _: &OperationInfo, _: &Attempt, _: AttemptTransfer) {
        self.in_method("attempt_transferred")
    }

    fn response_received(&self, _: &OperationInfo, _: StartedAttempt) {
        self.in_method("response_received")
    }

    fn committed(&self, _: &OperationInfo, _: StartedAttempt) {
        self.in_method("committed")
    }

    fn pushback_received(&self, _: &OperationInfo, _: &Attempt, _: ServerDelay) {
        self.in_method("pushback_received")
    }

    fn retry_throttled(&self, _: &OperationInfo, _: &Attempt) {
        self.in_method("retry_throttled")
    }

    fn attempt_succeeded(&self, _: &OperationInfo, _: &Attempt) {
        self.in_method("attempt_succeeded")
    }

    fn attempt_failed(&self, _: &OperationInfo, _: &Attempt, _: Option<Duration>) {
        self.in_method("attempt_failed")
    }

    fn attempt_failed_retries_exhausted(&self, _: &OperationInfo, _: &Attempt, _: StopReason) {
        self.in_method("attempt_failed_retries_exhausted")
    }

    fn attempt_permanent_failure(&self, _: &OperationInfo, _: &Attempt, _: StopReason) {
        self.in_method("attempt_permanent_failure")
    }

    fn attempt_cancelled(&self, _: &OperationInfo, _: &Attempt) {
        self.in_method("attempt_cancelled")
    }
}

/// Has an observer for each operation, which panics as it is let go of.
struct PanicsOnceDropped {
    is_of_operation: bool,
}

impl OperationObserver for PanicsOnceDropped {
    fn for_operation(&self, _: &OperationInfo) -> Option<Arc<dyn OperationObserver>> {
        Some(Arc::new(Self { is_of_operation: true }))
    }
}

impl Drop for PanicsOnceDropped {
    fn drop(&mut self) {
        assert!(!self.is_of_operation, "in drop");
    }
}

fn settings() -> RetrySettings {
    delays(200, 1.0).initial_rpc_timeout(ms(1000)).max_attempts(3).build().unwrap()
}

/// The results of two calls of `ListAssets`, and the notifications of an observer that comes after the first one.
async fn listed(stack: Stack, script: Script, first: Option<&Panics>) -> (String, Vec<String>) {
    let server = VirtualServer::start(script);
    let setup = Setup::new(settings()).budgeted(RetryBudget::tokens(8, 0.1)).reporting();
    let recorder = Recorder::default();
    let first = first.map(|panics| -> Arc<dyn OperationObserver> { Arc::new(panics.clone()) });
    let observers: Vec<_> = first.into_iter().chain([recorder.shared()]).collect();
    let channel = server.channel();
    let mut caller = if stack == Stack::Generated {
        let settings = observers.into_iter().fold(setup.client(), |settings, observer| {
            settings.with_options(OperationOptions::new().observer(observer))
        });
        Caller::Generated(AssetServiceClient::with_settings(channel, settings))
    } else {
        let layer = if stack == Stack::Layer { setup.layer() } else { setup.layer_with_descriptors() };
        let layer = observers
            .into_iter()
            .fold(layer, |layer, observer| layer.options(OperationOptions::new().observer(observer)));
        Caller::TonicClient(TonicClient::new(layer.layer(channel)))
    };
    // The budget stops the second call.
    let mut results = Vec::new();
    for _ in 0..2 {
        let call = caller.list(ListAssetsRequest::default());
        results.push(match tokio::time::timeout(ms(2500), call).await {
            Ok(Ok(reply)) => {
                format!("{:?} {:?}", reply.get_ref(), reply.extensions().get::<tonic_gax::OperationReport>())
            }
            Ok(Err(status)) => format!("{status:?} {}", error_report(&status)),
            Err(_) => "dropped".to_owned(),
        });
    }
    (results.join("\n"), recorder.take())
}

#[tokio::test(start_paused = true)]
async fn an_observer_that_panics_in_every_method_changes_no_call_and_no_other_observer_notices() {
    let pushback = || {
        let mut status = Status::unavailable("later");
        status.metadata_mut().insert("grpc-retry-pushback-ms", "700".parse().unwrap());
        Reply::status(status)
    };
    let scripts: [fn() -> Script; 5] = [
        || Script::always(Reply::Serve),
        || Script::at_once([Reply::unavailable()]),
        || Script::always(Reply::unavailable()),
        || Script::always(Reply::code(tonic::Code::NotFound)),
        || Script::always(Reply::Hang),
    ];
    for watches in [false, true] {
        let panics = Panics { watches, ..Panics::default() };
        for stack in Stack::ALL {
            for script in scripts {
                let alone = listed(stack, script(), None).await;
                assert_eq!(listed(stack, script(), Some(&panics)).await, alone, "{stack:?}");
            }
            let pushed = || Script::at_once([pushback()]);
            assert_eq!(listed(stack, pushed(), Some(&panics)).await, listed(stack, pushed(), None).await);
        }
        let mut expected = vec![
            "attempt_cancelled",
            "attempt_failed",
            "attempt_failed_retries_exhausted",
            "attempt_headers",
            "attempt_permanent_failure",
            "attempt_sent",
            "attempt_started",
            "attempt_succeeded",
            "for_operation",
            "operation_cancelled",
            "operation_failed",
            "operation_started",
            "operation_succeeded",
            "pushback_received",
            "response_received",
            "retry_throttled",
        ];
        expected.extend(if watches {
            &["attempt_transferred", "message_received", "message_sent", "request_read"][..]
        } else {
            &["watches_transfers"]
        });
        expected.sort_unstable();
        assert_eq!(panics.called(), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_is_read_to_its_end_or_dropped_though_its_observer_panics() {
    let line = |count| BodyPart::message(&Line { text: "line".to_owned(), count });
    let panics = Panics { watches: true, ..Panics::default() };
    for (end, expected) in [
        (BodyPart::status(&Status::ok("")), "operation_succeeded OK 1 attempts 300 ms"),
        (
            BodyPart::status(&Status::unavailable("")),
            "operation_failed UNAVAILABLE 1 attempts 300 ms COMMITTED",
        ),
        (BodyPart::Hang, "operation_cancelled CANCELLED 1 attempts 2000 ms CANCELLED"),
    ] {
        let recorder = Recorder::default();
        let server = VirtualServer::start(Script::always(Reply::play([
            line(0),
            BodyPart::Wait(ms(300)),
            line(1),
            end,
        ])));
        let mut stub = TalkStubSettings::builder();
        stub.listen().set_retry_settings(settings()).set_retryable_codes([Code::Unavailable]);
        let talk = TalkSettings::create(stub.build().unwrap()).with_options(
            OperationOptions::new().observer(Arc::new(panics.clone())).observer(recorder.shared()),
        );
        let listen = async {
            let mut lines =
                TalkClient::with_settings(server.channel(), talk).listen(Line::default()).await?.into_inner();
            assert_eq!(lines.message().await?.unwrap().count, 0);
            assert_eq!(lines.message().await?.unwrap().count, 1);
            lines.message().await.map(drop)
        };
        drop(tokio::time::timeout(ms(2000), listen).await);
        assert_eq!(recorder.take().last().unwrap(), expected);
    }
    assert!(["committed", "response_received"].iter().all(|method| panics.called().contains(method)));
}

#[tokio::test(start_paused = true)]
async fn an_http_request_has_its_response_though_its_observer_panics() {
    let panics = Panics { watches: true, ..Panics::default() };
    let recorder = Recorder::default();
    let (_server, connector) =
        FaultServer::in_memory(HttpScript::new([HttpAct::status(503), HttpAct::status(200)]));
    let layer = HttpRetryLayer::new(&settings(), [Code::Unavailable]);
    let layer =
        layer.options(OperationOptions::new().observer(Arc::new(panics.clone())).observer(recorder.shared()));
    let request = http::Request::get("http://server/thing").body(Full::<Bytes>::default()).unwrap();
    let response = layer.layer(FaultServer::full_client(connector)).send(request).await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(recorder.take().last().unwrap(), "operation_succeeded OK 2 attempts 200 ms");
}

/// A panic of the closure drops the operation, whose observers are notified while the thread unwinds.
#[test]
fn an_observer_that_panics_while_another_panic_unwinds_does_not_end_the_process() {
    let panics = Panics::default();
    let recorder = Recorder::default();
    let retryer = Retryer::new(&settings(), [Code::Unavailable]).options(
        OperationOptions::new()
            .observer(Arc::new(panics.clone()))
            .observer(Arc::new(PanicsOnceDropped { is_of_operation: false }))
            .observer(recorder.shared()),
    );
    let run = AssertUnwindSafe(|| {
        retryer.run_blocking(|_| -> Result<(), Status> { resume_unwind(Box::new("own")) })
    });
    let payload = catch_unwind(run).unwrap_err();
    assert_eq!(payload.downcast_ref(), Some(&"own"));
    assert_eq!(recorder.take().last().unwrap().split(' ').next(), Some("operation_cancelled"));
    // In a task, where the panic is the closure's and stays so.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let task = retryer.clone();
    let own = |_| async { if true { resume_unwind(Box::new("own")) } else { Ok::<(), Status>(()) } };
    let task = async move { task.run(own).await.is_ok() };
    let ended = runtime.block_on(async { tokio::spawn(task).await }).unwrap_err();
    assert_eq!(ended.into_panic().downcast_ref(), Some(&"own"));
    assert_eq!(recorder.take().last().unwrap().split(' ').next(), Some("operation_cancelled"));
}

#[test]
fn the_first_panic_of_an_observer_is_one_event_at_the_level_error() {
    let lines = Lines::default();
    let _guard = tracing::subscriber::set_default(Registry::default().with(lines.clone()));
    // Where there is one subscriber only, an event that another thread came to first would be off for all of them.
    let _other = tracing::Dispatch::new(Registry::default());
    let panics = Panics::default();
    let at_once = RetrySettings::builder().max_attempts(3).initial_retry_delay(ms(0)).build().unwrap();
    let retryer = Retryer::new(&at_once, [Code::Unavailable]).options(
        OperationOptions::new().observer(Arc::new(panics.clone())).on_retry(|_| panic!("of on_retry: {}", 7)),
    );
    for _ in 0..2 {
        retryer.run_blocking(|_| Err::<(), _>(Status::unavailable(""))).unwrap_err();
    }
    assert_eq!(
        lines.take(),
        [
            "ERROR in nothing: message=an observer panicked: in for_operation; its later panics are not recorded",
            "ERROR in nothing: message=an observer panicked: of on_retry: 7; its later panics are not recorded",
        ]
    );
}

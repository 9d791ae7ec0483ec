//! Work that a server's handler hands to tasks and threads: bounded by the request's deadline, stopped with the request.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use bytes::Bytes;
use gax_driver::Retryer;
use gax_driver::inbound::{Inbound, RequestEnded};
use gax_driver::observe::{OperationInfo, OperationObserver};
use gax_http::HttpRetryLayer;
use gax_retry::{Code, CodeSet, Policy, RetrySettings, StartedAttempt, StopReason};
use http_body_util::{BodyExt as _, Full};
use std::convert::Infallible;
use std::future::pending;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_stream::StreamExt as _;
use tonic::Status;
use tonic::codegen::BoxStream;
use tonic::transport::Server;
use tonic_gax::{CallOptions, DeadlineLayer, OperationOptions, OperationReport};
use tonic_gax_tests::generated::google::cloud::asset::v1::{AssetServiceClient, ListAssetsRequest};
use tonic_gax_tests::generated::test::talk::v1::Line;
use tonic_gax_tests::generated::test::talk::v1::talk_client::TalkClient;
use tonic_gax_tests::generated::test::talk::v1::talk_server::{Talk, TalkServer};
use tonic_gax_tests::{
    FaultServer, HttpAct, HttpScript, Recorder, Reply, Script, Setup, Stack, VirtualServer, error_report, ms,
    pipes, report_of, spaced,
};
use tower_layer::Layer as _;
use tower_service::Service as _;

/// Attempts of a second, half a second apart, a minute in all.
fn steady() -> RetrySettings {
    spaced(500, 60_000).to_builder().max_rpc_timeout(ms(1000)).build().unwrap()
}

fn retryer() -> Retryer<[Code; 2]> {
    Retryer::new(&steady(), [Code::Unavailable, Code::DeadlineExceeded])
}

/// Lets a handler serve a request with these headers, as a server would.
async fn serve<T: Send + 'static>(
    headers: &[(&'static str, &'static str)],
    handler: impl Future<Output = T> + Send + 'static,
) -> T {
    let (done, result) = oneshot::channel();
    let handler = Mutex::new(Some((handler, done)));
    let service = tower::service_fn(move |_: http::Request<()>| {
        let (handler, done) = handler.lock().unwrap().take().unwrap();
        async move {
            done.send(handler.await).ok();
            Ok::<_, Infallible>(http::Response::new(Full::<Bytes>::default()))
        }
    });
    let mut request = http::Request::new(());
    for (name, value) in headers {
        request.headers_mut().insert(*name, value.parse().unwrap());
    }
    DeadlineLayer::new().layer(service).call(request).await.unwrap();
    result.await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn outside_of_a_request_nothing_is_bounded_and_nothing_ends() {
    let inbound = Inbound::current();
    assert_eq!((inbound.time_left(), inbound.previous_attempts(), inbound.is_ended()), (None, 0, false));
    assert_eq!(inbound.clone().scope(async { 7 }).await, Ok(7));
    assert_eq!(inbound.enter(|| 8), 8);
    assert!(timeout(ms(100_000), inbound.scope(pending::<()>())).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_handler_knows_its_request() {
    let seen = serve(&[("grpc-timeout", "3S"), ("grpc-previous-rpc-attempts", "2")], async {
        sleep(ms(1000)).await;
        let inbound = Inbound::current();
        let first = (inbound.time_left(), inbound.previous_attempts(), inbound.is_ended());
        sleep(ms(5000)).await;
        (first, Inbound::current().time_left())
    });
    assert_eq!(seen.await, ((Some(ms(2000)), 2, false), Some(Duration::ZERO)));
    let seen = serve(&[("grpc-previous-rpc-attempts", "soon")], async {
        (Inbound::current().time_left(), Inbound::current().previous_attempts())
    });
    assert_eq!(seen.await, (None, 0));
}

/// gRPC calls, HTTP requests and closures of a task in the request's scope have what is left of its time.
#[tokio::test(start_paused = true)]
async fn tasks_in_the_scope_have_the_request_s_time() {
    for stack in Stack::ALL {
        let backend = VirtualServer::start(Script::always(Reply::Hang));
        let mut caller = stack.caller(backend.channel(), &Setup::new(steady()));
        let report = serve(&[("grpc-timeout", "2S")], async move {
            sleep(ms(200)).await;
            let call = async move { report_of(&caller.list(ListAssetsRequest::default()).await) };
            tokio::spawn(Inbound::current().scope(call)).await.unwrap().unwrap()
        });
        assert_eq!(report.await.stop_reason(), Some(StopReason::TotalTimeout), "{stack:?}");
        assert_eq!(backend.seen(), [(200, Some(1000)), (1700, Some(300))], "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn http_requests_in_the_scope_have_the_request_s_time() {
    let (server, connector) = FaultServer::in_memory(HttpScript::always(HttpAct::Stall));
    let layer = HttpRetryLayer::new(&steady(), [Code::DeadlineExceeded]);
    let client = layer.layer(FaultServer::full_client(connector));
    let ends = serve(&[("grpc-timeout", "2S")], async move {
        let request = http::Request::get("http://server/thing").body(Full::<Bytes>::default()).unwrap();
        let call = async move { client.send(request).await.map(|response| response.status()).unwrap_err() };
        let error = tokio::spawn(Inbound::current().scope(call)).await.unwrap().unwrap();
        error.report().attempts().iter().map(gax_retry::Attempt::end).collect::<Vec<_>>()
    });
    assert_eq!(ends.await, [ms(1000), ms(2000)]);
    assert_eq!(server.arrivals().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn closures_of_a_handler_have_the_request_s_time() {
    for scoped in [false, true] {
        let rows = serve(&[("grpc-timeout", "2S")], async move {
            let hangs = async {
                let error = retryer().run(|_| pending::<Result<(), Status>>()).await.unwrap_err();
                let ends = error.report().attempts().iter().map(gax_retry::Attempt::end);
                (ends.collect::<Vec<_>>(), error.stop_reason())
            };
            if scoped {
                tokio::spawn(Inbound::current().scope(hangs)).await.unwrap().unwrap()
            } else {
                hangs.await
            }
        });
        assert_eq!(rows.await, (vec![ms(1000), ms(2000)], Some(StopReason::TotalTimeout)), "{scoped}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_closure_of_a_request_without_time_is_not_called() {
    let stopped = serve(&[("grpc-timeout", "0n")], async {
        let not_called = |_| async { panic!("it was called") };
        let error = retryer().run::<(), Status, _, _>(not_called).await.unwrap_err();
        let inbound = Inbound::current();
        let blocking = tokio::task::spawn_blocking(move || {
            let not_called = |_| -> Result<(), Status> { panic!("it was called") };
            inbound.enter(|| retryer().run_blocking(not_called)).unwrap_err()
        });
        [error, blocking.await.unwrap()].map(|error| (error.stop_reason(), error.report().attempt_count()))
    });
    assert_eq!(stopped.await, [(Some(StopReason::TotalTimeout), 0); 2]);
}

type Spawned = JoinHandle<Result<(), RequestEnded>>;

/// A handler that spawns a call to another service and waits for something else.
struct Spawns {
    assets: AssetServiceClient<tonic::transport::Channel>,
    spawned: Mutex<Option<oneshot::Sender<Spawned>>>,
}

impl Spawns {
    fn spawn(&self, inbound: Inbound) {
        let assets = self.assets.clone();
        let call = async move { drop(assets.list_assets(ListAssetsRequest::default()).await) };
        let task = tokio::spawn(inbound.scope(call));
        self.spawned.lock().unwrap().take().unwrap().send(task).unwrap();
    }
}

#[tonic::async_trait]
impl Talk for Spawns {
    async fn ask(&self, _: tonic::Request<Line>) -> Result<tonic::Response<Line>, Status> {
        self.spawn(Inbound::current());
        pending().await
    }

    /// The stream has begun, and goes on, when the handler returns.
    async fn listen(&self, _: tonic::Request<Line>) -> Result<tonic::Response<BoxStream<Line>>, Status> {
        self.spawn(Inbound::current());
        let begun = tokio_stream::iter([Ok(Line::default())]);
        Ok(tonic::Response::new(Box::pin(begun.chain(tokio_stream::pending()))))
    }
}

/// A handler behind a server, what it calls, and the task that it is going to spawn.
struct Served {
    backend: VirtualServer,
    observed: Recorder,
    talk: TalkClient<tonic::transport::Channel>,
    task: oneshot::Receiver<Spawned>,
}

impl Served {
    fn start() -> Self {
        let backend = VirtualServer::start(Script::always(Reply::Hang));
        let observed = Recorder::default();
        let settings = Setup::new(steady()).recorded(&observed).client();
        let assets = AssetServiceClient::with_settings(backend.channel(), settings);
        let (sender, task) = oneshot::channel();
        let (channel, incoming) = pipes();
        let handler = TalkServer::new(Spawns { assets, spawned: Mutex::new(Some(sender)) });
        let server = Server::builder().layer(DeadlineLayer::new()).add_service(handler);
        tokio::spawn(server.serve_with_incoming(incoming));
        Self { backend, observed, talk: TalkClient::new(channel), task }
    }

    /// When the call of the spawned task was given up, in milliseconds, and the last that its observers heard.
    async fn ended(self) -> (Vec<Option<Duration>>, String) {
        self.task.await.unwrap().await.unwrap().unwrap_err();
        // The reset is on its way.
        sleep(ms(1)).await;
        let gone = self.backend.log().arrivals().iter().map(|arrival| arrival.gone).collect();
        (gone, self.observed.take().pop().unwrap())
    }
}

#[tokio::test(start_paused = true)]
async fn tasks_in_the_scope_are_dropped_with_the_handler() {
    let mut served = Served::start();
    timeout(ms(700), served.talk.ask(Line::default())).await.unwrap_err();
    let last = "operation_cancelled CANCELLED 1 attempts 700 ms CANCELLED".to_owned();
    assert_eq!(served.ended().await, (vec![Some(ms(700))], last));
}

#[tokio::test(start_paused = true)]
async fn tasks_in_the_scope_are_dropped_during_a_delay_too() {
    let mut served = Served::start();
    timeout(ms(1200), served.talk.ask(Line::default())).await.unwrap_err();
    let last = "operation_cancelled CANCELLED 1 attempts 1200 ms CANCELLED".to_owned();
    assert_eq!(served.ended().await, (vec![Some(ms(1000))], last));
}

/// The request of a stream ends with the stream, not with the handler that began it.
#[tokio::test(start_paused = true)]
async fn tasks_in_the_scope_live_as_long_as_the_response() {
    let mut served = Served::start();
    let mut lines = served.talk.listen(Line::default()).await.unwrap().into_inner();
    assert!(lines.message().await.unwrap().is_some());
    timeout(ms(700), lines.message()).await.unwrap_err();
    assert_eq!(served.backend.log().arrivals()[0].gone, None);
    drop(lines);
    let last = "operation_cancelled CANCELLED 1 attempts 700 ms CANCELLED".to_owned();
    assert_eq!(served.ended().await, (vec![Some(ms(700))], last));
}

/// A stream of responses makes its calls while it is read: the deadline holds there too.
#[tokio::test(start_paused = true)]
async fn a_response_that_is_being_read_has_the_request_s_time() {
    let service = tower::service_fn(|_: http::Request<()>| async {
        let frames = tokio_stream::iter([()]).map(|()| {
            let left = Inbound::current().time_left();
            Ok::<_, Infallible>(http_body::Frame::data(Bytes::from(format!("{left:?}"))))
        });
        Ok::<_, Infallible>(http::Response::new(http_body_util::StreamBody::new(frames)))
    });
    let mut request = http::Request::new(());
    request.headers_mut().insert("grpc-timeout", "3S".parse().unwrap());
    let response = DeadlineLayer::new().layer(service).call(request).await.unwrap();
    sleep(ms(1000)).await;
    assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), "Some(2s)");
}

#[tokio::test(start_paused = true)]
async fn what_is_begun_after_the_end_is_not_run() {
    let inbound = serve(&[], async { Inbound::current() }).await;
    assert!(inbound.is_ended());
    let ended = inbound.clone().scope(async { panic!("it was polled") }).await;
    let status = Status::from(ended.unwrap_err());
    assert_eq!(status.code(), tonic::Code::Cancelled);
    assert_eq!(status.message(), "the request that this belongs to has ended");
    let error = inbound.enter(|| {
        let not_called = |_| -> Result<(), Status> { panic!("it was called") };
        retryer().run_blocking(not_called).unwrap_err()
    });
    assert_eq!((error.stop_reason(), error.report().attempt_count()), (Some(StopReason::Cancelled), 0));
}

/// A handler that can be dropped, and its handle.
async fn droppable() -> (Inbound, JoinHandle<()>) {
    let (sender, handle) = oneshot::channel();
    let task = tokio::spawn(serve(&[], async move {
        sender.send(Inbound::current()).ok();
        pending::<()>().await;
    }));
    (handle.await.unwrap(), task)
}

/// An hour's wait: only the end of the request can end the test.
fn hourly() -> Retryer<[Code; 1]> {
    let hour = Duration::from_secs(3600);
    let settings = RetrySettings::builder().jittered(false).initial_retry_delay(hour).max_attempts(3);
    Retryer::new(&settings.build().unwrap(), [Code::Unavailable])
}

#[tokio::test]
async fn a_thread_s_wait_ends_with_the_request() {
    let (inbound, handler) = droppable().await;
    let recorder = Recorder::default();
    let (waits, notified) = mpsc::channel();
    let retryer = hourly().options(
        OperationOptions::new().observer(recorder.shared()).on_retry(move |_| waits.send(()).unwrap()),
    );
    let thread = std::thread::spawn(move || {
        inbound.enter(|| retryer.run_blocking(|_| Err::<(), _>(Status::unavailable("down"))).unwrap_err())
    });
    notified.recv().unwrap();
    handler.abort();
    handler.await.unwrap_err();
    let error = thread.join().unwrap();
    assert_eq!(error.stop_reason(), Some(StopReason::Cancelled));
    assert_eq!(error.report().attempt_count(), 1);
    assert_eq!(error.last().unwrap().message(), "down");
    let last = recorder.take().pop().unwrap();
    assert!(last.starts_with("operation_cancelled CANCELLED 1 attempts"), "{last}");
}

#[tokio::test]
async fn a_closure_that_runs_finishes_and_no_attempt_follows() {
    for succeeds in [false, true] {
        let (inbound, handler) = droppable().await;
        let (running, notified) = mpsc::channel();
        let (go_on, waits) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            inbound.enter(|| {
                hourly().run_blocking(|attempt| {
                    running.send(attempt.number()).unwrap();
                    waits.recv().unwrap();
                    if succeeds { Ok("done") } else { Err(Status::unavailable("down")) }
                })
            })
        });
        assert_eq!(notified.recv().unwrap(), 1);
        handler.abort();
        handler.await.unwrap_err();
        go_on.send(()).unwrap();
        match thread.join().unwrap() {
            Ok(done) => assert_eq!((succeeds, done.into_value()), (true, "done")),
            Err(error) => {
                assert!(!succeeds);
                assert_eq!(error.stop_reason(), Some(StopReason::Cancelled));
                assert_eq!(error.report().attempt_count(), 1);
            }
        }
    }
}

/// Says when an attempt has begun.
struct Begun(mpsc::Sender<()>);

impl OperationObserver for Begun {
    fn attempt_sent(&self, _: &OperationInfo, _: StartedAttempt, _: Duration) {
        self.0.send(()).ok();
    }
}

/// A thread that blocks on `work` for a request, which ends once that has begun; its result, and the handle to the request.
async fn blocked_on<T: Send + 'static>(
    begun: mpsc::Receiver<()>,
    work: impl Future<Output = T> + Send + 'static,
) -> (T, Inbound) {
    let (inbound, handler) = droppable().await;
    let (runtime, entered) = (tokio::runtime::Handle::current(), inbound.clone());
    let thread = tokio::task::spawn_blocking(move || entered.enter(|| runtime.block_on(work)));
    tokio::task::spawn_blocking(move || begun.recv().unwrap()).await.unwrap();
    handler.abort();
    handler.await.unwrap_err();
    (thread.await.unwrap(), inbound)
}

/// An hour is the time of a call: only the end of the request can end the test.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_async_call_that_a_thread_blocks_on_ends_with_the_request() {
    let hour = RetrySettings::logical_timeout(Duration::from_secs(3600));
    for stack in Stack::ALL {
        let backend = VirtualServer::start(Script::always(Reply::Hang));
        let (sender, begun) = mpsc::channel();
        let mut caller =
            stack.caller(backend.channel(), &Setup::new(hour.clone()).observed(Arc::new(Begun(sender))));
        let call = async move { caller.list(ListAssetsRequest::default()).await.unwrap_err() };
        let (status, ended) = blocked_on(begun, call).await;
        assert_eq!(
            (status.code(), status.message()),
            (tonic::Code::Cancelled, "the request that this belongs to has ended")
        );
        let report = error_report(&status);
        assert_eq!(
            (report.stop_reason(), report.attempt_count()),
            (Some(StopReason::Cancelled), 1),
            "{stack:?}"
        );

        // After the end no attempt is made. The first call's own may still be on its way to its server.
        let backend = VirtualServer::start(Script::always(Reply::Hang));
        let mut caller = stack.caller(backend.channel(), &Setup::new(hour.clone()));
        let runtime = tokio::runtime::Handle::current();
        let late =
            move || ended.enter(|| runtime.block_on(caller.list(ListAssetsRequest::default()))).unwrap_err();
        let report = error_report(&tokio::task::spawn_blocking(late).await.unwrap());
        assert_eq!(
            (report.stop_reason(), report.attempt_count()),
            (Some(StopReason::Cancelled), 0),
            "{stack:?}"
        );
        assert_eq!(backend.seen(), []);
    }

    let (_server, connector) = FaultServer::in_memory(HttpScript::always(HttpAct::Stall));
    let (sender, begun) = mpsc::channel();
    let layer = HttpRetryLayer::new(&hour, [Code::Unavailable])
        .options(OperationOptions::new().observer(Arc::new(Begun(sender))));
    let client = layer.layer(FaultServer::full_client(connector));
    let request = http::Request::get("http://server/thing").body(Full::<Bytes>::default()).unwrap();
    let (error, _) = blocked_on(begun, async move { client.send(request).await.unwrap_err() }).await;
    assert_eq!((error.stop_reason(), error.code()), (Some(StopReason::Cancelled), Code::Cancelled));
    assert!(
        error.to_string().ends_with("(CANCELLED): the request that this belongs to has ended"),
        "{error}"
    );

    // During a wait as well; and in the scope of the request the work is dropped, as ever.
    let (sender, begun) = mpsc::channel();
    let retryer = hourly().options(OperationOptions::new().on_retry(move |_| sender.send(()).unwrap()));
    let closure = async move {
        retryer.run(|_| async { Err::<(), _>(Status::unavailable("down")) }).await.unwrap_err()
    };
    let (error, inbound) = blocked_on(begun, closure).await;
    assert_eq!((error.stop_reason(), error.report().attempt_count()), (Some(StopReason::Cancelled), 1));
    assert_eq!(error.last().unwrap().message(), "down");
    let runtime = tokio::runtime::Handle::current();
    let scoped = move || inbound.enter(|| runtime.block_on(inbound.clone().scope(pending::<()>())));
    tokio::task::spawn_blocking(scoped).await.unwrap().unwrap_err();
}

/// A request that is a retry, or is not, and what its handler's call ended with.
async fn nested<T: Send + 'static>(
    previous: &'static str,
    handler: impl Future<Output = T> + Send + 'static,
) -> T {
    serve(&[("grpc-previous-rpc-attempts", previous)], handler).await
}

#[tokio::test(start_paused = true)]
async fn calls_inside_a_retry_are_one_attempt_where_that_is_asked_for() {
    for stack in Stack::ALL {
        for (previous, refuses, attempts, reason) in [
            ("0", true, 3, StopReason::MaxAttempts),
            ("1", false, 3, StopReason::MaxAttempts),
            ("1", true, 1, StopReason::NestedRetry),
            ("4", true, 1, StopReason::NestedRetry),
        ] {
            for options in [false, true] {
                let backend = VirtualServer::start(Script::always(Reply::unavailable()));
                let settings = steady().to_builder().max_attempts(3).build().unwrap();
                let setup = Setup::new(settings).nesting_retries(!refuses);
                let mut caller = stack.caller(backend.channel(), &setup);
                let mut request = tonic::Request::new(ListAssetsRequest::default());
                if options {
                    request.extensions_mut().insert(CallOptions::new().timeout(ms(50_000)));
                }
                let report = nested(previous, async move { report_of(&caller.list(request).await) }).await;
                let seen = (report.attempt_count(), report.stop_reason(), backend.seen().len());
                assert_eq!(
                    seen,
                    (attempts, Some(reason), attempts as usize),
                    "{stack:?} {previous} {refuses}"
                );
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_that_is_not_retried_is_no_nested_retry() {
    let backend = VirtualServer::start(Script::always(Reply::status(Status::not_found(""))));
    let setup = Setup::new(steady()).nesting_retries(false);
    let mut caller = Stack::Generated.caller(backend.channel(), &setup);
    let report =
        nested("1", async move { report_of(&caller.list(ListAssetsRequest::default()).await) }).await;
    assert_eq!(report.stop_reason(), Some(StopReason::NonRetryable));
}

#[tokio::test(start_paused = true)]
async fn http_requests_inside_a_retry_are_one_attempt_where_that_is_asked_for() {
    for (allowed, times, reason) in [(true, 3, StopReason::MaxAttempts), (false, 1, StopReason::NestedRetry)]
    {
        let settings = steady().to_builder().max_attempts(3).build().unwrap();
        let (server, connector) = FaultServer::in_memory(HttpScript::always(HttpAct::status(503)));
        let layer = HttpRetryLayer::new(&settings, [Code::Unavailable])
            .options(OperationOptions::new().nested_retries(allowed));
        let client = layer.layer(FaultServer::full_client(connector));
        let stopped = nested("1", async move {
            let request = http::Request::get("http://server/thing").body(Full::<Bytes>::default()).unwrap();
            let response = client.send(request).await.unwrap();
            OperationReport::of(response.extensions()).unwrap().stop_reason()
        });
        assert_eq!(stopped.await, Some(reason));
        assert_eq!(server.arrivals().len(), times);
    }
}

#[tokio::test(start_paused = true)]
async fn closures_inside_a_retry_are_called_once_where_that_is_asked_for() {
    let settings =
        RetrySettings::builder().initial_retry_delay(Duration::ZERO).max_attempts(3).build().unwrap();
    let policy = Policy::new(&settings, CodeSet::EMPTY).with_nested_retries(false);
    for (retryer, attempts, reason) in [
        (Retryer::new(&settings, [Code::Unavailable]), 3, StopReason::MaxAttempts),
        (
            Retryer::new(&settings, [Code::Unavailable])
                .options(OperationOptions::new().nested_retries(false)),
            1,
            StopReason::NestedRetry,
        ),
        (Retryer::with_policy(policy.clone(), [Code::Unavailable]), 1, StopReason::NestedRetry),
        (
            Retryer::with_policy(policy, [Code::Unavailable])
                .options(OperationOptions::new().nested_retries(true)),
            3,
            StopReason::MaxAttempts,
        ),
    ] {
        let errors = nested("1", async move {
            let down = |_| async { Err::<(), _>(Status::unavailable("")) };
            let error = retryer.run(down).await.unwrap_err();
            let inbound = Inbound::current();
            let blocking = tokio::task::spawn_blocking(move || {
                let down = |_| Err::<(), _>(Status::unavailable(""));
                inbound.enter(|| retryer.run_blocking(down)).unwrap_err()
            });
            [error, blocking.await.unwrap()]
        });
        let seen = errors.await.map(|error| (error.report().attempt_count(), error.stop_reason()));
        assert_eq!(seen, [(attempts, Some(reason)); 2]);
    }
}

#[test]
fn handles_go_everywhere() {
    fn goes<T: Clone + Send + Sync + Unpin + 'static>() {}
    fn is_sent<T: Send>(_: &T) {}
    goes::<Inbound>();
    is_sent(&Inbound::default().scope(async {}));
    assert!(size_of::<Inbound>() <= 40);
}

//! Runtimes, files and callbacks of the program itself.

use super::clients::{Client, Connector, End, content, http_client};
use super::row::ALL;
use super::server::{Ledger, Server};
use gax_driver::observe::{ConnectionEvent, OperationInfo, OperationObserver, OperationSummary};
use gax_testing::{
    ConnectionFault as Fault, FaultProxy, Pipes, Script, StorageEmulator, VirtualServer, When,
};
use gax_transfer::{Download, TransferErrorKind};
use std::fs::File;
use std::io::{self, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::io::AsyncWrite;
use tokio::runtime::{self, Runtime};
use tokio::task::yield_now;
use tokio::time::timeout;
use tonic_gax::StartedAttempt;
use tonic_gax_tests::ms;

/// The device on which there is never room.
struct Full(File);

impl AsyncWrite for Full {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(self.0.write(bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// The server is not asked again for what there is no room for.
#[cfg(target_os = "linux")]
#[tokio::test(start_paused = true)]
async fn a_full_disk_is_an_error_of_the_target() {
    let storage = StorageEmulator::start();
    storage.put("b", "1", content(1));
    let client = http_client(&Connector::new(storage.connector()), false);
    let mut full = Full(File::options().write(true).open("/dev/full").unwrap());
    let download = Download::of_object("http://server.test", "b", "1");
    let error = download.to_writer(&client, &mut full).await.unwrap_err();
    assert_eq!(error.kind(), TransferErrorKind::Sink, "{error}");
    assert!(error.to_string().contains("No space left"), "{error}");
    assert_eq!(storage.arrivals().len(), 1);
}

/// A server of each client in the context of a runtime, behind a proxy.
fn served(client: Client) -> (FaultProxy, Pipes, Ledger, VirtualServer) {
    let ledger = Ledger::default();
    let server = VirtualServer::serving(Server::new(&ledger), Script::new());
    let (proxy, pipes) = if client.is_transfer() {
        let storage = StorageEmulator::start();
        (0..9).for_each(|call| {
            storage.put("b", &(2 * call + 1).to_string(), content(2 * call + 1));
        });
        FaultProxy::in_memory(storage.connector())
    } else {
        FaultProxy::in_memory(server.connector())
    };
    (proxy, pipes, ledger, server)
}

/// The clients of all letters, over HTTP/2.
fn clients() -> impl Iterator<Item = Client> {
    ALL.chars().flat_map(|letter| Client::of(letter).iter().copied()).filter(|client| !client.is_http1())
}

/// The first call of each client, and those after it, in the numbers that every client can take.
const FIRST: u32 = 0;

/// Those that wait are dropped with it. Later calls end, well or with an error: a `Channel` ends with its runtime, and so does a batcher.
#[test]
fn a_runtime_that_is_dropped_while_calls_wait() {
    let mut running = Vec::new();
    for client in clients() {
        running.push(std::thread::spawn(move || {
            let serving = Runtime::new().unwrap();
            let context = serving.enter();
            let (proxy, pipes, ledger, _server) = served(client);
            drop(context);
            // One thread, which drops its tasks without polling the others meanwhile: no call sees the connection's task go.
            let first = runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let connector = Connector::new(pipes);
            let calls = first.block_on(async { client.calls(&connector, &ledger) });
            assert_eq!(first.block_on(calls(FIRST)), End::Done, "{client:?}");
            proxy.now(&Fault::HalfOpen(When::Start));
            let waiting = first.spawn(calls(2));
            first.block_on(async {
                for _ in 0..100 {
                    yield_now().await;
                }
            });
            drop(first);
            let second = Runtime::new().unwrap();
            assert!(second.block_on(waiting).is_err_and(|error| error.is_cancelled()), "{client:?}");
            let end = second.block_on(async { timeout(Duration::from_secs(30), calls(4)).await });
            (client, end.expect("a later call hangs"))
        }));
    }
    for running in running {
        let (client, end) = running.join().unwrap();
        match client {
            Client::ConnectedLayer
            | Client::ConnectedGenerated
            | Client::Http2
            | Client::Transfers2
            | Client::Rest2 => {
                assert_eq!(end, End::Done, "{client:?}");
            }
            // Its token is still good.
            Client::Credentials => assert_eq!(end, End::Done),
            _ => assert!(
                matches!(&end, End::Failed { message, .. } if !message.is_empty()),
                "{client:?}: {end:?}"
            ),
        }
    }
}

/// No call waits for ever without anybody to wake it: its timer panics, as tokio's do. An element of a batch waits for the batcher, whose task has a
/// runtime.
#[test]
fn calls_outside_a_runtime_say_so() {
    for client in clients().filter(|client| *client != Client::Batches) {
        let serving = Runtime::new().unwrap();
        let context = serving.enter();
        let (_proxy, pipes, ledger, _server) = served(client);
        let calls = client.calls(&Connector::new(pipes), &ledger);
        drop(context);
        let polled = catch_unwind(AssertUnwindSafe(|| {
            let mut call = calls(FIRST);
            call.as_mut().poll(&mut Context::from_waker(Waker::noop()))
        }));
        let panic = polled.unwrap_err();
        let text =
            panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref().copied());
        assert!(
            text.is_some_and(|text| text.starts_with("there is no reactor running")),
            "{client:?}: {text:?}"
        );
    }
}

/// A callback that is notified of everything.
type Meddle = Box<dyn Fn() + Send + Sync>;

#[derive(Default)]
struct Meddles {
    meddle: OnceLock<Meddle>,
    times: Mutex<u32>,
}

impl Meddles {
    fn notified(&self) {
        *self.times.lock().unwrap() += 1;
        if let Some(meddle) = self.meddle.get() {
            meddle();
        }
    }
}

impl OperationObserver for Meddles {
    fn operation_started(&self, _: &OperationInfo) {
        self.notified();
    }

    fn attempt_started(&self, _: &OperationInfo, _: StartedAttempt) {
        self.notified();
    }

    fn operation_succeeded(&self, _: &OperationInfo, _: &OperationSummary) {
        self.notified();
    }

    fn operation_cancelled(&self, _: &OperationInfo, _: &OperationSummary) {
        self.notified();
    }

    fn connection_event(&self, _: &ConnectionEvent<'_>) {
        self.notified();
    }
}

/// The call of each client with that callback.
async fn observed(client: Client, meddle: impl FnOnce(Arc<super::clients::Calls>) -> Meddle) {
    let (_proxy, pipes, ledger, _server) = served(client);
    let observer = Arc::new(Meddles::default());
    let connector = Connector::new(pipes).observed(Arc::clone(&observer) as _);
    let calls = Arc::new(client.calls(&connector, &ledger));
    observer.meddle.set(meddle(Arc::clone(&calls))).ok().unwrap();
    let end = timeout(ms(60_000), calls(FIRST)).await;
    assert_eq!(end.ok(), Some(End::Done), "{client:?}");
    assert!(*observer.times.lock().unwrap() > 0, "{client:?}");
}

#[tokio::test(start_paused = true)]
async fn callbacks_that_panic() {
    for client in clients() {
        observed(client, |_| Box::new(|| resume_unwind(Box::new("a panic that nobody prints")))).await;
    }
}

/// One holds the thread, and begins a call of the client that notifies it, which it drops.
#[tokio::test(start_paused = true)]
async fn callbacks_that_block_or_call_back() {
    for client in clients() {
        observed(client, |calls| {
            let is_inside = Mutex::new(false);
            Box::new(move || {
                std::thread::sleep(ms(1));
                let mut inside = match is_inside.try_lock() {
                    Ok(inside) if !*inside => inside,
                    _ => return,
                };
                *inside = true;
                let mut call = calls(2);
                let polled = call.as_mut().poll(&mut Context::from_waker(Waker::noop()));
                assert!(polled.is_pending());
            })
        })
        .await;
    }
}

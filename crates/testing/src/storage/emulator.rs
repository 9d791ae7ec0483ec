//! The emulator.

use super::serve::serve;
use super::shared::Shared;
use super::state::Stage;
use super::{StorageArrival, StorageFault, StorageObject};
use crate::Pipes;
use crate::network::Acceptor;
use gax_driver::__private::Locked;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use std::io;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinSet;

/// An emulator of Cloud Storage in this process, with faults at any byte: for tests of programs that upload and download.
///
/// It has the part of the JSON API that transfers are made of: objects are inserted (media, multipart, and uploads that can be
/// resumed), read whole or in ranges, described, listed and deleted, under preconditions. Uploads follow Cloud Storage's own
/// protocol or Google's universal one (`X-Goog-Upload-*`). It speaks HTTP/1.1 and HTTP/2, over pipes in virtual time and over
/// sockets. A bucket is there as soon as it is named. Of an object there is one generation at a time.
///
/// Clones share everything.
///
/// # Examples
///
/// The connection breaks in the middle of a chunk. Of what came, Cloud Storage keeps a multiple of 256 KiB.
///
/// ```
/// use bytes::Bytes;
/// use http::{Method, Request};
/// use http_body_util::Full;
/// use hyper_util::client::legacy::Client;
/// use hyper_util::rt::TokioExecutor;
/// use gax_testing::{StorageEmulator, StorageFault};
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let storage = StorageEmulator::start();
/// storage.fault(StorageFault::reset().at(300_000));
/// let client = Client::builder(TokioExecutor::new()).build(storage.connector());
///
/// let start = "http://storage.test/upload/storage/v1/b/books/o?uploadType=resumable&name=emma";
/// let started = client.request(Request::post(start).body(Full::<Bytes>::default())?).await?;
/// let session = started.headers()["location"].to_str()?.to_owned();
/// let put = |range: &str, body: Vec<u8>| {
///     Request::builder().method(Method::PUT).uri(&session).header("content-range", range).body(Full::from(body))
/// };
/// assert!(client.request(put("bytes 0-399999/400000", vec![7; 400_000])?).await.is_err());
///
/// let status = client.request(put("bytes */400000", Vec::new())?).await?;
/// assert_eq!((status.status().as_u16(), &status.headers()["range"]), (308, &"bytes=0-262143".parse()?));
/// client.request(put("bytes 262144-399999/400000", vec![7; 137_856])?).await?;
/// assert_eq!(storage.object("books", "emma").map(|object| object.content().len()), Some(400_000));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct StorageEmulator {
    shared: Arc<Shared>,
    pipes: Pipes,
    /// The tasks that accept connections over sockets. They end with the last clone of the emulator.
    listeners: Arc<Locked<JoinSet<()>>>,
}

impl StorageEmulator {
    /// An emulator without objects, behind pipes.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    #[must_use]
    pub fn start() -> Self {
        let (shared, pipes) = (Arc::new(Shared::new()), Pipes::new());
        tokio::spawn(accept(Arc::clone(&shared), Acceptor::of(&pipes)));
        Self { shared, pipes, listeners: Arc::default() }
    }

    /// Of the bytes of a request that is cut, a multiple of that number counts from the object's begin on; 256 KiB unless
    /// said, as in Cloud Storage. With 1 each byte counts that has come.
    #[must_use]
    pub fn granularity(self, bytes: u64) -> Self {
        self.shared.state.change(|state| state.granularity = bytes);
        self
    }

    /// Makes connections to it, in memory, whatever the URL: a tower service, as hyper-util's client takes one.
    #[must_use]
    pub fn connector(&self) -> Pipes {
        self.pipes.clone()
    }

    /// Listens at a free port of the loopback device too; returns the URL, such as `http://127.0.0.1:49152`. It ends with the last
    /// clone of the emulator.
    ///
    /// # Errors
    ///
    /// No port can be had.
    #[expect(clippy::unused_async, reason = "it has to be called in a runtime")]
    pub async fn listen(&self) -> io::Result<String> {
        let (acceptor, address) = Acceptor::on_loopback()?;
        let accepting = accept(Arc::clone(&self.shared), acceptor);
        self.listeners.lock().spawn(accepting);
        Ok(format!("http://{address}"))
    }

    /// Puts an object into a bucket; returns its generation.
    pub fn put(&self, bucket: &str, name: &str, object: impl Into<StorageObject>) -> i64 {
        self.shared.state.change(|state| state.objects.put(bucket, name, object.into()).generation())
    }

    /// An object as it is now.
    #[must_use]
    pub fn object(&self, bucket: &str, name: &str) -> Option<StorageObject> {
        self.shared.state.change(|state| state.objects.get(bucket, name).cloned())
    }

    /// The names of a bucket's objects, in order.
    #[must_use]
    pub fn names(&self, bucket: &str) -> Vec<String> {
        self.shared.state.change(|state| state.objects.of(bucket).map(|(name, _)| name.clone()).collect())
    }

    /// How many uploads have been started and are neither whole, cancelled nor expired.
    #[must_use]
    pub fn open_uploads(&self) -> usize {
        self.shared.state.change(|state| state.sessions.values().filter(|session| session.is_open()).count())
    }

    /// Lets all open uploads expire: requests to them are replied to with that status, 404 or 410.
    pub fn expire_uploads(&self, status: u16) {
        self.shared.state.change(|state| {
            for session in state.sessions.values_mut().filter(|session| session.is_open()) {
                session.stage = Stage::Expired(status);
            }
        });
    }

    /// Breaks all connections that are open.
    pub fn disconnect(&self) {
        self.shared.disconnect();
    }

    /// Adds a fault behind those that are yet to happen.
    pub fn fault(&self, fault: StorageFault) {
        self.shared.state.change(|state| state.faults.add(fault));
    }

    /// How many faults are yet to happen. One that always happens counts too.
    #[must_use]
    pub fn faults_left(&self) -> usize {
        self.shared.state.change(|state| state.faults.len())
    }

    /// Waits until a request [stalls](StorageFault::stall); each stall is waited for once.
    ///
    /// # Cancel safety
    ///
    /// A stall that happens after the future is dropped is there for the next one.
    pub async fn stalled(&self) {
        // The semaphore is never closed.
        if let Ok(permit) = self.shared.stalls.acquire().await {
            permit.forget();
        }
    }

    /// The requests that reached it.
    #[must_use]
    pub fn arrivals(&self) -> Vec<StorageArrival> {
        self.shared.state.change(|state| state.arrivals.clone())
    }
}

/// Serves connections until nobody connects any longer.
async fn accept(shared: Arc<Shared>, acceptor: Acceptor) {
    acceptor.each(|io| connection(Arc::clone(&shared), io)).await;
}

/// Serves a connection until it ends or is broken.
async fn connection(shared: Arc<Shared>, io: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
    let broken = shared.connection();
    let service = service_fn(move |request| serve(Arc::clone(&shared), request));
    let server = auto::Builder::new(TokioExecutor::new());
    let serving = server.serve_connection(TokioIo::new(io), service);
    // However it ends, the client sees it.
    drop(broken.run_until_cancelled(serving).await);
}

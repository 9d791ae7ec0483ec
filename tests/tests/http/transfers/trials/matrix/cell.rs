//! One cell: a transfer of one kind, over one client, with one fault.
#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use super::fault::{Fault, On, World};
use crate::http::transfers::setup::{KIB_256, Scratch, content};
use bytes::Bytes;
use gax_http::{HttpRetryLayer, HttpRetryService, IdempotencyStrategy, ReplayBody, ReqwestService};
use gax_testing::{HttpChange, HttpPeer, HttpReply, Pipes, StorageEmulator, StorageFault};
use gax_transfer::{
    Download, TransferError, TransferErrorKind, TransferProgress, TransferService, Upload, UploadSource,
};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::rt::TokioExecutor;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use tonic_gax::{Code, RetrySettings};
use tonic_gax_tests::{FaultProxy, HttpScript, ms};

pub(super) const SIZE: usize = 2 * KIB_256 + 1000;
/// The bytes of a large object: more than twenty chunks.
pub(super) const LARGE: usize = 24 * KIB_256 + 1000;

/// The bytes of an object of that size.
fn whole(size: usize) -> Bytes {
    static WHOLE: OnceLock<Bytes> = OnceLock::new();
    WHOLE.get_or_init(|| content(LARGE)).slice(..size)
}

/// Where the first response to a download ends, if it is cut.
const CUT: usize = 50_000;

/// A kind of transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    UploadMemory,
    UploadFile,
    UploadStream,
    UploadResumed,
    UploadSingle,
    DownloadMemory,
    DownloadFile,
    DownloadWriter,
    DownloadParallel,
    DownloadResumed,
}

impl Kind {
    pub(super) const UPLOADS: [Self; 5] =
        [Self::UploadMemory, Self::UploadFile, Self::UploadStream, Self::UploadResumed, Self::UploadSingle];
    pub(super) const DOWNLOADS: [Self; 5] = [
        Self::DownloadMemory,
        Self::DownloadFile,
        Self::DownloadWriter,
        Self::DownloadParallel,
        Self::DownloadResumed,
    ];

    fn is_upload(self) -> bool {
        Self::UPLOADS.contains(&self)
    }

    fn is_resumed(self) -> bool {
        [Self::UploadResumed, Self::DownloadResumed].contains(&self)
    }

    /// A connection that breaks in the middle, as a client sees it. The server gets a part of the first request alone.
    fn cut(self, is_first: bool) -> HttpReply {
        match self {
            upload if upload.is_upload() && is_first => HttpReply::Forward(vec![HttpChange::Lose]),
            upload if upload.is_upload() => HttpReply::Reset,
            _ => HttpReply::Forward(vec![HttpChange::Cut(CUT)]),
        }
    }
}

/// Returns whether one is left, which is taken.
fn take(left: &AtomicUsize) -> bool {
    left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok()
}

/// The server, and what stands before it.
pub(super) struct Stage {
    storage: StorageEmulator,
    peer: HttpPeer,
    pipes: Pipes,
    fault: Fault,
    world: World,
    /// How often the connection breaks in the middle from now on.
    cuts: Arc<AtomicUsize>,
    /// How many replies the fault makes from now on.
    left: Arc<AtomicUsize>,
    scratch: Scratch,
    kind: Kind,
    idle_timeout: Duration,
    total_timeout: Duration,
}

/// In real time: long enough for a busy machine to send megabytes and to add up their checksum.
const REAL_TIMEOUT: Duration = Duration::from_secs(60);
/// In real time, where nothing else ends the silence. A request that it ends without a fault is sent again.
const SILENCE: Duration = ms(1500);

impl Stage {
    fn layer(&self, attempts: u32) -> HttpRetryLayer {
        let settings = RetrySettings::builder()
            .max_attempts(attempts)
            .initial_retry_delay(ms(1))
            .retry_delay_multiplier(1.0)
            .total_timeout(self.total_timeout);
        let codes = [Code::Unavailable, Code::DeadlineExceeded, Code::ResourceExhausted];
        let layer = HttpRetryLayer::new(&settings.build().unwrap(), codes);
        // Otherwise an upload in one request has to be safe by the rules of a host.
        if self.kind == Kind::UploadSingle { layer.strategy(IdempotencyStrategy::Always) } else { layer }
    }

    fn new(kind: Kind, fault: &Fault, other: impl FnOnce(&HttpPeer) -> String) -> Self {
        let storage = StorageEmulator::start();
        let content = whole(if fault.is_large { LARGE } else { SIZE });
        let generation = if kind.is_upload() { 0 } else { storage.put("b", "folder/o", content.clone()) };
        let mut world = World { other: String::new(), content, generation };
        let (cuts, left) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (cuts_left, replies_left, reply) = (Arc::clone(&cuts), Arc::clone(&left), fault.reply.clone());
        let shared = Arc::new(Mutex::new(world.clone()));
        let (of, has_cut) = (Arc::clone(&shared), AtomicBool::new(false));
        let script = HttpScript::by(move |_, arrival| {
            let middle = if kind.is_upload() { On::Send } else { On::First };
            if middle.is(arrival) && take(&cuts_left) {
                return kind.cut(!has_cut.swap(true, Ordering::SeqCst));
            }
            match &reply {
                Some((on, _, make)) if on.is(arrival) && take(&replies_left) => {
                    make(arrival, &of.lock().unwrap())
                }
                _ => HttpReply::Forward(Vec::new()),
            }
        });
        let late = HttpReply::status(408).with_header("connection", "close");
        let script = if fault.is_idle { script.idle(ms(1), Some(late)) } else { script };
        let (peer, pipes) = HttpPeer::before(storage.connector(), script);
        world.other = other(&peer);
        shared.lock().unwrap().other.clone_from(&world.other);
        Self {
            storage,
            peer,
            pipes,
            fault: fault.clone(),
            world,
            cuts,
            left,
            scratch: Scratch::new("o"),
            kind,
            idle_timeout: ms(400),
            total_timeout: Duration::from_secs(20),
        }
    }

    /// So many connections break in the middle from now on.
    fn cut(&self, connections: usize) {
        self.cuts.store(connections, Ordering::SeqCst);
        if self.kind.is_upload() {
            self.storage.fault(StorageFault::persisted(KIB_256 as u64));
        }
    }

    /// Over pipes, in virtual time.
    pub(super) async fn over_hyper(kind: Kind, fault: &Fault) -> String {
        let stage = Self::new(kind, fault, |_| "http://other.test".to_owned());
        let (proxy, pipes) = FaultProxy::in_memory(stage.pipes.clone());
        let builder = Client::builder(TokioExecutor::new());
        if stage.fault.is_tunnelled {
            let tunnel = Tunnel::new("http://proxy.test".parse().unwrap(), pipes);
            let client = || builder.build::<_, ReplayBody>(tunnel.clone());
            return stage.run(&proxy, "http://storage.test", client).await;
        }
        stage.run(&proxy, "http://storage.test", || builder.build::<_, ReplayBody>(pipes.clone())).await
    }

    /// Over sockets.
    pub(super) async fn over_reqwest(kind: Kind, fault: &Fault) -> String {
        let idle_timeout = if fault.is_silent { SILENCE } else { REAL_TIMEOUT };
        let stage =
            Self { idle_timeout, total_timeout: REAL_TIMEOUT, ..Self::new(kind, fault, |_| String::new()) };
        let address = |url: String| url.trim_start_matches("http://").parse().unwrap();
        let (proxy, front) = FaultProxy::listen(address(stage.peer.listen().await.unwrap())).await.unwrap();
        let client = || ReqwestService::for_transfers(reqwest::Client::builder().no_proxy()).unwrap();
        stage.run(&proxy, &format!("http://{front}"), client).await
    }

    async fn run<S: TransferService>(self, proxy: &FaultProxy, url: &str, client: impl Fn() -> S) -> String {
        if self.kind.is_resumed() {
            self.cut(usize::MAX);
            let first = self.transfer(&self.layer(1).layer(client()), url).await;
            assert!(first.is_err(), "{:?}: the connection breaks", self.kind);
            self.cuts.store(0, Ordering::SeqCst);
        } else if self.fault.is_cut {
            self.cut(1);
        }
        let (count, faults) = &self.fault.connections;
        (0..*count).for_each(|_| proxy.next(faults.clone()));
        let skip = u32::from(self.fault.is_cut && !self.kind.is_resumed());
        self.fault.storage.iter().for_each(|fault| self.storage.fault(fault.clone().skip(skip)));
        self.left.store(self.fault.reply.as_ref().map_or(0, |(_, times, _)| *times), Ordering::SeqCst);
        let client = self.layer(6).layer(client());
        let ended = tokio::time::timeout(3 * REAL_TIMEOUT, self.transfer(&client, url)).await;
        for arrival in self.peer.arrivals() {
            let host = arrival.header("host").unwrap_or_default();
            let is_other = !self.world.other.is_empty() && self.world.other.ends_with(host);
            assert!(!is_other || arrival.header("authorization").is_none(), "{:?}: a secret left", self.kind);
        }
        match ended {
            Err(_) => "hangs".to_owned(),
            Ok(Ok((bytes, is_verified))) => {
                let object = self.storage.object("b", "folder/o");
                let is_true = object.is_some_and(|object| {
                    let wanted = if self.kind.is_upload() { &self.world.content } else { object.content() };
                    object.content() == wanted && bytes.is_none_or(|bytes| bytes == *wanted)
                });
                match (is_true, is_verified) {
                    (false, _) => "UNTRUE SUCCESS".to_owned(),
                    (true, true) => "V".to_owned(),
                    (true, false) => "U".to_owned(),
                }
            }
            Ok(Err(error)) => {
                letter(&error).map_or_else(|| format!("{:?}, {error}", error.kind()), str::to_owned)
            }
        }
    }

    /// The bytes that came, if any were to, and whether the end is verified.
    async fn transfer<S: TransferService>(
        &self,
        client: &HttpRetryService<S>,
        url: &str,
    ) -> Result<(Option<Vec<u8>>, bool), TransferError> {
        let (path, whole) = (self.scratch.path(), self.world.content.clone());
        let secret = ("authorization", "secret");
        let (kind, size, mut last) = (self.kind, whole.len() as u64, TransferProgress::default());
        // Only bytes of the object count, and they are lost only where the transfer is resumed.
        let check = move |progress: &TransferProgress| {
            let goes_back = progress.bytes() < last.bytes() && progress.resumptions() == last.resumptions();
            assert!(!goes_back, "{kind:?}: {last} is followed by {progress}");
            let most = progress.total().unwrap_or(u64::MAX);
            let most = if kind.is_upload() { most.min(size) } else { most };
            assert!(progress.bytes() <= most, "{kind:?}: {progress} of {most}");
            assert!(progress.resumptions() >= last.resumptions(), "{kind:?}: {last}, {progress}");
            last = *progress;
        };
        let upload = |source: UploadSource| {
            let upload = Upload::to_object(url, "b", "folder/o", source).header(secret.0, secret.1);
            let upload = upload.idle_timeout(self.idle_timeout).on_progress(check);
            if self.fault.is_chunked { upload.chunk_size(KIB_256 as u64) } else { upload }
        };
        let download = || {
            let download = Download::of_object(url, "b", "folder/o").header(secret.0, secret.1);
            download.idle_timeout(self.idle_timeout).on_progress(check)
        };
        let uploaded = match self.kind {
            Kind::UploadMemory => upload(whole.into()).single_request_below(0).send(client).await,
            Kind::UploadFile => {
                std::fs::write(&path, &whole).unwrap();
                upload(UploadSource::file(&path)).single_request_below(0).send(client).await
            }
            Kind::UploadStream => {
                let source = UploadSource::reader(std::io::Cursor::new(whole));
                upload(source).chunk_size(KIB_256 as u64).send(client).await
            }
            Kind::UploadResumed => {
                let upload = upload(whole.into()).single_request_below(0);
                upload.state_file(self.scratch.beside(".state")).send(client).await
            }
            // One that is lost may have made the object.
            Kind::UploadSingle => upload(whole.into()).query("ifGenerationMatch", "0").send(client).await,
            Kind::DownloadMemory => {
                let (bytes, downloaded) = download().to_bytes(client).await?;
                return Ok((Some(bytes.to_vec()), downloaded.is_verified()));
            }
            Kind::DownloadWriter => {
                let mut written = Vec::new();
                let downloaded = download().to_writer(client, &mut written).await?;
                return Ok((Some(written), downloaded.is_verified()));
            }
            Kind::DownloadFile | Kind::DownloadParallel | Kind::DownloadResumed => {
                let download = match self.kind {
                    Kind::DownloadParallel => download().parallel(3, 64 * 1024),
                    Kind::DownloadResumed => download().resumable(),
                    _ => download(),
                };
                let downloaded = download.to_file(client, &path).await;
                assert!(downloaded.is_ok() || !path.exists(), "{:?}: a part has the final name", self.kind);
                let is_verified = downloaded?.is_verified();
                return Ok((Some(std::fs::read(&path).unwrap()), is_verified));
            }
        };
        uploaded.map(|uploaded| (None, uploaded.is_verified()))
    }
}

/// The letter of an error in the table, if it has one.
fn letter(error: &TransferError) -> Option<&'static str> {
    Some(match error.kind() {
        TransferErrorKind::Status => "S",
        TransferErrorKind::Connection => "C",
        TransferErrorKind::TimedOut => "T",
        TransferErrorKind::Source => "R",
        TransferErrorKind::ChecksumMismatch => "K",
        TransferErrorKind::ObjectChanged => "O",
        TransferErrorKind::Malformed => "M",
        TransferErrorKind::Cancelled => "X",
        _ => return None,
    })
}

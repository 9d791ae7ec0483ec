//! Transfers to an emulator of Cloud Storage that breaks off, stalls, loses replies and says wrong things by a random schedule. What
//! succeeds is there, byte by byte, and nothing fails that the settings save.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use bytes::Bytes;
use gax_http::{HttpRetryLayer, HttpRetryService, ReplayBody, presets};
use gax_testing::{Pipes, StorageCall, StorageEmulator, StorageFault};
use gax_transfer::{Download, TransferError, Upload};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use std::path::PathBuf;
use tonic_gax_tests::chaos::{Draw, SeedOutcome, Seeds};
use tonic_gax_tests::{ms, virtual_time};

const URL: &str = "http://storage.test";
const CHUNK: u64 = 256 * 1024;

/// A transfer.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Single,
    Resumable,
    Universal,
    Bytes,
    File,
    Parallel,
}

impl Kind {
    const ALL: [Self; 6] =
        [Self::Single, Self::Resumable, Self::Universal, Self::Bytes, Self::File, Self::Parallel];

    fn is_upload(self) -> bool {
        matches!(self, Self::Single | Self::Resumable | Self::Universal)
    }
}

/// A transfer of so many bytes.
#[derive(Debug, Clone, Copy)]
struct Drawn {
    kind: Kind,
    size: u64,
    granularity: u64,
    is_http2: bool,
}

impl Drawn {
    fn new(seed: u64) -> (Self, Draw) {
        let mut draw = Draw::new(seed);
        let drawn = Self {
            kind: draw.pick(&Kind::ALL),
            size: draw.pick(&[0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 3 * CHUNK + 77]),
            granularity: draw.pick(&[1, CHUNK]),
            is_http2: draw.percent(30),
        };
        (drawn, draw)
    }
}

/// A fault of the emulator, and whether a transfer has to end well in spite of it.
#[derive(Debug, Clone)]
struct Fault {
    fault: StorageFault,
    is_saved: bool,
}

impl Fault {
    fn draw(draw: &mut Draw, Drawn { kind, size, .. }: Drawn) -> Self {
        let place = draw.below(size + 1);
        let few = draw.below(1000);
        let reply = draw.pick(&[503, 500, 502, 504, 429, 408]);
        let call = match kind {
            Kind::Single => StorageCall::Insert,
            Kind::Resumable | Kind::Universal => StorageCall::Upload,
            Kind::Bytes | Kind::File | Kind::Parallel => StorageCall::Download,
        };
        let version = Bytes::from_static(b"another version");
        let (fault, is_saved) = match draw.below(if kind.is_upload() { 11 } else { 12 }) {
            0 => (StorageFault::reset(), true),
            1 | 2 => (StorageFault::reset().at(place), true),
            3 => (StorageFault::status(reply), true),
            4 => (StorageFault::delay(draw.ms(0, 20_000)), true),
            5 => (StorageFault::lost_reply(), true),
            6 => (StorageFault::cut_reply(few), true),
            7 => (StorageFault::stall().at(place), true),
            8 => (StorageFault::corrupt(place.min(size.saturating_sub(1))).on(call), false),
            9 if kind.is_upload() => (StorageFault::persisted(place), true),
            9 => (StorageFault::ignored_range(), true),
            10 if kind.is_upload() => (StorageFault::expired(draw.pick(&[404, 410])), false),
            10 => (StorageFault::earlier_range(few), true),
            _ => (StorageFault::overwrite(version), false),
        };
        let fault = if draw.percent(50) { fault.on(call) } else { fault };
        Self { fault: fault.skip(draw.pick(&[0, 0, 0, 1, 2])), is_saved }
    }

    fn schedule(seed: u64) -> Vec<Self> {
        let (drawn, mut draw) = Drawn::new(seed);
        (0..draw.below(7)).map(|_| Self::draw(&mut draw, drawn)).collect()
    }
}

type StorageClient = HttpRetryService<Client<Pipes, ReplayBody>>;

/// Transfers the content, and returns what is where it should be.
async fn transfer(
    kind: Kind,
    storage: &StorageEmulator,
    client: &StorageClient,
    content: &Bytes,
    target: PathBuf,
) -> Result<Bytes, TransferError> {
    let upload = |upload: Upload<'static>| async move {
        let uploaded = upload.send(client).await?;
        assert_eq!(uploaded.bytes(), content.len() as u64);
        Ok(storage.object("b", "o").unwrap().content().clone())
    };
    let to_object = || Upload::to_object(URL, "b", "o", content.clone()).query("ifGenerationMatch", "0");
    let download = || Download::of_object(URL, "b", "o");
    let file = |download: Download<'static>| async move {
        download.to_file(client, target.clone()).await?;
        Ok(std::fs::read(target).unwrap().into())
    };
    match kind {
        Kind::Single => upload(to_object().single_request_below(u64::MAX)).await,
        Kind::Resumable => upload(to_object().single_request_below(0).chunk_size(CHUNK)).await,
        Kind::Universal => {
            let start = format!("{URL}/upload/storage/v1/b/b/o?name=o&ifGenerationMatch=0");
            upload(Upload::universal(http::Request::post(start).body(()).unwrap(), content.clone())).await
        }
        Kind::Bytes => download().to_bytes(client).await.map(|(bytes, _)| bytes),
        Kind::File => file(download()).await,
        Kind::Parallel => file(download().parallel(3, 100_000)).await,
    }
}

async fn outcome(seed: u64, schedule: &[Fault]) -> SeedOutcome {
    let (drawn, _) = Drawn::new(seed);
    let storage = StorageEmulator::start().granularity(drawn.granularity);
    let content: Bytes =
        (0..drawn.size).map(|place| u8::try_from((place * 31 + place / 251) % 251).unwrap()).collect();
    if !drawn.kind.is_upload() {
        storage.put("b", "o", content.clone());
    }
    for fault in schedule {
        storage.fault(fault.fault.clone());
    }
    let client = Client::builder(TokioExecutor::new()).http2_only(drawn.is_http2).build(storage.connector());
    let client = HttpRetryLayer::preset(&presets::storage().with_host("storage.test")).layer(client);
    let folder = std::env::temp_dir().join(format!("gax-schedules-{}-{seed}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let ended = transfer(drawn.kind, &storage, &client, &content, folder.join("o"));
    let ended = tokio::time::timeout(ms(10_000_000), ended).await;
    let left = std::fs::read_dir(&folder).unwrap().count();
    std::fs::remove_dir_all(folder).unwrap();
    let mut outcome = SeedOutcome::of(format!("{drawn:?}\n{:#?}", storage.arrivals()));
    let is_whole = |bytes: &Bytes| *bytes == content || !drawn.kind.is_upload() && bytes == "another version";
    let files = usize::from(matches!(drawn.kind, Kind::File | Kind::Parallel));
    match &ended {
        Err(_) => outcome.broken.push("it never ended".to_owned()),
        Ok(Ok(bytes)) if !is_whole(bytes) => {
            outcome.broken.push(format!("{} other bytes are a success", bytes.len()));
        }
        Ok(Err(error)) if schedule.iter().all(|fault| fault.is_saved) => {
            outcome.broken.push(format!("it was lost: {error}"));
        }
        Ok(ended) if left != if ended.is_ok() { files } else { 0 } => {
            outcome.broken.push(format!("{left} files are left"));
        }
        _ => {}
    }
    outcome
}

#[test]
fn transfers_with_faults() {
    let seeds = Seeds::of("transfers_with_faults", 50);
    seeds.run_schedules(Fault::schedule, |seed, schedule| virtual_time().block_on(outcome(seed, schedule)));
}

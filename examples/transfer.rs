//! Copies a folder to Cloud Storage, or back, with a progress bar; a copy that was killed resumes.
//!
//! ```text
//! STORAGE_EMULATOR_HOST=http://localhost:9000 cargo run --example transfer -- photos gs://backup/2026
//! STORAGE_EMULATOR_HOST=http://localhost:9000 cargo run --example transfer -- gs://backup/2026 restored
//! ```
//!
//! Without the variable it shows what it does: it copies some files to an emulator in this process whose connections break, is
//! interrupted twice, and copies them back.
//!
//! An object that has the checksum of the file is not copied again, and a transfer that was in progress
//! continues by its state file. The state files of uploads are in a separate folder, `.gax-transfers` unless `--state FOLDER` is
//! given: other users must not be able to read them, because the URI of a session is as powerful as a password.

use bytes::Bytes;
use gax_driver::strategy::Backoff;
use gax_http::{HttpRetryLayer, HttpRetryService, ReplayBody, presets};
use gax_testing::{StorageCall, StorageEmulator, StorageFault};
use gax_transfer::{Download, TransferErrorKind, Upload, UploadSource, path_within};
use http::Request;
use http_body_util::BodyExt as _;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use indicatif::{ProgressBar, ProgressStyle};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

const USAGE: &str = "\
Copies a folder to Cloud Storage, or back, at STORAGE_EMULATOR_HOST.

Usage: transfer [--state FOLDER] FOLDER gs://BUCKET[/PREFIX]
       transfer gs://BUCKET[/PREFIX] FOLDER
";

type AnyError = Box<dyn Error + Send + Sync>;

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), AnyError> {
    // Without the variable, the arguments are those of a test.
    match std::env::var("STORAGE_EMULATOR_HOST") {
        Ok(url) => Copy::read(&url, std::env::args().skip(1))?.run().await.map(drop),
        Err(_) => show().await,
    }
}

/// A folder, and objects whose names begin alike.
pub(crate) struct Copy {
    url: String,
    folder: PathBuf,
    bucket: String,
    /// Empty, or with a slash at the end.
    prefix: String,
    is_upload: bool,
    /// Where uploads keep their state.
    state: PathBuf,
}

impl Copy {
    pub(crate) fn read(url: &str, arguments: impl IntoIterator<Item = String>) -> Result<Self, AnyError> {
        let (mut state, mut places) = (PathBuf::from(".gax-transfers"), Vec::new());
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            match &*argument {
                "--state" => state = arguments.next().ok_or("--state needs a folder")?.into(),
                option if option.starts_with('-') => {
                    return Err(format!("there is no {option}\n\n{USAGE}").into());
                }
                _ => places.push(argument),
            }
        }
        let (is_upload, folder, objects) = match &*places {
            [from, to] => match (from.strip_prefix("gs://"), to.strip_prefix("gs://")) {
                (None, Some(objects)) => (true, from, objects),
                (Some(objects), None) => (false, to, objects),
                _ => return Err(format!("one of the two has to be gs://BUCKET\n\n{USAGE}").into()),
            },
            _ => return Err(USAGE.into()),
        };
        let (bucket, prefix) = objects.split_once('/').unwrap_or((objects, ""));
        let prefix = prefix.trim_end_matches('/');
        let prefix = if prefix.is_empty() { String::new() } else { format!("{prefix}/") };
        Ok(Self {
            url: url.trim_end_matches('/').to_owned(),
            folder: folder.into(),
            bucket: bucket.to_owned(),
            prefix,
            is_upload,
            state,
        })
    }

    /// Copies the missing files, and compares the checksums of all; returns the number of copied files.
    pub(crate) async fn run(&self) -> Result<usize, AnyError> {
        let client = self.client()?;
        let copied = if self.is_upload { self.up(&client).await? } else { self.down(&client).await? };
        let objects = self.objects(&client).await?;
        for (name, object) in &objects {
            let path = self.path(name)?;
            // Other uploads may have run at the same time.
            let is_ours = !self.is_upload || path.exists();
            if is_ours && crc32c_of(&path)? != object.crc32c {
                return Err(format!("{} differs from gs://{}/{name}", path.display(), self.bucket).into());
            }
        }
        println!("copied {copied} files, compared {}", objects.len());
        Ok(copied)
    }

    fn client(&self) -> Result<Storage, AnyError> {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        let client = Client::builder(TokioExecutor::new()).build(connector);
        let host = self.url.parse::<http::Uri>()?.authority().ok_or("the URL has no host")?.to_string();
        let preset = presets::storage().with_host(host);
        // A tenth of a second is enough for an emulator.
        let quick = Backoff::exponential(Duration::from_millis(100), 2.0, Duration::from_secs(30));
        let strategy = preset.backoff_strategy().with_backoff(quick);
        Ok(HttpRetryLayer::preset(&preset.with_backoff_strategy(strategy)).layer(client))
    }

    /// The file of an object. A name from a server never leads out of the folder.
    fn path(&self, name: &str) -> Result<PathBuf, AnyError> {
        Ok(path_within(&self.folder, name.strip_prefix(&self.prefix).unwrap_or(name))?)
    }

    async fn up(&self, client: &Storage) -> Result<usize, AnyError> {
        fs::create_dir_all(&self.state)?;
        let there = self.objects(client).await?;
        let mut files = Vec::new();
        for path in files_in(&self.folder)? {
            let parts: Option<Vec<_>> =
                path.strip_prefix(&self.folder)?.iter().map(|part| part.to_str()).collect();
            let parts = parts.ok_or_else(|| format!("{} is no UTF-8", path.display()))?;
            let name = format!("{}{}", self.prefix, parts.join("/"));
            let generation = match there.get(&name) {
                Some(object) if object.crc32c == crc32c_of(&path)? => continue,
                Some(object) => object.generation.clone(),
                None => "0".to_owned(),
            };
            files.push((fs::metadata(&path)?.len(), path, name, generation));
        }
        let bar = bar(files.iter().map(|(length, ..)| length).sum());
        let mut done = 0;
        for (length, path, name, generation) in &files {
            bar.set_message(name.clone());
            let state = self.state.join(format!("{}.json", encoded(&format!("{}/{name}", self.bucket))));
            // The object must be unchanged since it was listed: this condition makes the upload safe to retry.
            let upload = || {
                Upload::to_object(&self.url, &self.bucket, name, UploadSource::file(path))
                    .query("ifGenerationMatch", generation)
                    .single_request_below(1024 * 1024)
                    .state_file(&state)
                    .on_progress(|progress| bar.set_position(done + progress.bytes()))
            };
            let mut uploaded = upload().send(client).await;
            if uploaded.as_ref().is_err_and(|error| error.kind() == TransferErrorKind::StateFile) {
                // Of an upload that was meant to replace another generation.
                fs::remove_file(&state)?;
                uploaded = upload().send(client).await;
            }
            match uploaded {
                // The condition no longer holds if a killed process has created the object.
                Err(error) if error.status() == Some(412) && self.is_there(client, name, path).await? => {}
                uploaded => drop(uploaded?),
            }
            done += length;
        }
        bar.finish_and_clear();
        Ok(files.len())
    }

    /// Returns whether the object is there, with the checksum of the file.
    async fn is_there(&self, client: &Storage, name: &str, path: &Path) -> Result<bool, AnyError> {
        let objects = self.objects(client).await?;
        let crc32c = crc32c_of(path)?;
        Ok(objects.get(name).is_some_and(|object| object.crc32c == crc32c))
    }

    async fn down(&self, client: &Storage) -> Result<usize, AnyError> {
        let mut files = Vec::new();
        for (name, object) in self.objects(client).await? {
            let path = self.path(&name)?;
            if !path.exists() || crc32c_of(&path)? != object.crc32c {
                files.push((name, object.size.parse::<u64>()?, path));
            }
        }
        let bar = bar(files.iter().map(|(_, size, _)| size).sum());
        let mut done = 0;
        for (name, size, path) in &files {
            bar.set_message(name.clone());
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            Download::of_object(&self.url, &self.bucket, name)
                .resumable()
                .on_progress(|progress| bar.set_position(done + progress.bytes()))
                .to_file(client, path)
                .await?;
            done += size;
        }
        bar.finish_and_clear();
        Ok(files.len())
    }

    /// The objects under the prefix, by name.
    async fn objects(&self, client: &Storage) -> Result<BTreeMap<String, Object>, AnyError> {
        let (mut objects, mut token) = (BTreeMap::new(), String::new());
        loop {
            let Self { url, bucket, prefix, .. } = self;
            let list = format!(
                "{url}/storage/v1/b/{}/o?prefix={}&pageToken={}",
                encoded(bucket),
                encoded(prefix),
                encoded(&token)
            );
            let response = client.send(Request::get(list).body(Bytes::new())?).await?;
            let status = response.status();
            let page = response.into_body().collect().await?.to_bytes();
            if !status.is_success() {
                return Err(format!("the list of gs://{bucket} got status {status}").into());
            }
            let page: Page = serde_json::from_slice(&page)?;
            objects.extend(page.items.into_iter().map(|object| (object.name.clone(), object)));
            match page.next_page_token {
                Some(next) => token = next,
                None => return Ok(objects),
            }
        }
    }
}

type Storage = HttpRetryService<Client<HttpConnector, ReplayBody>>;

/// A page of a list.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page {
    #[serde(default)]
    items: Vec<Object>,
    next_page_token: Option<String>,
}

/// An object, as its metadata describe it.
#[derive(Deserialize)]
struct Object {
    name: String,
    size: String,
    generation: String,
    /// As base64.
    crc32c: String,
}

/// All files below a folder, in order.
fn files_in(folder: &Path) -> Result<Vec<PathBuf>, AnyError> {
    let (mut folders, mut files) = (vec![folder.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            match entry.file_type()? {
                kind if kind.is_dir() => folders.push(entry.path()),
                kind if kind.is_file() => files.push(entry.path()),
                // A link may lead anywhere.
                _ => {}
            }
        }
    }
    files.sort();
    Ok(files)
}

/// The CRC32C of a file, as Cloud Storage writes it.
fn crc32c_of(path: &Path) -> Result<String, AnyError> {
    use base64::Engine as _;
    let (mut file, mut buffer, mut sum) = (fs::File::open(path)?, vec![0; 64 * 1024], 0);
    loop {
        let length = file.read(&mut buffer)?;
        match buffer.get(..length) {
            Some([]) | None => break,
            Some(read) => sum = crc32c::crc32c_append(sum, read),
        }
    }
    Ok(base64::engine::general_purpose::STANDARD.encode(sum.to_be_bytes()))
}

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

fn bar(bytes: u64) -> ProgressBar {
    let style = "{wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {msg}";
    let style = ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(bytes).with_style(style)
}

/// Copies some files to an emulator and back, through faults and interruptions.
async fn show() -> Result<(), AnyError> {
    let storage = StorageEmulator::start();
    let url = storage.listen().await?;
    let folder = std::env::temp_dir().join(format!("gax-transfer-{}", std::process::id()));
    let (photos, restored) = (folder.join("photos"), folder.join("restored"));
    fs::create_dir_all(photos.join("2026"))?;
    for (name, length) in [("2026/cat.jpg", 3_000_000_u32), ("2026/dog.jpg", 700_000), ("index.html", 0)] {
        let content: Vec<u8> =
            (0..length).map(|place| u8::try_from(place * 31 % 251)).collect::<Result<_, _>>()?;
        fs::write(photos.join(name), content)?;
    }
    let copy = |from: &str, to: &str| {
        let state = folder.join("state").display().to_string();
        Copy::read(&url, [from, to, "--state", &state].map(str::to_owned))
    };
    let (photos, restored) = (photos.display().to_string(), restored.display().to_string());

    // The connection breaks twice. Then the program is interrupted: what is dropped here could as well have been killed.
    storage.fault(StorageFault::reset().on(StorageCall::Upload).at(500_000));
    storage.fault(StorageFault::status(503).on(StorageCall::Upload).at(1_200_000));
    storage.fault(StorageFault::stall().on(StorageCall::Upload).at(2_000_000));
    let up = copy(&photos, "gs://backup/photos")?;
    tokio::select! {
        () = storage.stalled() => println!("interrupted, with {} upload under way", storage.open_uploads()),
        end = up.run() => return end.map(drop),
    }
    assert_eq!((up.run().await?, storage.names("backup").len()), (3, 3));
    assert_eq!(up.run().await?, 0, "everything is there");

    storage.fault(StorageFault::reset().on(StorageCall::Download).at(600_000));
    storage.fault(StorageFault::stall().on(StorageCall::Download).at(2_500_000));
    let down = copy("gs://backup/photos", &restored)?;
    tokio::select! {
        () = storage.stalled() => println!("interrupted"),
        end = down.run() => return end.map(drop),
    }
    assert_eq!(down.run().await?, 3);
    fs::remove_dir_all(folder)?;
    Ok(())
}

//! Sends Cloud Storage requests, read as JSON lines, through the HTTP layer with the storage preset.
//!
//! Retry conformance cases are run with it. It uses the layer for every operation of the Cloud
//! Storage JSON API:
//!
//! ```text
//! STORAGE_EMULATOR_HOST=http://localhost:9000 cargo run --example storage_requests -- --initial-retry-delay 10ms
//! ```
//!
//! A line on standard input is a request:
//!
//! ```text
//! {"id":"1","verb":"PATCH","path":"/storage/v1/b/bkt","query":[["ifMetagenerationMatch","3"]],
//!  "headers":[["x-retry-test-id","..."]],"body":"{\"storageClass\":\"COLDLINE\"}","strategy":"conditional"}
//! ```
//!
//! (in one line; `query`, `headers`, `body` and `strategy` may be left out), and one on standard output, in the same
//! order, is the result of it:
//!
//! ```text
//! {"id":"1","ok":true,"status":200,"attempts":3,"idempotency":"conditional: ifMetagenerationMatch",
//!  "stop_reason":null,"body":"..."}
//! ```
//!
//! Transfers are lines too:
//!
//! ```text
//! {"id":"2","upload":{"bucket":"bkt","name":"o","bytes":9437184,"seed":7,"query":[["ifGenerationMatch","0"]]}}
//! {"id":"3","download":{"bucket":"bkt","name":"o"},"headers":[["x-retry-test-id","..."]]}
//! ```
//!
//! An upload that resumes sends so many bytes, the i-th of which is (i * 31 + seed) mod 251, in chunks as they are by default; a download
//! reads the object whole. What became of them has also `bytes` and, if they are whole, `sha256`; every request of a transfer is
//! one of the `attempts`.
//!
//! `status` is null when no response came. `ok` is true for a 2xx whose body came whole. A body that ended early is
//! no success: `ok` is false, `body` is what came of it, and `error`, which is there only then, says why. In `body`,
//! bytes that are not UTF-8 are replaced by U+FFFD. A line that is not such a request gets an error that names the
//! line, and the program continues.
#![expect(clippy::indexing_slicing, reason = "a reply is an object of JSON, which takes any name")]

use bytes::Bytes;
use gax_driver::strategy::{Backoff, TimeRule};
use gax_http::{
    HttpReport, HttpRetryLayer, HttpRetryService, IdempotencyStrategy, Preset, ReplayBody, presets,
};
use gax_transfer::{Download, TransferError, Transferred, Upload};
use http::header::CONTENT_TYPE;
use http_body::Body;
use http_body_util::BodyExt as _;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::error::Error;
use std::fmt::{self, Write as _};
use std::io::{BufRead, Write};
use std::time::Duration;
use tonic_gax::{OperationOptions, OperationReport, StopReason};

const USAGE: &str = "\
Sends Cloud Storage requests, one JSON object a line on standard input, to STORAGE_EMULATOR_HOST.

Usage: storage_requests [OPTIONS]

Options, whose defaults are those of the preset `storage` (durations such as 10ms or 1.5s):
  --preset NAME                  retry as this document, tool or library does
  --initial-retry-delay TIME     the first wait, and the most that is added to a wait at random
  --retry-delay-multiplier X     what the wait grows by
  --max-retry-delay TIME         the longest wait
  --total-timeout TIME           the time of an operation
  --max-attempts N               the number of attempts of an operation
  --attempt-timeout TIME         the time of one attempt
  --body-idle-timeout TIME       the time in which a response's body may bring nothing; 60 s unless given
  --seed N                       draws the random parts from a sequence that can be repeated
";

/// The characters that can't stand in a name or value of a query.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// The characters that can't stand in a path.
const PATH: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'<')
    .add(b'>')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// The most bytes of an upload.
const MAX_BYTES: u64 = 1024 * 1024 * 1024;

/// The flags of the command line.
pub(crate) struct Options {
    preset: Preset,
    attempt_timeout: Option<Duration>,
    body_idle_timeout: Duration,
    seed: Option<u64>,
}

type Sender = HttpRetryService<Client<HttpConnector, ReplayBody>>;
type AnyError = Box<dyn Error>;

/// A line on standard input.
#[derive(Deserialize)]
struct Line {
    id: String,
    #[serde(default)]
    verb: String,
    #[serde(default)]
    path: String,
    #[serde(default)]
    query: Vec<(String, String)>,
    #[serde(default)]
    headers: Vec<(String, String)>,
    body: Option<String>,
    strategy: Option<String>,
    upload: Option<Content>,
    download: Option<Object>,
}

#[derive(Deserialize)]
struct Object {
    bucket: String,
    name: String,
}

#[derive(Deserialize)]
struct Content {
    #[serde(flatten)]
    object: Object,
    bytes: u64,
    seed: u64,
    #[serde(default)]
    query: Vec<(String, String)>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), AnyError> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--help" || argument == "-h") {
        return Ok(std::io::stdout().write_all(USAGE.as_bytes())?);
    }
    let options = Options::read(&arguments)?;
    let host = std::env::var("STORAGE_EMULATOR_HOST")
        .map_err(|_| "set STORAGE_EMULATOR_HOST to the emulator's URL, such as http://localhost:9000")?;
    run(&host, &options, std::io::stdin().lock(), std::io::stdout().lock()).await
}

/// Replies every line, in order.
pub(crate) async fn run(
    host: &str,
    options: &Options,
    input: impl BufRead,
    mut output: impl Write,
) -> Result<(), AnyError> {
    // Each request has its own connection, so that a closed connection is not mistaken for a fault.
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    let client = Client::builder(TokioExecutor::new()).pool_max_idle_per_host(0).build(connector);
    // The rules of Cloud Storage are for its own hosts, unless others are named.
    let authority = host.parse::<http::Uri>()?.authority().map(ToString::to_string);
    let preset = authority.into_iter().fold(options.preset.clone(), Preset::with_host);
    let mut layer = HttpRetryLayer::preset(&preset)
        .options(OperationOptions::new().reports(true))
        .body_idle_timeout(options.body_idle_timeout);
    if let Some(timeout) = options.attempt_timeout {
        layer = layer.attempt_timeout(timeout);
    }
    if let Some(seed) = options.seed {
        layer = layer.options(OperationOptions::new().jitter_seed(seed));
    }
    let sender = layer.layer(client);
    // The emulator's URL, with a scheme.
    let scheme = if host.contains("://") { "" } else { "http://" };
    let origin = format!("{scheme}{}", host.trim_end_matches('/'));
    for (index, line) in input.split(b'\n').enumerate() {
        let reply = carry_out(&sender, &origin, &line?).await;
        let reply = reply.unwrap_or_else(|error| json!({ "error": format!("line {}: {error}", index + 1) }));
        writeln!(output, "{reply}")?;
        output.flush()?;
    }
    Ok(())
}

/// Does what a line asks for, and describes the result of it.
async fn carry_out(sender: &Sender, origin: &str, line: &[u8]) -> Result<Value, AnyError> {
    let line: Line = serde_json::from_slice(line)?;
    match (&line.upload, &line.download) {
        (Some(content), _) => upload(sender, origin, &line, content).await,
        (None, Some(object)) => Ok(download(sender, origin, &line, object).await),
        (None, None) => Ok(send(sender, &line, request(origin, &line)?).await),
    }
}

/// The request that a line asks for.
fn request(origin: &str, line: &Line) -> Result<http::Request<ReplayBody>, AnyError> {
    let path = &line.path;
    if !path.starts_with('/') {
        return Err(format!("path is {path:?}; it begins with a slash").into());
    }
    let mut uri = format!("{origin}{}", utf8_percent_encode(path, PATH));
    let mut separator = if path.contains('?') { '&' } else { '?' };
    for (name, value) in &line.query {
        let encoded = |text| utf8_percent_encode(text, RESERVED);
        write!(uri, "{separator}{}={}", encoded(name), encoded(value))?;
        separator = '&';
    }
    let mut request = http::Request::builder().method(&*line.verb).uri(uri);
    for (name, value) in &line.headers {
        request = request.header(name, value);
    }
    let has_type = line.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    if line.body.is_some() && !has_type {
        request = request.header(CONTENT_TYPE, "application/json");
    }
    if let Some(strategy) = &line.strategy {
        request = request.extension(strategy.parse::<IdempotencyStrategy>()?);
    }
    let body = line.body.clone().unwrap_or_default();
    Ok(request.body(ReplayBody::from_bytes(body))?)
}

async fn send(sender: &Sender, line: &Line, request: http::Request<ReplayBody>) -> Value {
    let mut response = match sender.send(request).await {
        Ok(response) => response,
        Err(error) => return reply(line, None, Some(error.report()), &[]),
    };
    let report = response.extensions_mut().remove::<OperationReport>();
    let status = response.status();
    let (body, error) = read(response.into_body()).await;
    let mut reply = reply(line, Some(status.as_u16()), report.as_ref(), &body);
    if let Some(error) = error {
        reply["ok"] = false.into();
        reply["error"] = format!("the body ended early: {error}").into();
    }
    reply
}

async fn upload(sender: &Sender, origin: &str, line: &Line, content: &Content) -> Result<Value, AnyError> {
    let Content { object, bytes, seed, query } = content;
    if *bytes > MAX_BYTES {
        return Err(format!("bytes is {bytes}; the most is {MAX_BYTES}, since they are in memory").into());
    }
    let content = (0..*bytes).map(|place| u8::try_from((place % 251 * 31 + seed % 251) % 251));
    let content = Bytes::from(content.collect::<Result<Vec<_>, _>>()?);
    let mut upload =
        Upload::to_object(origin, &object.bucket, &object.name, content.clone()).single_request_below(0);
    for (name, value) in query {
        upload = upload.query(name, value);
    }
    for (name, value) in &line.headers {
        upload = upload.header(name, value);
    }
    Ok(match upload.send(sender).await {
        Ok(uploaded) => whole(line, &uploaded, &content),
        Err(error) => failed(line, &error),
    })
}

async fn download(sender: &Sender, origin: &str, line: &Line, object: &Object) -> Value {
    let mut download = Download::of_object(origin, &object.bucket, &object.name);
    for (name, value) in &line.headers {
        download = download.header(name, value);
    }
    match download.to_bytes(sender).await {
        Ok((content, downloaded)) => whole(line, &downloaded, &content),
        Err(error) => failed(line, &error),
    }
}

/// A line with the result of a request.
fn reply(line: &Line, status: Option<u16>, report: Option<&OperationReport>, body: &[u8]) -> Value {
    json!({
        "id": line.id,
        "ok": status.is_some_and(|status| (200..300).contains(&status)),
        "status": status,
        "attempts": report.map(OperationReport::attempt_count),
        "idempotency": report.and_then(OperationReport::detail).map(|http: &HttpReport| http.idempotency().to_string()),
        "stop_reason": report.and_then(OperationReport::stop_reason).map(StopReason::as_str),
        "body": String::from_utf8_lossy(body),
    })
}

/// The line of a transfer that is whole.
fn whole(line: &Line, transfer: &Transferred, content: &[u8]) -> Value {
    let response = transfer.response();
    let mut reply = reply(line, Some(response.status().as_u16()), Some(transfer.report()), response.body());
    let mut hash = String::new();
    for byte in Sha256::digest(content) {
        // A string takes everything.
        write!(hash, "{byte:02x}").ok();
    }
    reply["ok"] = true.into();
    reply["bytes"] = transfer.bytes().into();
    reply["sha256"] = hash.into();
    reply
}

/// The line of a transfer that failed.
fn failed(line: &Line, error: &TransferError) -> Value {
    let body = error.response().map_or(&[][..], |response| response.body());
    let mut reply = reply(line, error.status(), error.report(), body);
    reply["ok"] = false.into();
    reply["bytes"] = error.bytes().into();
    reply["error"] = error.to_string().into();
    reply
}

/// Reads a body to its end; what came of it, and the error if it ended early. A response that was too long to be
/// buffered has its status before its body has ended, so a 2xx alone doesn't prove that the body is complete.
async fn read(mut body: impl Body<Data = Bytes, Error: fmt::Display> + Unpin) -> (Vec<u8>, Option<String>) {
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        match frame {
            Ok(frame) => bytes.extend_from_slice(frame.data_ref().map_or(&[], |data| &data[..])),
            Err(error) => return (bytes, Some(error.to_string())),
        }
    }
    (bytes, None)
}

impl Options {
    pub(crate) fn read(arguments: &[String]) -> Result<Self, AnyError> {
        let mut options = Self {
            preset: presets::storage(),
            attempt_timeout: None,
            body_idle_timeout: Duration::from_secs(60),
            seed: None,
        };
        let split = arguments.iter().flat_map(|argument| match argument.split_once('=') {
            Some((flag, value)) if flag.starts_with("--") => vec![flag, value],
            _ => vec![argument.as_str()],
        });
        let split: Vec<&str> = split.collect();
        // The preset first, whichever place it has: the other flags change it.
        for only_preset in [true, false] {
            let mut rest = split.iter();
            while let Some(flag) = rest.next() {
                let value = rest.next().ok_or_else(|| format!("{flag} needs a value; see --help"))?;
                if only_preset == (*flag == "--preset") {
                    options.set(flag, value).map_err(|error| format!("{flag} {value}: {error}"))?;
                }
            }
        }
        Ok(options)
    }

    fn set(&mut self, flag: &str, value: &str) -> Result<(), AnyError> {
        let preset = self.preset.clone();
        let backoff = preset.backoff_strategy().backoff();
        let limits = preset.backoff_strategy().limits();
        let backed_off = |backoff: Backoff| {
            preset.clone().with_backoff_strategy(preset.backoff_strategy().with_backoff(backoff))
        };
        self.preset = match flag {
            "--preset" => presets::named(value)?,
            "--initial-retry-delay" => backed_off(backoff.scaled_to(duration(value)?)),
            "--retry-delay-multiplier" => backed_off(backoff.with_multiplier(value.parse()?)),
            "--max-retry-delay" => backed_off(backoff.with_max(duration(value)?)),
            "--total-timeout" => {
                let rule = limits.time().map_or(TimeRule::Strict, |(_, rule)| rule);
                let limits = limits.with_time(duration(value)?, rule);
                preset.clone().with_backoff_strategy(preset.backoff_strategy().with_limits(limits))
            }
            "--max-attempts" => preset.with_max_attempts(value.parse()?),
            "--attempt-timeout" => {
                self.attempt_timeout = Some(duration(value)?);
                preset
            }
            "--body-idle-timeout" => {
                self.body_idle_timeout = duration(value)?;
                preset
            }
            "--seed" => {
                self.seed = Some(value.parse()?);
                preset
            }
            _ => return Err("there is no such option; see --help".into()),
        };
        Ok(())
    }
}

/// A number of milliseconds, or a number with the unit `us`, `ms`, `s` or `m`.
fn duration(text: &str) -> Result<Duration, AnyError> {
    let digits = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let seconds = match unit {
        "us" => 1e-6,
        "" | "ms" => 1e-3,
        "s" => 1.0,
        "m" => 60.0,
        _ => return Err(format!("the unit {unit} is not known; there are us, ms, s and m").into()),
    };
    Ok(Duration::try_from_secs_f64(number.trim().parse::<f64>()? * seconds)?)
}

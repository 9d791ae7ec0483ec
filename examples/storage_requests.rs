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

use bytes::Bytes;
use gax_driver::strategy::{Backoff, TimeRule};
use gax_http::{
    HttpReport, HttpRetryLayer, HttpRetryService, IdempotencyStrategy, Preset, ReplayBody, presets,
};
use gax_transfer::{Download, TransferError, Upload};
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use http_body::Body;
use http_body_util::BodyExt as _;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
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

/// A line, understood.
enum Task {
    Request(Box<http::Request<ReplayBody>>),
    Upload { upload: Box<Upload<'static>>, content: Bytes },
    Download(Box<Download<'static>>),
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
    for (index, line) in input.split(b'\n').enumerate() {
        let reply = match task(host, &line?) {
            Ok((id, Task::Request(request))) => send(&sender, id, *request).await,
            Ok((id, Task::Upload { upload, content })) => send_upload(&sender, id, *upload, &content).await,
            Ok((id, Task::Download(download))) => receive(&sender, id, *download).await,
            Err(error) => json!({ "error": format!("line {}: {error}", index + 1) }),
        };
        writeln!(output, "{reply}")?;
        output.flush()?;
    }
    Ok(())
}

/// The task that a line asks for, and its id.
fn task(host: &str, line: &[u8]) -> Result<(String, Task), AnyError> {
    let line: Value = serde_json::from_slice(line).map_err(|error| format!("not JSON: {error}"))?;
    if !line.is_object() {
        return Err("not an object".into());
    }
    let id = required(&line, "id")?.to_owned();
    let task = match (line.get("upload"), line.get("download")) {
        (Some(upload), _) => self::upload(host, &line, upload).map_err(|error| format!("upload: {error}"))?,
        (None, Some(object)) => {
            let (bucket, name) = (required(object, "bucket"), required(object, "name"));
            let mut download =
                bucket.and_then(|bucket| Ok(Download::of_object(&origin(host), bucket, name?)));
            for (name, value) in pairs(&line, "headers")? {
                download = download.map(|download| download.header(name, value));
            }
            Task::Download(Box::new(download.map_err(|error| format!("download: {error}"))?))
        }
        (None, None) => Task::Request(Box::new(request(host, &line)?)),
    };
    Ok((id, task))
}

/// The upload that a line asks for.
fn upload(host: &str, line: &Value, object: &Value) -> Result<Task, AnyError> {
    let number = |name: &str| {
        let number = object.get(name).and_then(Value::as_u64);
        number.ok_or_else(|| format!("{name} is missing, or no number of bytes"))
    };
    let (bucket, name) = (required(object, "bucket")?, required(object, "name")?);
    let (bytes, seed) = (number("bytes")?, number("seed")? % 251);
    if bytes > MAX_BYTES {
        return Err(format!("bytes is {bytes}; the most is {MAX_BYTES}, since they are in memory").into());
    }
    let content: Vec<u8> =
        (0..bytes).map(|place| u8::try_from((place % 251 * 31 + seed) % 251)).collect::<Result<_, _>>()?;
    let content = Bytes::from(content);
    let mut upload = Upload::to_object(&origin(host), bucket, name, content.clone()).single_request_below(0);
    for (name, value) in pairs(object, "query")? {
        upload = upload.query(name, value);
    }
    for (name, value) in pairs(line, "headers")? {
        upload = upload.header(name, value);
    }
    Ok(Task::Upload { upload: Box::new(upload), content })
}

/// The request that a line asks for.
fn request(host: &str, line: &Value) -> Result<http::Request<ReplayBody>, AnyError> {
    let uri = uri(host, required(line, "path")?, &pairs(line, "query")?)?;
    let mut request = http::Request::builder().method(required(line, "verb")?).uri(uri);
    let body = text(line, "body")?;
    let headers = pairs(line, "headers")?;
    for (name, value) in &headers {
        request = request.header(HeaderName::try_from(*name)?, HeaderValue::try_from(*value)?);
    }
    if body.is_some() && !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
        request = request.header(CONTENT_TYPE, "application/json");
    }
    if let Some(strategy) = text(line, "strategy")? {
        request = request.extension(strategy.parse::<IdempotencyStrategy>()?);
    }
    let body = ReplayBody::from_bytes(Bytes::copy_from_slice(body.unwrap_or_default().as_bytes()));
    Ok(request.body(body)?)
}

fn text<'a>(object: &'a Value, name: &str) -> Result<Option<&'a str>, String> {
    match object.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str())),
        Some(other) => Err(format!("{name} is {other}; write a string")),
    }
}

fn required<'a>(object: &'a Value, name: &str) -> Result<&'a str, String> {
    text(object, name)?.ok_or_else(|| format!("{name} is missing"))
}

/// A list of pairs of strings.
fn pairs<'a>(line: &'a Value, name: &str) -> Result<Vec<(&'a str, &'a str)>, String> {
    let wrong = || format!("{name} is no list of [\"name\",\"value\"] pairs");
    let list = match line.get(name) {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(list) => list.as_array().ok_or_else(wrong)?,
    };
    let pair = |pair: &'a Value| match pair.as_array().map(Vec::as_slice) {
        Some([Value::String(name), Value::String(value)]) => Ok((name.as_str(), value.as_str())),
        _ => Err(wrong()),
    };
    list.iter().map(pair).collect()
}

fn uri(host: &str, path: &str, query: &[(&str, &str)]) -> Result<http::Uri, AnyError> {
    if !path.starts_with('/') {
        return Err(format!("path is {path:?}; it begins with a slash").into());
    }
    let mut uri = format!("{}{}", origin(host), encoded(path, b"/%:@!$&'()*+,;=?"));
    let mut separator = if path.contains('?') { '&' } else { '?' };
    for (name, value) in query {
        uri.extend([separator.to_string(), encoded(name, b""), "=".to_owned(), encoded(value, b"")]);
        separator = '&';
    }
    Ok(uri.parse()?)
}

/// The emulator's URL, with a scheme.
fn origin(host: &str) -> String {
    let scheme = if host.contains("://") { "" } else { "http://" };
    format!("{scheme}{}", host.trim_end_matches('/'))
}

/// The text percent-encoded, except for letters, digits, `-._~` and what is `kept`.
fn encoded(text: &str, kept: &[u8]) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) || kept.contains(&byte) {
            encoded.push(byte.into());
        } else {
            encoded.extend(["%".to_owned(), format!("{byte:02X}")]);
        }
    }
    encoded
}

/// Sends a request, and describes the result of it.
async fn send(sender: &Sender, id: String, request: http::Request<ReplayBody>) -> Value {
    let (status, report, body, error) = match sender.send(request).await {
        Ok(mut response) => {
            let report = response.extensions_mut().remove::<OperationReport>();
            let status = response.status();
            let (body, error) = read(response.into_body()).await;
            (Some(status), report, body, error)
        }
        Err(error) => (None, Some(error.report().clone()), Vec::new(), None),
    };
    let ok = status.is_some_and(|status| status.is_success()) && error.is_none();
    let status = status.map(|status| status.as_u16());
    let mut reply = reply(&id, ok, status, report.as_ref(), &body);
    if let (Some(error), Some(reply)) = (error, reply.as_object_mut()) {
        reply.insert("error".to_owned(), format!("the body ended early: {error}").into());
    }
    reply
}

/// A line with the result of a task.
fn reply(id: &str, ok: bool, status: Option<u16>, report: Option<&OperationReport>, body: &[u8]) -> Value {
    json!({
        "id": id,
        "ok": ok,
        "status": status,
        "attempts": report.map(OperationReport::attempt_count),
        "idempotency": report.and_then(OperationReport::detail).map(|http: &HttpReport| http.idempotency().to_string()),
        "stop_reason": report.and_then(OperationReport::stop_reason).map(StopReason::as_str),
        "body": String::from_utf8_lossy(body),
    })
}

/// Uploads, and describes the result of it.
async fn send_upload(sender: &Sender, id: String, upload: Upload<'_>, content: &[u8]) -> Value {
    match upload.send(sender).await {
        Ok(uploaded) => {
            let (response, report) = (uploaded.response(), Some(uploaded.report()));
            let line = reply(&id, true, Some(response.status().as_u16()), report, response.body());
            with_transfer(line, uploaded.bytes(), Ok(content))
        }
        Err(error) => failed(&id, &error),
    }
}

/// Downloads, and describes the result of it.
async fn receive(sender: &Sender, id: String, download: Download<'_>) -> Value {
    match download.to_bytes(sender).await {
        Ok((content, downloaded)) => {
            let status = downloaded.response().status().as_u16();
            let line = reply(&id, true, Some(status), Some(downloaded.report()), &[]);
            with_transfer(line, downloaded.bytes(), Ok(&content))
        }
        Err(error) => failed(&id, &error),
    }
}

/// The line of a transfer that failed.
fn failed(id: &str, error: &TransferError) -> Value {
    let body = error.response().map_or(&[][..], |response| response.body());
    with_transfer(reply(id, false, error.status(), error.report(), body), error.bytes(), Err(error))
}

/// A line with how many bytes were transferred, and their hash or why they are not whole.
fn with_transfer(mut line: Value, bytes: u64, content: Result<&[u8], &TransferError>) -> Value {
    let (name, value) = match content {
        Ok(content) => {
            let mut hash = String::new();
            for byte in Sha256::digest(content) {
                // A string takes everything.
                write!(hash, "{byte:02x}").ok();
            }
            ("sha256", hash)
        }
        Err(error) => ("error", error.to_string()),
    };
    if let Some(line) = line.as_object_mut() {
        line.extend([("bytes".to_owned(), bytes.into()), (name.to_owned(), value.into())]);
    }
    line
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

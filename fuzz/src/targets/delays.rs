//! The delays that servers ask for, wherever they do, and what else stands there.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use super::canned::{Canned, Pieces, TOTAL, settings, timed};
use super::rest::failure;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use gax_http::HttpRetryLayer;
use gax_retry::http::retry_info_in_json;
use gax_table::RetryTable;
use http::header::{DATE, RETRY_AFTER};
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode, Uri};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tonic::client::Grpc;
use tonic::{Code, Status};
use tonic_gax::{OperationError, RetryLayer};
use tonic_prost::ProstCodec;

const CODES: [tonic_gax::Code; 2] = [tonic_gax::Code::Unavailable, tonic_gax::Code::ResourceExhausted];

/// A call whose first attempt got that reply, and whose later ones are good.
struct Called<T> {
    attempts: u32,
    result: T,
    elapsed: Duration,
}

impl<T> Called<T> {
    /// The call waited at least as long as the server asked for, but no longer than it may take in all.
    fn check(&self, asked: Option<Duration>) {
        let Self { attempts, elapsed, .. } = self;
        assert!(*elapsed <= TOTAL && *attempts <= 2, "{attempts} attempts in {elapsed:?}");
        match asked {
            Some(asked) if asked >= TOTAL => assert_eq!((*attempts, *elapsed), (1, Duration::ZERO)),
            Some(asked) => assert!(*attempts == 2 && *elapsed >= asked, "{attempts} attempts in {elapsed:?}"),
            None => {}
        }
    }
}

fn canned(
    first: impl Fn() -> Response<Pieces> + Send + 'static,
    good: impl Fn() -> Response<Pieces> + Send + 'static,
) -> (Canned, Arc<AtomicU32>) {
    let attempts = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&attempts);
    let respond = move |_: &http::request::Parts, _: &[u8]| {
        if count.fetch_add(1, Ordering::Relaxed) == 0 { first() } else { good() }
    };
    (Canned::new(respond), attempts)
}

fn over_http(first: impl Fn() -> Response<Pieces> + Send + 'static) -> Called<StatusCode> {
    let (service, attempts) = canned(first, || Response::new(Pieces::new("good")));
    let client = HttpRetryLayer::new(&settings(), CODES).layer(service);
    let request = Request::get("http://fuzz.test/").body(String::new()).unwrap();
    let (result, elapsed) = timed(client.send(request));
    let status = result.unwrap().status();
    let attempts = attempts.load(Ordering::Relaxed);
    assert_eq!(status == StatusCode::OK, attempts == 2, "{status}");
    Called { attempts, result: status, elapsed }
}

fn over_grpc(first: impl Fn() -> Response<Pieces> + Send + 'static) -> Called<Result<(), Status>> {
    let good = || {
        let trailers = HeaderMap::from_iter([(Status::GRPC_STATUS, HeaderValue::from_static("0"))]);
        Response::new(Pieces::with_trailers(&[0; 5], trailers))
    };
    let (service, attempts) = canned(first, good);
    let table = RetryTable::builder().every_service(settings(), CODES).build().unwrap();
    let origin = Uri::from_static("http://fuzz.test");
    let mut client = Grpc::with_origin(RetryLayer::new(table).layer(service), origin);
    let path = http::uri::PathAndQuery::from_static("/fuzz.Fuzz/One");
    let (result, elapsed) = timed(async {
        client.ready().await.unwrap();
        client.unary(tonic::Request::new(()), path, ProstCodec::<(), ()>::default()).await
    });
    let (attempts, result) = (attempts.load(Ordering::Relaxed), result.map(tonic::Response::into_inner));
    assert!(result.is_err() || attempts == 2, "a reply without a message is a success");
    if let Some(error) = result.as_ref().err().and_then(|status| OperationError::of(status)) {
        let text = format!("{error}\n{}", error.report());
        assert!(text.chars().all(|letter| letter == '\n' || !letter.is_control()), "{text:?}");
    }
    Called { attempts, result, elapsed }
}

/// `Retry-After` headers, one a line, behind `date: ` that of the response.
pub(super) fn retry_after(data: &[u8]) {
    let text = String::from_utf8_lossy(data).into_owned();
    let mut headers = HeaderMap::new();
    for line in text.lines().take(20) {
        let (name, value) = line.strip_prefix("date: ").map_or((RETRY_AFTER, line), |value| (DATE, value));
        if let Ok(value) = HeaderValue::from_bytes(value.as_bytes()) {
            headers.append(name, value);
        }
    }
    let seconds = |line: &str| {
        let is_number = (1..=9).contains(&line.len()) && line.bytes().all(|byte| byte.is_ascii_digit());
        line.parse().ok().filter(|_| is_number).map(Duration::from_secs)
    };
    let asked = text.lines().map(seconds).collect::<Option<Vec<_>>>().and_then(|all| all.into_iter().max());
    let asked = asked.filter(|_| text.lines().count() <= 20);
    let reply = move || {
        let mut reply = Response::builder().status(503).body(Pieces::new("down")).unwrap();
        *reply.headers_mut() = headers.clone();
        reply
    };
    over_http(reply.clone()).check(asked);
    over_grpc(reply).check(asked);
}

/// The trailers of a failed call, one a line; or behind `#` the bytes of `grpc-status-details-bin`.
pub(super) fn trailers(data: &[u8]) {
    const NAMES: [&str; 6] = [
        "content-type",
        "grpc-message",
        "grpc-retry-pushback-ms",
        "grpc-status",
        "grpc-status-details-bin",
        "retry-after",
    ];
    let mut headers = HeaderMap::new();
    let mut status = 200;
    let details = data.strip_prefix(b"#");
    if let Some(details) = details {
        headers.insert(Status::GRPC_STATUS, HeaderValue::from_static("14"));
        let text = STANDARD_NO_PAD.encode(details);
        headers.insert(Status::GRPC_STATUS_DETAILS, HeaderValue::try_from(text).unwrap());
    } else {
        for line in String::from_utf8_lossy(data).lines().take(20) {
            let (name, value) = line.split_once(": ").unwrap_or(("grpc-status", line));
            if name == "http" {
                status = value.parse().ok().filter(|status| (200..600).contains(status)).unwrap_or(status);
            } else if let Some(name) = NAMES.iter().find(|known| **known == name)
                && let Ok(value) = HeaderValue::from_bytes(value.as_bytes())
            {
                headers.append(HeaderName::from_static(name), value);
            }
        }
    }
    let all = headers.clone();
    let called = over_grpc(move || {
        let mut reply = Response::builder().status(status).body(Pieces::new("")).unwrap();
        *reply.headers_mut() = all.clone();
        reply
    });
    called.check(None);
    if let (Some(details), Err(status)) = (details, &called.result) {
        assert_eq!((status.code(), status.details(), called.attempts), (Code::Unavailable, details, 1));
    }
    let only = |name: &str| {
        let mut values = headers.get_all(name).iter();
        values.next().filter(|_| values.next().is_none())?.to_str().ok()
    };
    let pushback =
        only("grpc-retry-pushback-ms").filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    let pushback = pushback.and_then(|text| text.parse::<i32>().ok()?.try_into().ok());
    if let (Some(pushback), Some("14"), 200) = (pushback, only("grpc-status"), status) {
        let pushback = Duration::from_millis(pushback);
        called.check(Some(pushback));
        assert!(called.attempts == 1 || called.elapsed == pushback, "{:?}", called.elapsed);
    }
}

/// The body of a failure over HTTP and JSON. More of it never asks for less.
pub(super) fn json_errors(data: &[u8]) {
    let asked = retry_info_in_json(data);
    for end in [data.len() / 3, data.len() / 2, data.len().saturating_sub(1)] {
        assert!(retry_info_in_json(data.get(..end).unwrap_or_default()) <= asked);
    }
    let body = data.to_vec();
    let reply = move || {
        let reply = Response::builder().status(429).header("content-type", "application/json");
        reply.body(Pieces::cut(&body, 50)).unwrap()
    };
    over_http(reply).check(asked);
    let outcome = failure(data);
    assert!(outcome.code != Code::Ok && outcome.messages.is_empty(), "{outcome:?}");
}

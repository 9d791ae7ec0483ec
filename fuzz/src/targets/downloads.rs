//! Replies to a download.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use super::canned::{Canned, Pieces, settings, timed};
use super::script::Line;
use gax_http::HttpRetryLayer;
use gax_http::HttpRetryService;
use gax_transfer::{Download, TransferService};
use http::request::Parts;
use http::{HeaderValue, Request, Response};
use std::sync::{Arc, Mutex};
use tonic_gax::Code;

/// The length of the object, where a reply says nothing else.
pub(super) const LENGTH: u64 = 40;
/// The most that a reply sends, whatever it says.
const MOST: u64 = 4096;
pub(super) const URL: &str = "http://storage.test/o";

/// The byte at a place of one of the two versions of the object.
fn byte(is_second: bool, place: u64) -> u8 {
    let letter = u8::try_from((place % 25 * 7 + place / 25 % 25 * 3) % 25).unwrap_or_default();
    letter + if is_second { b'A' } else { b'a' }
}

pub(super) fn bytes(is_second: bool, places: std::ops::Range<u64>) -> Vec<u8> {
    places.take(usize::try_from(MOST).unwrap()).map(|place| byte(is_second, place)).collect()
}

/// The bytes that a `Content-Range` says the body has, and the length of the whole; `None`: it can't be read.
fn claimed(value: &str) -> Option<(std::ops::Range<u64>, Option<u64>)> {
    let number = |text: &str| {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<u64>().ok().filter(|_| is_number)
    };
    let (range, total) = value.trim().strip_prefix("bytes ")?.trim().split_once('/')?;
    let total = if total == "*" { None } else { Some(number(total)?) };
    if range == "*" {
        return Some((0..0, Some(total?)));
    }
    let (first, last) = range.split_once('-')?;
    let range = number(first)?..number(last)?.checked_add(1)?;
    let fits = !range.is_empty() && total.is_none_or(|total| range.end <= total);
    fits.then_some((range, total))
}

/// The reply of a line, and the length of the whole by it. The body has what the header says, or all of it, or what belongs to no
/// version.
fn scripted(line: &Line) -> (Response<Pieces>, u64) {
    let is_second = line.mark == Some('^');
    let claim = line.header().and_then(|_| claimed(&line.value));
    let (content, length) = match (&claim, line.status.as_u16()) {
        (Some((range, total)), 200 | 203 | 206) => {
            (bytes(is_second, range.clone()), total.unwrap_or(range.end))
        }
        (Some((_, Some(total))), _) => (Vec::new(), *total),
        (_, 206) => (b"########".to_vec(), LENGTH),
        _ => (bytes(is_second, 0..LENGTH), LENGTH),
    };
    let mut reply = Response::new(Pieces::broken_at(&content, line.cut));
    *reply.status_mut() = line.status;
    if let Some(range) = line.header() {
        reply.headers_mut().insert("content-range", range);
    }
    if line.mark != Some('~') {
        reply.headers_mut().insert("x-goog-generation", HeaderValue::from(1 + u32::from(is_second)));
    }
    (reply, length)
}

/// The reply of an honest server that has the first version.
pub(super) fn honest(request: &Parts) -> Response<Pieces> {
    let range = request.headers.get("range").and_then(|range| range.to_str().ok());
    let range = range.and_then(|range| range.strip_prefix("bytes=")?.split_once('-'));
    let begin = range.map_or(0, |(begin, _)| begin.parse::<u64>().unwrap());
    let end = range.and_then(|(_, last)| last.parse().ok()).map_or(LENGTH, |last: u64| LENGTH.min(last + 1));
    let reply = Response::builder().header("x-goog-generation", 1);
    let reply = match range {
        None => reply.status(200),
        Some(_) if begin >= end => reply.status(416).header("content-range", format!("bytes */{LENGTH}")),
        Some(_) => reply.status(206).header("content-range", format!("bytes {begin}-{}/{LENGTH}", end - 1)),
    };
    reply.body(Pieces::new(bytes(false, begin..end.max(begin)))).unwrap()
}

/// A client of such a server.
pub(super) fn client(service: Canned) -> HttpRetryService<impl TransferService> {
    HttpRetryLayer::new(&settings(), [Code::Unavailable]).layer(service)
}

/// The replies of a script, and then those of an honest server. `^` names another version, whose bytes are others, `~` none. A download
/// that succeeds has the bytes of one version, at their places, and as many as a reply said that there are.
pub(super) fn replies(data: &[u8]) {
    let mut lines = Line::all(data).into_iter();
    let lengths = Arc::new(Mutex::new(vec![LENGTH]));
    let said = Arc::clone(&lengths);
    let service = Canned::new(move |request, _| {
        let Some(line) = lines.next() else { return honest(request) };
        let (reply, length) = scripted(&line);
        said.lock().unwrap().push(length);
        reply
    });
    let request = Request::get(URL).body(()).unwrap();
    let (result, _) = timed(Download::new(request).to_bytes(&client(service)));
    match result {
        Ok((received, downloaded)) => {
            let length = received.len() as u64;
            assert_eq!(downloaded.bytes(), length);
            assert!(lengths.lock().unwrap().contains(&length), "{length} bytes");
            let is_version = |is_second| received == bytes(is_second, 0..length);
            assert!(is_version(false) || is_version(true), "{received:?}");
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

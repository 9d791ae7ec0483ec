//! `grpc-timeout` of the requests that a server takes.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use super::canned::{Canned, Pieces, timed};
use bytes::Bytes;
use gax_driver::inbound::Inbound;
use http::{HeaderValue, Request, Response};
use http_body_util::Empty;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tonic_gax::DeadlineLayer;
use tower_layer::Layer as _;
use tower_service::Service as _;

/// The time that a handler has is what the header says, by the protocol's grammar: no more, and none where it breaks the grammar.
pub(super) fn timeouts(data: &[u8]) {
    let Ok(value) = HeaderValue::from_bytes(data) else { return };
    let expected = expected(data);
    let left = Arc::new(Mutex::new(None));
    let seen = Arc::clone(&left);
    let mut request = Request::new(Empty::<Bytes>::new());
    request.headers_mut().insert("grpc-timeout", value.clone());
    request.headers_mut().insert("grpc-previous-rpc-attempts", value);
    let (result, _) = timed(async move {
        // It is called in the task of the request.
        let handler = Canned::new(move |_, _| {
            *seen.lock().unwrap() = Some(Inbound::current().time_left());
            Response::new(Pieces::new(""))
        });
        DeadlineLayer::new().layer(handler).call(request).await
    });
    assert!(result.is_ok());
    let left = left.lock().unwrap().take();
    assert_eq!(left, Some(expected), "{:?}", String::from_utf8_lossy(data));
}

/// One to eight digits, and a unit.
fn expected(data: &[u8]) -> Option<Duration> {
    let (unit, digits) = data.split_last()?;
    let is_number = (1..=8).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit);
    let number: u64 = std::str::from_utf8(digits).ok().filter(|_| is_number)?.parse().ok()?;
    Some(match unit {
        b'n' => Duration::from_nanos(number),
        b'u' => Duration::from_micros(number),
        b'm' => Duration::from_millis(number),
        b'S' => Duration::from_secs(number),
        b'M' => Duration::from_secs(60 * number),
        b'H' => Duration::from_secs(3600 * number),
        _ => return None,
    })
}

//! Errors that a server sends.

use crate::response::http_body::HttpBytes;
use crate::response::json;
use gax_retry::Code;
use gax_wire::__private::retry_after_in;
use http::{HeaderMap, StatusCode};
use prost::Message;
use prost_reflect::DescriptorPool;
use serde_json::Value;
use std::time::Duration;
use tonic::metadata::MetadataMap;
use tonic::{Code as TonicCode, Status};
use tonic_types::pb::RetryInfo;

const RETRY_INFO: &str = "type.googleapis.com/google.rpc.RetryInfo";

/// An error of the server's: `google.rpc.Status`, which is the form of `grpc-status-details-bin` too.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Failed {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    message: String,
    #[prost(message, repeated, tag = "3")]
    details: Vec<prost_types::Any>,
}

/// The error of a response without success. Code, message and details are the body's, if that is the JSON of a `google.rpc.Status`.
/// Without a code there, and always by gax-java's rules, the HTTP status decides.
pub(crate) async fn read_failure(
    status: StatusCode,
    headers: &HeaderMap,
    body: Option<HttpBytes>,
    pool: &DescriptorPool,
    is_java: bool,
) -> Failed {
    // Enough for what a server has to say.
    const LONGEST: usize = 256 * 1024;
    let text = match body {
        Some(body) => body.read_some(LONGEST).await,
        None => Vec::new(),
    };
    let code = Code::from_http_status(status.as_u16());
    let error = serde_json::from_slice::<Value>(&text).ok().and_then(|mut text| {
        // A stream's error is the one element of its array.
        error_of(&mut text).or_else(|| error_of(text.get_mut(0)?))
    });
    let mut failed = match error {
        Some(error) => {
            let own = if is_java { None } else { own_code(&error) };
            Failed::read(own.unwrap_or(code), &error, pool)
        }
        None => Failed { code: code.number(), ..Failed::default() },
    };
    if failed.message.is_empty() {
        failed.message = format!("the server replied with HTTP status {status}");
    }
    if let Some(delay) = retry_after_in(headers) {
        failed.ask_for(delay);
    }
    failed
}

/// The error that the body of a failure has: in `error`, as with Google's APIs, or a `google.rpc.Status` by itself, as with
/// grpc-gateway and Envoy.
fn error_of(text: &mut Value) -> Option<Value> {
    error_in(text).or_else(|| {
        let is_status = text.get("message").is_some_and(Value::is_string);
        is_status.then(|| text.take())
    })
}

/// The error in an object that has one.
fn error_in(text: &mut Value) -> Option<Value> {
    text.get_mut("error").map(Value::take).filter(Value::is_object)
}

/// The gRPC code that an error names: by a word in `status`, as Google's APIs do, or as a number in `code`, as `google.rpc.Status` has
/// it. No HTTP status of an error is that low.
fn own_code(error: &Value) -> Option<Code> {
    let named = error.get("status").and_then(Value::as_str).and_then(|name| name.parse().ok());
    named.or_else(|| number_in(error)).filter(|code| *code != Code::Ok)
}

fn number_in(error: &Value) -> Option<Code> {
    Code::try_from(i32::try_from(error.get("code")?.as_i64()?).ok()?).ok()
}

impl Failed {
    /// The error that ends a stream; `None`: the object is none. A message may get a field `error`, so that only an object with
    /// nothing else is an error.
    pub(super) fn in_stream(text: &[u8], pool: &DescriptorPool, is_java: bool) -> Option<Self> {
        let mut text = serde_json::from_slice::<Value>(text).ok()?;
        let is_alone = text.as_object()?.len() == 1;
        let error = error_in(&mut text).filter(|error| is_alone && error.get("code").is_some())?;
        let of_http = || u16::try_from(error.get("code")?.as_i64()?).ok().map(Code::from_http_status);
        let own = if is_java { number_in(&error) } else { own_code(&error) };
        let code = own.or_else(of_http).filter(|code| *code != Code::Ok);
        Some(Self::read(code.unwrap_or(Code::Unknown), &error, pool))
    }

    fn read(code: Code, error: &Value, pool: &DescriptorPool) -> Self {
        let message = error.get("message").and_then(Value::as_str).unwrap_or_default().to_owned();
        let details = error.get("details").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let details = details.iter().filter_map(|detail| any(detail, pool)).collect();
        Self { code: code.number(), message, details }
    }

    /// Adds the delay that the server asks for next to its error, unless the error has one.
    fn ask_for(&mut self, delay: Duration) {
        if self.details.iter().any(|detail| detail.type_url.ends_with("/google.rpc.RetryInfo")) {
            return;
        }
        let Ok(delay) = prost_types::Duration::try_from(delay) else { return };
        let value = RetryInfo { retry_delay: Some(delay) }.encode_to_vec();
        self.details.push(prost_types::Any { type_url: RETRY_INFO.to_owned(), value });
    }

    /// The headers or trailers of the error, besides those others.
    pub(crate) fn into_headers(self, headers: HeaderMap) -> HeaderMap {
        let code = TonicCode::from_i32(self.code);
        let details = if self.details.is_empty() { Vec::new() } else { self.encode_to_vec() };
        let status = Status::with_details_and_metadata(
            code,
            self.message,
            details.into(),
            MetadataMap::from_headers(headers.clone()),
        );
        let mut all = headers;
        if status.add_header(&mut all).is_err() {
            // A message always has a form as header: it is percent-encoded.
            all.insert(Status::GRPC_STATUS, http::HeaderValue::from(self.code));
        }
        all
    }
}

/// A detail, if its type is known and it is of that type.
fn any(detail: &Value, pool: &DescriptorPool) -> Option<prost_types::Any> {
    let kind = pool.get_message_by_name("google.protobuf.Any")?;
    let message = json::read(&kind, detail.to_string().as_bytes()).ok()?;
    message.transcode_to().ok()
}

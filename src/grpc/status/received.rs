//! The status that a server sent, read without trust in its bytes.

use base64::Engine as _;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use gax_retry::Code;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use tonic::Status;
use tonic::metadata::MetadataMap;

/// Base64 as tonic reads it: what this refuses, tonic would panic on.
pub const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_encode_padding(false)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Up to so many headers are walked.
const FEW: usize = 6;

/// The first value of a header.
///
/// Most gRPC messages have so few headers that to compare them all is faster than to hash a name. Names alone are walked
/// in fewer steps than headers are, and where a name is known it is compared without a call (bench `speed`, instructions).
#[expect(
    clippy::inline_always,
    reason = "1.3 % of a generated call: names are compared where they are known"
)]
#[inline(always)]
pub fn value<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a HeaderValue> {
    if headers.len() > FEW || headers.len() > headers.keys_len() {
        return hashed(headers, name);
    }
    let place = headers.keys().position(|other| other == name)?;
    headers.values().nth(place)
}

/// Looks a header up by its hash, out of the way of the usual case.
#[cold]
fn hashed<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a HeaderValue> {
    headers.get(name)
}

/// The code in `grpc-status`, if there is one; what is not a number of a code is UNKNOWN.
#[inline]
pub fn code(headers: &HeaderMap) -> Option<Code> {
    let number = match value(headers, &Status::GRPC_STATUS)?.as_bytes() {
        b"0" => return Some(Code::Ok),
        [digit @ b'0'..=b'9'] => i32::from(digit - b'0'),
        [tens @ b'1'..=b'9', digit @ b'0'..=b'9'] => i32::from((tens - b'0') * 10 + (digit - b'0')),
        _ => return Some(Code::Unknown),
    };
    Some(Code::from_wire(number))
}

/// Drops status details that are not valid base64, which tonic 0.14 would panic on. Returns whether it
/// had to.
#[inline]
pub fn sanitize(headers: &mut HeaderMap) -> bool {
    // Nobody reads details that have no status next to them.
    headers.len() > 1 && sanitize_details(headers)
}

fn sanitize_details(headers: &mut HeaderMap) -> bool {
    let valid = value(headers, &Status::GRPC_STATUS_DETAILS)
        .is_none_or(|details| BASE64.decode(details.as_bytes()).is_ok());
    if !valid {
        headers.remove(Status::GRPC_STATUS_DETAILS);
    }
    !valid
}

/// The status in sanitized headers or trailers, with the response's other headers as metadata.
pub fn status(head: Option<HeaderMap>, trailers: &HeaderMap) -> Status {
    let mut status = Status::from_header_map(trailers)
        .unwrap_or_else(|| Status::unknown("the response has no grpc-status"));
    if let Some(head) = head {
        add_metadata(&mut status, head);
    }
    status
}

/// The code of an HTTP status without `grpc-status`, by the gRPC project's "HTTP to gRPC status code mapping".
pub fn code_of_http(status: StatusCode) -> Code {
    match status {
        StatusCode::BAD_REQUEST => Code::Internal,
        StatusCode::UNAUTHORIZED => Code::Unauthenticated,
        StatusCode::FORBIDDEN => Code::PermissionDenied,
        StatusCode::NOT_FOUND => Code::Unimplemented,
        StatusCode::TOO_MANY_REQUESTS
        | StatusCode::BAD_GATEWAY
        | StatusCode::SERVICE_UNAVAILABLE
        | StatusCode::GATEWAY_TIMEOUT => Code::Unavailable,
        _ => Code::Unknown,
    }
}

/// The status of a response that has no `grpc-status`.
pub fn status_of_http(http: StatusCode, headers: HeaderMap) -> Status {
    let message = if http == StatusCode::OK {
        "the response ended without grpc-status: it may be truncated".to_owned()
    } else {
        format!("the response has no grpc-status, but HTTP status {}", http.as_u16())
    };
    let mut status = Status::new(tonic_code(code_of_http(http)), message);
    add_metadata(&mut status, headers);
    status
}

fn add_metadata(status: &mut Status, headers: HeaderMap) {
    let metadata = std::mem::take(status.metadata_mut());
    let mut all = metadata.into_headers();
    all.extend(headers);
    *status.metadata_mut() = MetadataMap::from_headers(all);
}

/// The code in tonic's type.
pub fn tonic_code(code: Code) -> tonic::Code {
    tonic::Code::from_i32(code.number())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trailers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
            .collect()
    }

    #[test]
    fn a_code_is_read_or_unknown() {
        assert_eq!(code(&trailers(&[])), None);
        for (text, expected) in [
            ("0", Code::Ok),
            ("14", Code::Unavailable),
            ("5", Code::NotFound),
            ("16", Code::Unauthenticated),
            ("17", Code::Unknown),
            ("014", Code::Unknown),
            ("-1", Code::Unknown),
            ("x", Code::Unknown),
            ("", Code::Unknown),
        ] {
            assert_eq!(code(&trailers(&[("grpc-status", text)])), Some(expected), "{text:?}");
        }
    }

    #[test]
    fn malformed_details_are_dropped_and_the_status_stays() {
        for details in ["!", "a", "YWJjZA=", "Zh", "a b="] {
            let mut headers = HeaderMap::new();
            headers.insert("grpc-status", HeaderValue::from_static("14"));
            headers.insert("grpc-status-details-bin", HeaderValue::from_static(details));
            let dropped = sanitize(&mut headers);
            // Whatever was dropped, tonic does not panic on what is left.
            let status = status(None, &headers);
            assert_eq!(status.code(), tonic::Code::Unavailable);
            assert_eq!(dropped, !headers.contains_key("grpc-status-details-bin"), "{details}");
        }
        let mut valid = trailers(&[("grpc-status", "14"), ("grpc-status-details-bin", "YWJj")]);
        assert!(!sanitize(&mut valid));
        assert_eq!(status(None, &valid).details(), b"abc");
        let mut broken = trailers(&[("grpc-status", "14"), ("grpc-status-details-bin", "%%%")]);
        assert!(sanitize(&mut broken));
        assert!(!sanitize(&mut broken));
    }

    #[test]
    fn headers_of_the_response_become_metadata() {
        let head = trailers(&[("x-served-by", "a")]);
        let status = status(Some(head), &trailers(&[("grpc-status", "5"), ("x-trailer", "b")]));
        assert_eq!(status.metadata().get("x-served-by").unwrap(), "a");
        assert_eq!(status.metadata().get("x-trailer").unwrap(), "b");
    }
}

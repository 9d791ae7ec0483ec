//! The `grpc-timeout` header of a request.

use crate::grpc::status::received;
pub(crate) use gax_wire::__house::grpc_timeout::{GRPC_TIMEOUT, header_value, parse, written};
use http::{HeaderMap, HeaderValue};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The header's value for the timeout of a method's attempts. Its text stays in memory, so that attempts on several processors
/// count no references to it (bench `scale`, two threads). Programs have few timeouts: of many, those after the first
/// [`LASTING`] have values that are counted.
pub(super) fn lasting_value(timeout: Duration) -> HeaderValue {
    static TEXTS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let value = header_value(timeout);
    let Ok(text) = value.to_str() else { return value };
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    let lasting = texts.get(text).copied().or_else(|| {
        let lasting: &'static str = (texts.len() < LASTING).then(|| Box::leak(Box::from(text)))?;
        texts.insert(lasting);
        Some(lasting)
    });
    lasting.map_or_else(|| value.clone(), HeaderValue::from_static)
}

/// How many texts of timeouts stay in memory, of at most nine bytes each.
const LASTING: usize = 64;

/// Writes the header of a request, or takes it away.
#[inline]
pub(crate) fn set_header(headers: &mut HeaderMap, timeout: Option<HeaderValue>) {
    match timeout {
        Some(timeout) => drop(headers.insert(GRPC_TIMEOUT, timeout)),
        None => drop(headers.remove(GRPC_TIMEOUT)),
    }
}

/// The timeout that a header carries; `None` if it is missing or not of the protocol's form.
pub(crate) fn from_headers(headers: &HeaderMap) -> Option<Duration> {
    parse(received::value(headers, &GRPC_TIMEOUT)?.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_stay_in_memory_once_and_not_without_end() {
        let is_shared = |timeout| {
            let [one, other] = [timeout; 2].map(lasting_value);
            assert_eq!(one, header_value(timeout));
            std::ptr::eq(one.as_bytes(), other.as_bytes())
        };
        assert!(is_shared(Duration::from_secs(7)));
        for seconds in 100..100 + u64::try_from(LASTING).unwrap() {
            lasting_value(Duration::from_secs(seconds));
        }
        assert!(is_shared(Duration::from_secs(7)));
        assert!(!is_shared(Duration::from_secs(99)));
    }
}

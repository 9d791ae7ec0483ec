//! The `grpc-timeout` header of a request.

use crate::grpc::status::received;
use gax_driver::__private::Locked;
pub use gax_wire::__private::grpc_timeout::GRPC_TIMEOUT;
pub(crate) use gax_wire::__private::grpc_timeout::{header_value, parse};
use http::{HeaderMap, HeaderValue};
use std::collections::BTreeSet;
use std::time::Duration;

/// The header's value for the timeout of a method's attempts. Its text stays in memory, so that attempts on several processors
/// count no references to it (bench `scale`, two threads). Programs have few timeouts: of many, those after the first
/// [`LASTING`] have values that are counted.
pub(crate) fn lasting_value(timeout: Duration) -> HeaderValue {
    static TEXTS: Locked<BTreeSet<&'static str>> = Locked::new(BTreeSet::new());
    let mut texts = TEXTS.lock();
    lasting(&mut texts, header_value(timeout))
}

fn lasting(texts: &mut BTreeSet<&'static str>, value: HeaderValue) -> HeaderValue {
    let Ok(text) = value.to_str() else { return value };
    let known = texts.get(text).copied().or_else(|| {
        let text: &'static str = (texts.len() < LASTING).then(|| Box::leak(Box::from(text)))?;
        texts.insert(text);
        Some(text)
    });
    known.map_or_else(|| value.clone(), HeaderValue::from_static)
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
pub fn from_headers(headers: &HeaderMap) -> Option<Duration> {
    parse(received::value(headers, &GRPC_TIMEOUT)?.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_stay_in_memory_once_and_not_without_end() {
        let mut texts = BTreeSet::new();
        let mut is_shared = |seconds| {
            let value = || header_value(Duration::from_secs(seconds));
            let [one, other] = [(); 2].map(|()| lasting(&mut texts, value()));
            assert_eq!(one, value());
            std::ptr::eq(one.as_bytes(), other.as_bytes())
        };
        let most = u64::try_from(LASTING).unwrap();
        assert!((0..most).all(&mut is_shared));
        assert!(!is_shared(most));
        assert!(is_shared(0));
    }
}

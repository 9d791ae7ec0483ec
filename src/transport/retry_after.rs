//! The wait that a response's `Retry-After` asks for.

use crate::operation::time_of_day;
use gax_retry::retry_after;
use http::header::{DATE, RETRY_AFTER};
use http::{HeaderMap, HeaderValue};
use std::time::Duration;

/// The delay in `Retry-After`; `None` where it is missing or says nothing.
pub(crate) fn retry_after_in(headers: &HeaderMap) -> Option<Duration> {
    let mut values = headers.get_all(RETRY_AFTER).iter().map(HeaderValue::as_bytes).peekable();
    values.peek()?;
    retry_after(values, headers.get(DATE).map(HeaderValue::as_bytes), time_of_day())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(headers: &[(&'static str, &str)]) -> Option<Duration> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().unwrap());
        }
        retry_after_in(&map)
    }

    #[test]
    fn a_date_counts_from_the_responses_own() {
        let s = Duration::from_secs;
        assert_eq!(asked(&[]), None);
        assert_eq!(asked(&[("retry-after", "7")]), Some(s(7)));
        assert_eq!(asked(&[("retry-after", "soon")]), None);
        if !cfg!(feature = "http") {
            return;
        }
        let date = ("date", "Sat, 21 Nov 2026 09:00:00 GMT");
        assert_eq!(asked(&[date, ("retry-after", "Sat, 21 Nov 2026 09:01:30 GMT")]), Some(s(90)));
        assert_eq!(asked(&[date, ("retry-after", "Sat, 21 Nov 2026 08:59:00 GMT")]), Some(s(0)));
        assert_eq!(asked(&[("retry-after", "Sat, 21 Nov 2020 09:00:00 GMT")]), Some(s(0)));
        assert!(asked(&[("retry-after", "Fri, 31 Dec 9999 23:59:59 GMT")]) > Some(s(1_000_000_000)));
    }
}

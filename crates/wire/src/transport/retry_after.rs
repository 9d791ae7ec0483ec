//! The wait that a response's `Retry-After` asks for.

use gax_driver::__private::time_of_day;
use http::header::{DATE, RETRY_AFTER};
use http::{HeaderMap, HeaderValue};
use std::time::{Duration, SystemTime};

/// The delay in `Retry-After`; `None` if it is missing or has no meaning.
pub fn retry_after_in(headers: &HeaderMap) -> Option<Duration> {
    let mut values = headers.get_all(RETRY_AFTER).iter().map(HeaderValue::as_bytes).peekable();
    values.peek()?;
    retry_after(values, headers.get(DATE).map(HeaderValue::as_bytes), time_of_day())
}

/// The wait by `Retry-After` headers, each a number of seconds or a date (RFC 9110, section 10.2.3; the two older forms of
/// dates are read as well). Dates are read with the feature `dates` only.
///
/// Of several values the longest counts, also if they were joined with commas. Decimals are rounded up to whole
/// seconds. A date counts from the response's own `Date`, where it has a valid one, so that a clock that is wrong on
/// either side does no harm, and else from `now`; one in the past is no wait. A value that is neither a number nor a
/// date is left out.
fn retry_after<'a>(
    values: impl IntoIterator<Item = &'a [u8]>,
    date: Option<&[u8]>,
    now: SystemTime,
) -> Option<Duration> {
    let since = date.and_then(text).and_then(http_date).unwrap_or(now);
    values.into_iter().filter_map(|value| longest(text(value)?, since)).max()
}

fn text(value: &[u8]) -> Option<&str> {
    str::from_utf8(value).ok().map(str::trim_ascii)
}

/// The longest wait that a value asks for. A date has a separate comma.
fn longest(value: &str, since: SystemTime) -> Option<Duration> {
    match http_date(value) {
        Some(date) => Some(date.duration_since(since).unwrap_or_default()),
        None => value.split(',').filter_map(seconds).max(),
    }
}

#[cfg(feature = "dates")]
fn http_date(text: &str) -> Option<SystemTime> {
    httpdate::parse_http_date(text).ok()
}

#[cfg(not(feature = "dates"))]
fn http_date(_: &str) -> Option<SystemTime> {
    None
}

/// A number of seconds, rounded up to whole ones.
fn seconds(text: &str) -> Option<Duration> {
    let text = text.trim_ascii();
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(part) {
        return None;
    }
    let more = u64::from(part.bytes().any(|digit| digit != b'0'));
    Some(Duration::from_secs(whole.parse().unwrap_or(u64::MAX).saturating_add(more)))
}

#[cfg(test)]
#[cfg(feature = "dates")]
mod tests {
    use super::*;

    const NOW: u64 = 784_111_777;

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    fn asked(values: &[&[u8]], date: Option<&[u8]>) -> Option<u64> {
        retry_after(values.iter().copied(), date, at(NOW)).map(|wait| wait.as_secs())
    }

    #[test]
    fn seconds_dates_and_everything_else() {
        for (value, expected) in [
            ("0", Some(0)),
            (" 7\t", Some(7)),
            ("99999999999999999999999", Some(u64::MAX)),
            ("1.5", Some(2)),
            ("0.001", Some(1)),
            ("3.000", Some(3)),
            ("18446744073709551615.5", Some(u64::MAX)),
            ("Sun, 06 Nov 1994 08:49:47 GMT", Some(10)),
            ("Sunday, 06-Nov-94 08:49:47 GMT", Some(10)),
            ("Sun Nov  6 08:49:47 1994", Some(10)),
            ("Sun, 06 Nov 1994 08:49:27 GMT", Some(0)),
            ("", None),
            ("-1", None),
            ("+1", None),
            ("1s", None),
            ("1e3", None),
            ("1.", None),
            (".5", None),
            ("1.5.2", None),
            ("Sun, 31 Feb 1994 08:49:37 GMT", None),
            ("tomorrow", None),
        ] {
            assert_eq!(asked(&[value.as_bytes()], None), expected, "{value:?}");
        }
        assert_eq!(asked(&[b"\xff\xfe"], None), None);
        assert_eq!(asked(&[], None), None);
    }

    #[test]
    fn the_longest_of_several_values_counts() {
        for (values, expected) in [
            (&[&b"3"[..], b"120", b"7"][..], Some(120)),
            (&[b"soon", b"7", b"-9"], Some(7)),
            (&[b"3", b"Sun, 06 Nov 1994 08:49:47 GMT"], Some(10)),
            (&[b"30", b"Sun, 06 Nov 1994 08:49:47 GMT"], Some(30)),
            (&[b"3, 120,7"], Some(120)),
            (&[b"3, soon", b"2"], Some(3)),
            (&[b"soon", b""], None),
        ] {
            assert_eq!(asked(values, None), expected, "{values:?}");
        }
    }

    #[test]
    fn a_date_counts_from_the_responses_own() {
        let after: &[u8] = b"Sun, 06 Nov 1994 08:49:47 GMT";
        assert_eq!(asked(&[after], Some(b"Sun, 06 Nov 1994 08:49:17 GMT")), Some(30));
        assert_eq!(asked(&[after], Some(b"Sun, 06 Nov 1994 08:50:17 GMT")), Some(0));
        for garbage in [&b"0"[..], b"now", b"\xff"] {
            assert_eq!(asked(&[after], Some(garbage)), Some(10), "from the clock");
        }
    }

    fn asked_in(headers: &[(&'static str, &str)]) -> Option<Duration> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().unwrap());
        }
        retry_after_in(&map)
    }

    #[test]
    fn the_header_is_read_with_the_responses_date() {
        let s = Duration::from_secs;
        assert_eq!(asked_in(&[]), None);
        assert_eq!(asked_in(&[("retry-after", "7")]), Some(s(7)));
        assert_eq!(asked_in(&[("retry-after", "soon")]), None);
        let date = ("date", "Sat, 21 Nov 2026 09:00:00 GMT");
        assert_eq!(asked_in(&[date, ("retry-after", "Sat, 21 Nov 2026 09:01:30 GMT")]), Some(s(90)));
        assert_eq!(asked_in(&[date, ("retry-after", "Sat, 21 Nov 2026 08:59:00 GMT")]), Some(s(0)));
        assert_eq!(asked_in(&[("retry-after", "Sat, 21 Nov 2020 09:00:00 GMT")]), Some(s(0)));
        assert!(asked_in(&[("retry-after", "Fri, 31 Dec 9999 23:59:59 GMT")]) > Some(s(1_000_000_000)));
    }
}

//! The `Retry-After` header.

use std::time::{Duration, SystemTime};

/// How long a `Retry-After` header asks to wait: a number of seconds, or a date (RFC 9110, section
/// 10.2.3; the two older forms of dates are read as well).
///
/// A date in the past is no wait. What is neither is `None`.
///
/// # Examples
///
/// ```
/// use gax_retry::retry_after;
/// use std::time::{Duration, SystemTime};
///
/// let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
/// assert_eq!(retry_after(b"120", now), Some(Duration::from_secs(120)));
/// assert_eq!(retry_after(b"Sun, 06 Nov 1994 08:49:47 GMT", now), Some(Duration::from_secs(10)));
/// assert_eq!(retry_after(b"soon", now), None);
/// ```
#[must_use]
pub fn retry_after(value: &[u8], now: SystemTime) -> Option<Duration> {
    let text = str::from_utf8(value).ok()?.trim_ascii();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(Duration::from_secs(text.parse().unwrap_or(u64::MAX)));
    }
    let date = httpdate::parse_http_date(text).ok()?;
    Some(date.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_dates_and_everything_else() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        let secs = |seconds| Some(Duration::from_secs(seconds));
        for (value, expected) in [
            ("0", secs(0)),
            (" 7\t", secs(7)),
            ("99999999999999999999999", secs(u64::MAX)),
            ("Sun, 06 Nov 1994 08:49:47 GMT", secs(10)),
            ("Sunday, 06-Nov-94 08:49:47 GMT", secs(10)),
            ("Sun Nov  6 08:49:47 1994", secs(10)),
            ("Sun, 06 Nov 1994 08:49:27 GMT", secs(0)),
            ("", None),
            ("-1", None),
            ("1.5", None),
            ("1s", None),
            ("Sun, 31 Feb 1994 08:49:37 GMT", None),
            ("tomorrow", None),
        ] {
            assert_eq!(retry_after(value.as_bytes(), now), expected, "{value:?}");
        }
        assert_eq!(retry_after(b"\xff\xfe", now), None);
    }
}

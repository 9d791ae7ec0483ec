//! `google.rpc.RetryInfo` in the body of an HTTP error.

use crate::http::json::{Json, is_digits};
use std::time::Duration;

/// How long the `google.rpc.RetryInfo` in a JSON error of Google's asks to wait: a body such as
/// `{"error": {"details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7s"}]}}`.
///
/// The body may end early; its complete part is read. Of several delays, the longest applies. An array of errors is read
/// as well. `None`: there is none, its delay is not a duration or is negative, or the body is not JSON up to there.
///
/// # Examples
///
/// ```
/// use gax_retry::http::retry_info_in_json;
/// use std::time::Duration;
///
/// let body = br#"{"error": {"code": 429, "details": [
///     {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "1.5s"}, {"#;
/// assert_eq!(retry_info_in_json(body), Some(Duration::from_millis(1500)));
/// assert_eq!(retry_info_in_json(b"<html>"), None);
/// ```
#[must_use]
pub fn retry_info_in_json(body: &[u8]) -> Option<Duration> {
    let mut longest = None;
    let text = body.utf8_chunks().next()?.valid();
    // If the body breaks off, what came before counts.
    let _broken_off = Json(text).elements(|error| {
        error.members(|json, name| match name {
            "error" => json.members(|json, name| match name {
                "details" => json.elements(|detail| read_detail(detail, &mut longest)),
                _ => json.pass(),
            }),
            _ => json.pass(),
        })
    });
    longest
}

/// Reads one of an error's details.
fn read_detail(json: &mut Json<'_>, longest: &mut Option<Duration>) -> Option<()> {
    let (mut is_retry_info, mut delay) = (false, None);
    json.members(|json, name| {
        match name {
            "@type" => {
                let name = json.text_or_other()?;
                is_retry_info = name.rsplit('/').next() == Some("google.rpc.RetryInfo");
            }
            "retryDelay" => delay = duration(&json.text_or_other()?),
            _ => return json.pass(),
        }
        if is_retry_info {
            *longest = delay.max(*longest);
        }
        Some(())
    })
}

/// A duration in protobuf's JSON form: seconds with up to nine decimals, and an `s`.
fn duration(text: &str) -> Option<Duration> {
    let number = text.strip_suffix('s')?;
    let (seconds, decimals) = number.split_once('.').unwrap_or((number, "0"));
    if !is_digits(seconds) || !is_digits(decimals) || decimals.len() > 9 {
        return None;
    }
    Some(Duration::new(seconds.parse().ok()?, format!("{decimals:0<9}").parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TYPE: &str = r#""@type": "type.googleapis.com/google.rpc.RetryInfo""#;

    fn of_details(details: &str) -> Option<Duration> {
        retry_info_in_json(format!(r#"{{"error": {{"code": 503, "details": [{details}]}}}}"#).as_bytes())
    }

    #[test]
    fn a_delay_is_found_whatever_stands_beside_it() {
        let ms = Duration::from_millis;
        let seven = format!(r#"{{{TYPE}, "retryDelay": "7s"}}"#);
        assert_eq!(of_details(&seven), Some(ms(7000)));
        let other = format!(r#"null, 1, "x", [true, -1.5], {{"a": {{"error": 1}}}}, {seven}"#);
        assert_eq!(of_details(&other), Some(ms(7000)));
        let turned = r#"{"retryDelay": "0.250s", "@type": "google.rpc.RetryInfo"}"#;
        assert_eq!(of_details(turned), Some(ms(250)));
        assert_eq!(of_details(&format!("{turned}, {seven}, {turned}")), Some(ms(7000)));
        let array = format!(r#"[{{"error": {{"details": [{seven}]}}}}]"#);
        assert_eq!(retry_info_in_json(array.as_bytes()), Some(ms(7000)));
    }

    #[test]
    fn what_is_no_delay_is_none() {
        for delay in [
            r#""-1s""#,
            r#""1""#,
            r#""s""#,
            r#""1.s""#,
            r#""1.0000000001s""#,
            r#""99999999999999999999s""#,
            "7",
            "null",
        ] {
            assert_eq!(of_details(&format!(r#"{{{TYPE}, "retryDelay": {delay}}}"#)), None, "{delay}");
        }
        assert_eq!(of_details(r#"{"@type": "x/google.rpc.Help", "retryDelay": "7s"}"#), None);
        assert_eq!(
            retry_info_in_json(format!(r#"{{"details": [{{{TYPE}, "retryDelay": "7s"}}]}}"#).as_bytes()),
            None
        );
        let deep = "[".repeat(100_000);
        for text in ["", "{", "null", "\"error\"", "\u{0}", deep.as_str()] {
            assert_eq!(retry_info_in_json(text.as_bytes()), None, "{}", text.len());
        }
    }

    #[test]
    fn what_breaks_off_counts_as_far_as_it_came() {
        let whole = format!(r#"{{"error": {{"details": [{{{TYPE}, "retryDelay": "7s"}}, {{"x": "y"}}]}}}}"#);
        let seen = whole.find("7s").unwrap() + 3;
        for end in 0..whole.len() {
            let expected = (end >= seen).then_some(Duration::from_secs(7));
            assert_eq!(retry_info_in_json(&whole.as_bytes()[..end]), expected, "{}", &whole[..end]);
        }
    }
}

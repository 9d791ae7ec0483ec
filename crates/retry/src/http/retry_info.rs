//! `google.rpc.RetryInfo` in the body of an HTTP error.

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;
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
    let mut json = serde_json::Deserializer::from_slice(body);
    // If the body breaks off, what came before counts.
    let _broken_off = Level { place: Place::Body, longest: &mut longest }.deserialize(&mut json);
    longest
}

/// Where a value stands.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// The body, or one error of an array of them.
    Body,
    /// `error`.
    Error,
    /// `error.details`, or one of them.
    Details,
}

/// Reads the value at a place; anything of another type is passed over.
struct Level<'a> {
    place: Place,
    longest: &'a mut Option<Duration>,
}

impl<'de> DeserializeSeed<'de> for Level<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Level<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<(), A::Error> {
        while values.next_element_seed(Level { place: self.place, longest: self.longest })?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        let (mut is_retry_info, mut delay) = (false, None);
        while let Some(name) = fields.next_key::<String>()? {
            let inner = match (self.place, name.as_str()) {
                (Place::Body, "error") => Place::Error,
                (Place::Error, "details") => Place::Details,
                (Place::Details, "@type" | "retryDelay") => {
                    let value: serde_json::Value = fields.next_value()?;
                    let text = value.as_str().unwrap_or_default();
                    if name == "@type" {
                        is_retry_info = text.rsplit('/').next() == Some("google.rpc.RetryInfo");
                    } else {
                        delay = duration(text);
                    }
                    if is_retry_info {
                        *self.longest = delay.max(*self.longest);
                    }
                    continue;
                }
                _ => {
                    let _ignored: IgnoredAny = fields.next_value()?;
                    continue;
                }
            };
            fields.next_value_seed(Level { place: inner, longest: self.longest })?;
        }
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

/// A duration in protobuf's JSON form: seconds with up to nine decimals, and an `s`.
fn duration(text: &str) -> Option<Duration> {
    let number = text.strip_suffix('s')?;
    let (seconds, decimals) = number.split_once('.').unwrap_or((number, "0"));
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(seconds) || !is_number(decimals) || decimals.len() > 9 {
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

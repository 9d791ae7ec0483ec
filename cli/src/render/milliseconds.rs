//! Durations in milliseconds, as every output of the command gives them.

use serde::{Serialize, Serializer};
use std::fmt::{self, Write as _};
use std::time::Duration;

/// A duration that prints as `1500 ms` and serialises as `1500`; parts of a millisecond follow a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ms(pub(crate) Duration);

impl Ms {
    /// As a floating point number, the nearest there is.
    #[expect(clippy::cast_precision_loss, reason = "the nearest double is what is wanted")]
    pub(crate) fn as_f64(self) -> f64 {
        self.0.as_nanos() as f64 / 1e6
    }
}

impl Ms {
    /// The nearest whole millisecond.
    pub(crate) fn rounded(self) -> Self {
        let nanos = self.0.subsec_nanos();
        let whole = (nanos + 500_000) / 1_000_000;
        Self(Duration::from_secs(self.0.as_secs()) + Duration::from_millis(whole.into()))
    }
}

impl fmt::Display for Ms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fraction = self.0.subsec_nanos() % 1_000_000;
        let mut text = self.0.as_millis().to_string();
        if fraction != 0 {
            text.push_str(format!(".{fraction:06}").trim_end_matches('0'));
        }
        text.push_str(" ms");
        f.pad(&text)
    }
}

impl Serialize for Ms {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match u64::try_from(self.0.as_millis()) {
            Ok(whole) if self.0.subsec_nanos().is_multiple_of(1_000_000) => serializer.serialize_u64(whole),
            _ => serializer.serialize_f64(self.as_f64()),
        }
    }
}

/// `100 ms x 1.3 up to 60000 ms`
pub(crate) fn grown(initial: Duration, multiplier: f64, max: Option<Duration>) -> String {
    let mut text = Ms(initial).to_string();
    if multiplier > 1.0 && max != Some(initial) {
        let _infallible = write!(text, " x {multiplier}");
        if let Some(max) = max {
            let _infallible = write!(text, " up to {}", Ms(max));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(nanos: u64) -> (String, String) {
        let ms = Ms(Duration::from_nanos(nanos));
        (ms.to_string(), serde_json::to_string(&ms).unwrap())
    }

    #[test]
    fn whole_milliseconds_have_no_fraction() {
        assert_eq!(both(1_500_000_000), ("1500 ms".to_owned(), "1500".to_owned()));
        assert_eq!(both(0), ("0 ms".to_owned(), "0".to_owned()));
    }

    #[test]
    fn parts_of_a_millisecond_follow_a_point() {
        assert_eq!(both(1_200_000), ("1.2 ms".to_owned(), "1.2".to_owned()));
        assert_eq!(both(123_456_789), ("123.456789 ms".to_owned(), "123.456789".to_owned()));
        assert_eq!(both(162_510_820), ("162.51082 ms".to_owned(), "162.51082".to_owned()));
        assert_eq!(both(1), ("0.000001 ms".to_owned(), "1e-6".to_owned()));
    }
}

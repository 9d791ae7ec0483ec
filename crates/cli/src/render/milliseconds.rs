//! Durations as every output of the command gives them: JSON in milliseconds, text in units that fit.

use gax_retry::stored::Milliseconds;
use gax_text::Human;
use serde::{Serialize, Serializer};
use std::fmt::{self, Write as _};
use std::time::Duration;

/// A duration that prints as `1.5 s` and serialises as `1500`; parts of a millisecond follow a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ms(pub(crate) Duration);

impl Ms {
    /// As a floating point number, the nearest there is.
    #[expect(clippy::cast_precision_loss, reason = "the nearest double is what is wanted")]
    pub(crate) fn as_f64(self) -> f64 {
        self.0.as_nanos() as f64 / 1e6
    }
}

impl fmt::Display for Ms {
    /// In units that fit, rounded; the alternate form is exact.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Human(self.0).fmt(f)
    }
}

impl Serialize for Ms {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Milliseconds(self.0).serialize(serializer)
    }
}

/// `100 ms x 1.3 up to 60 s`
pub(crate) fn grown(initial: Duration, multiplier: f64, max: Option<Duration>) -> String {
    let mut text = format!("{:#}", Human(initial));
    if multiplier > 1.0 && max != Some(initial) {
        let _infallible = write!(text, " x {multiplier}");
        if let Some(max) = max {
            let _infallible = write!(text, " up to {:#}", Human(max));
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
    fn people_get_units_that_fit_and_programs_all_places() {
        assert_eq!(both(1_500_000_000), ("1.5 s".to_owned(), "1500".to_owned()));
        assert_eq!(both(0), ("0 ms".to_owned(), "0".to_owned()));
        assert_eq!(both(1_200_000), ("1.2 ms".to_owned(), "1.2".to_owned()));
        assert_eq!(both(123_456_789), ("123 ms".to_owned(), "123.456789".to_owned()));
        assert_eq!(both(55_738_050_272), ("55.7 s".to_owned(), "55738.050272".to_owned()));
        assert_eq!(both(1), ("1 ns".to_owned(), "1e-6".to_owned()));
    }
}

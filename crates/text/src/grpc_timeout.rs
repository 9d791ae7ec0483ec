//! The text of `grpc-timeout`, as the gRPC protocol writes it: at most eight digits and a unit.

use std::fmt;
use std::time::Duration;

/// The time in a `grpc-timeout`: at most eight digits and a unit.
///
/// # Examples
///
/// ```
/// use gax_text::GrpcTimeout;
/// use std::time::Duration;
///
/// let timeout = GrpcTimeout::of(Duration::from_millis(1500));
/// assert_eq!(timeout.to_string(), "1500000u");
/// assert_eq!(GrpcTimeout::parse(b"1500000u").map(GrpcTimeout::duration), Some(Duration::from_millis(1500)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GrpcTimeout {
    number: u32,
    /// From the finest to the coarsest unit: `n`, `u`, `m`, `S`, `M` or `H`.
    letter: u8,
}

/// The greatest number that eight digits hold.
const MAX_VALUE: u32 = 99_999_999;

impl GrpcTimeout {
    /// The finest unit that eight digits suffice for, cut towards zero as tonic cuts it. More than 99,999,999 hours are that many.
    #[inline]
    #[must_use]
    pub fn of(timeout: Duration) -> Self {
        let (seconds, nanos) = (timeout.as_secs(), timeout.subsec_nanos());
        // Where a unit is too fine, the number is too large or does not even fit.
        let of = |letter, number: Option<u64>| {
            let number = u32::try_from(number?).ok().filter(|number| *number <= MAX_VALUE)?;
            Some(Self { number, letter })
        };
        let fine = |per_second, below: u32| seconds.checked_mul(per_second)?.checked_add(below.into());
        of(b'n', fine(1_000_000_000, nanos))
            .or_else(|| of(b'u', fine(1_000_000, nanos / 1_000)))
            .or_else(|| of(b'm', fine(1_000, nanos / 1_000_000)))
            .or_else(|| of(b'S', Some(seconds)))
            .or_else(|| of(b'M', Some(seconds / 60)))
            .or_else(|| of(b'H', Some(seconds / 3600)))
            .unwrap_or(Self { number: MAX_VALUE, letter: b'H' })
    }

    /// The timeout that a header has; `None`: its value is not of the protocol's form.
    #[must_use]
    pub fn parse(value: &[u8]) -> Option<Self> {
        let (letter, digits) = value.split_last()?;
        let is_number = (1..=8).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit);
        if !is_number || !b"numSMH".contains(letter) {
            return None;
        }
        let number = digits.iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0'));
        Some(Self { number, letter: *letter })
    }

    /// The time; eight digits of any unit are a duration.
    #[inline]
    #[must_use]
    pub fn duration(self) -> Duration {
        let number = u64::from(self.number);
        match self.letter {
            b'n' => Duration::from_nanos(number),
            b'u' => Duration::from_micros(number),
            b'm' => Duration::from_millis(number),
            b'S' => Duration::from_secs(number),
            b'M' => Duration::from_secs(number * 60),
            _ => Duration::from_secs(number * 3600),
        }
    }

    crate::getters! { move self:
        /// The number before the unit.
        #[inline]
        pub number: u32 = self.number;

        /// The letter of the unit.
        #[inline]
        pub letter: u8 = self.letter;
    }
}

impl fmt::Display for GrpcTimeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.number, char::from(self.letter()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_that_is_written_is_read_again() {
        for nanos in [0, 1, 1_500_000_000, 295_123_999_999, 100_000_900_000_000] {
            let timeout = GrpcTimeout::of(Duration::from_nanos(nanos));
            assert_eq!(GrpcTimeout::parse(timeout.to_string().as_bytes()), Some(timeout));
        }
        assert_eq!(GrpcTimeout::of(Duration::MAX).to_string(), "99999999H");
    }
}

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
    unit: Unit,
}

/// The units, from the finest to the coarsest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Nanosecond,
    Microsecond,
    Millisecond,
    Second,
    Minute,
    Hour,
}

impl Unit {
    const ALL: [Self; 6] =
        [Self::Nanosecond, Self::Microsecond, Self::Millisecond, Self::Second, Self::Minute, Self::Hour];

    fn letter(self) -> u8 {
        match self {
            Unit::Nanosecond => b'n',
            Unit::Microsecond => b'u',
            Unit::Millisecond => b'm',
            Unit::Second => b'S',
            Unit::Minute => b'M',
            Unit::Hour => b'H',
        }
    }

    fn of(letter: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|unit| unit.letter() == letter)
    }
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
        let of = |unit, per_second: u64, below: u32| {
            let number = seconds.checked_mul(per_second)?.checked_add(u64::from(below))?;
            let number = u32::try_from(number).ok().filter(|number| *number <= MAX_VALUE)?;
            Some(Self { number, unit })
        };
        let coarse = |unit, size| {
            let number = u32::try_from(seconds / size).ok().filter(|number| *number <= MAX_VALUE)?;
            Some(Self { number, unit })
        };
        of(Unit::Nanosecond, 1_000_000_000, nanos)
            .or_else(|| of(Unit::Microsecond, 1_000_000, nanos / 1_000))
            .or_else(|| of(Unit::Millisecond, 1_000, nanos / 1_000_000))
            .or_else(|| of(Unit::Second, 1, 0))
            .or_else(|| coarse(Unit::Minute, 60))
            .or_else(|| coarse(Unit::Hour, 3600))
            .unwrap_or(Self { number: MAX_VALUE, unit: Unit::Hour })
    }

    /// The timeout that a header has; `None`: its value is not of the protocol's form.
    #[must_use]
    pub fn parse(value: &[u8]) -> Option<Self> {
        let (unit, digits) = value.split_last()?;
        if digits.is_empty() || digits.len() > 8 || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let number = digits.iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0'));
        Some(Self { number, unit: Unit::of(*unit)? })
    }

    /// The time; eight digits of any unit are a duration.
    #[inline]
    #[must_use]
    pub fn duration(self) -> Duration {
        let number = u64::from(self.number);
        match self.unit {
            Unit::Nanosecond => Duration::from_nanos(number),
            Unit::Microsecond => Duration::from_micros(number),
            Unit::Millisecond => Duration::from_millis(number),
            Unit::Second => Duration::from_secs(number),
            Unit::Minute => Duration::from_secs(number * 60),
            Unit::Hour => Duration::from_secs(number * 3600),
        }
    }

    /// The number before the unit.
    #[inline]
    #[must_use]
    pub fn number(self) -> u32 {
        self.number
    }

    /// The letter of the unit.
    #[inline]
    #[must_use]
    pub fn letter(self) -> u8 {
        self.unit.letter()
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

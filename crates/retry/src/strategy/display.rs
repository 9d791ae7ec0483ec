//! Back-off strategies as formulas.

use super::{Backoff, BackoffStrategy, Cap, Jitter, Limits, TimeRule};
use std::fmt;

impl fmt::Display for Backoff {
    /// The formula, with n counted from 0 before the first retry, such as `min(1s x 2^n + 0..1000 x 1ms, 64s)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exponent = match self.first_exponent() {
            0 => "n".to_owned(),
            first => format!("(n+{first})"),
        };
        let max = self.max();
        let grown = match self.jitter() {
            Jitter::Compounding => {
                format!("wait before x {} (at first {:?})", self.multiplier(), self.initial())
            }
            _ => format!("{:?} x {}^{exponent}", self.initial(), self.multiplier()),
        };
        let delay = match self.cap() {
            Cap::BeforeJitter => format!("min({grown}, {max:?})"),
            Cap::AfterJitter => grown,
        };
        let wait = match self.jitter() {
            Jitter::None => delay,
            Jitter::Added { unit, most } | Jitter::AddedRounded { unit, most } => {
                format!("{delay} + 0..{most} x {unit:?}")
            }
            Jitter::Full => format!("0..1 x {delay}"),
            Jitter::FullNanos => format!("1ns + 0..1 x {delay}"),
            Jitter::Spread { fraction } => format!("{}..{} x {delay}", 1.0 - fraction, 1.0 + fraction),
            Jitter::Compounding => format!("1..2 x {delay}"),
            Jitter::UpToDouble => format!("1..2 x {delay} in whole ms"),
            Jitter::Window => format!("1..{} x {delay} in whole ms", self.multiplier()),
        };
        let capped = match self.cap() {
            Cap::BeforeJitter => wait,
            Cap::AfterJitter => format!("min({wait}, {max:?})"),
        };
        if self.min().is_zero() { f.write_str(&capped) } else { write!(f, "max({:?}, {capped})", self.min()) }
    }
}

impl fmt::Display for TimeRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TimeRule::Strict => "no attempt starts or runs beyond it",
            TimeRule::Refuse => "no wait begins that would end after it",
            TimeRule::Clip => "a wait is shortened to the rest of it",
            TimeRule::Check => "checked after a wait",
            TimeRule::Waits => "the waits together",
        })
    }
}

impl fmt::Display for Limits {
    /// The limits, such as `6 attempts; 50s (a wait is shortened to the rest of it)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.max_attempts() {
            Some(1) => f.write_str("1 attempt")?,
            Some(most) => write!(f, "{most} attempts")?,
            None if self.time().is_none() => return f.write_str("none but the caller's own timeout"),
            None => {}
        }
        if let Some((limit, rule)) = self.time() {
            let separator = if self.max_attempts().is_some() { "; " } else { "" };
            write!(f, "{separator}{limit:?} ({rule})")?;
        }
        Ok(())
    }
}

impl fmt::Display for BackoffStrategy {
    /// The formula, the limits and the time of each attempt.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.backoff, self.limits)?;
        match self.attempt_timeouts {
            Some(timeouts) => write!(f, "; each attempt {timeouts}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const S: Duration = Duration::from_secs(1);

    #[test]
    fn formulas_read_as_they_are_computed() {
        let plain = Backoff::exponential(S, 2.0, 64 * S);
        let ms = Duration::from_millis(1);
        for (backoff, text) in [
            (plain, "min(1s x 2^n, 64s)"),
            (plain.with_jitter(Jitter::Added { unit: ms, most: 1000 }), "min(1s x 2^n + 0..1000 x 1ms, 64s)"),
            (plain.with_cap(Cap::BeforeJitter).with_jitter(Jitter::Full), "0..1 x min(1s x 2^n, 64s)"),
            (plain.with_jitter(Jitter::Compounding), "min(1..2 x wait before x 2 (at first 1s), 64s)"),
            (
                plain.with_first_exponent(1).with_min(S).with_jitter(Jitter::Spread { fraction: 0.25 }),
                "max(1s, min(0.75..1.25 x 1s x 2^(n+1), 64s))",
            ),
            (plain.with_jitter(Jitter::Window), "min(1..2 x 1s x 2^n in whole ms, 64s)"),
        ] {
            assert_eq!(backoff.to_string(), text);
        }
    }

    #[test]
    fn limits_read_as_they_are_counted() {
        let none = Limits::none();
        assert_eq!(none.to_string(), "none but the caller's own timeout");
        assert_eq!(none.with_max_attempts(1).to_string(), "1 attempt");
        let both = none.with_max_attempts(6).with_time(50 * S, TimeRule::Clip);
        assert_eq!(both.to_string(), "6 attempts; 50s (a wait is shortened to the rest of it)");
        let strategy =
            BackoffStrategy::new(Backoff::exponential(S, 1.0, S), none.with_time(S, TimeRule::Strict));
        assert_eq!(strategy.to_string(), "min(1s x 1^n, 1s); 1s (no attempt starts or runs beyond it)");
    }
}

//! Multipliers, counts and seeds.

use gax_retry::ThreadJitter;
use gax_retry::jitter::JitterSource as _;

/// A multiplier: a finite number, at least 1.
pub(crate) fn multiplier(text: &str) -> Result<f64, String> {
    let value: f64 =
        text.trim().parse().map_err(|_| "is not a number; write a multiplier such as 2 or 1.3".to_owned())?;
    if !value.is_finite() {
        return Err("is not finite; write a multiplier such as 2 or 1.3".to_owned());
    }
    if value < 1.0 {
        return Err("is below 1, so it would shrink; write 1 for no growth, or more".to_owned());
    }
    Ok(value)
}

/// How often a service may get one call: a finite number, at least 1.
pub(crate) fn load(text: &str) -> Result<f64, String> {
    let value = text.trim().parse().ok().filter(|value: &f64| value.is_finite() && *value >= 1.0);
    value.ok_or_else(|| "is not a load; write a number of at least 1, such as 20".to_owned())
}

/// A number of attempts, the first one included.
pub(crate) fn attempts(text: &str) -> Result<u32, String> {
    count(text, u32::MAX, "the first attempt counts, so write 1 or more")
}

/// How many attempts fail.
pub(crate) fn failures(text: &str) -> Result<usize, String> {
    let value = whole(text, 10_000, "write a number such as 2")?;
    Ok(usize::try_from(value).unwrap_or(usize::MAX))
}

/// A number of operations to draw.
pub(crate) fn samples(text: &str) -> Result<u32, String> {
    count(text, 1_000_000, "write 1 or more, such as 1000")
}

/// The number that random numbers start from.
pub(crate) fn seed(text: &str) -> Result<u64, String> {
    whole(text, u64::MAX, "write a number such as 7")
}

fn count(text: &str, most: u32, advice: &str) -> Result<u32, String> {
    match whole(text, u64::from(most), advice)?.try_into() {
        Ok(0) => Err(format!("is too small; {advice}")),
        Ok(value) => Ok(value),
        Err(_) => Err(too_large(u64::from(most))),
    }
}

fn whole(text: &str, most: u64, advice: &str) -> Result<u64, String> {
    let text = text.trim();
    if text.is_empty() || !text.chars().all(|c| c.is_ascii_digit()) {
        return Err(format!("is not a whole number; {advice}"));
    }
    text.parse().ok().filter(|value| *value <= most).ok_or_else(|| too_large(most))
}

fn too_large(most: u64) -> String {
    format!("is too large; the most is {most}")
}

/// A random seed, short enough to be typed.
pub(crate) fn fresh_seed() -> u64 {
    ThreadJitter.next_u64() >> 40
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multipliers_are_finite_and_at_least_one() {
        assert_eq!(multiplier("1.3"), Ok(1.3));
        assert_eq!(multiplier("1"), Ok(1.0));
        for wrong in ["0.99", "-2", "NaN", "inf", "1e999", "two", ""] {
            assert!(multiplier(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn counts_start_at_one() {
        assert_eq!(attempts("4294967295"), Ok(u32::MAX));
        assert_eq!(samples("1000000"), Ok(1_000_000));
        assert!(attempts("0").unwrap_err().starts_with("is too small"));
        assert!(attempts("4294967296").unwrap_err().starts_with("is too large"));
        assert!(samples("1000001").unwrap_err().starts_with("is too large"));
        assert_eq!(seed("18446744073709551615"), Ok(u64::MAX));
        assert!(seed("18446744073709551616").unwrap_err().starts_with("is too large"));
        for wrong in ["-1", "1.5", "", "many"] {
            assert!(attempts(wrong).unwrap_err().starts_with("is not a whole number"), "{wrong}");
        }
    }
}

//! The command line of the soak.

use std::time::Duration;

/// How long, how much, and by which seed.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "what the command line says")]
pub struct SoakOptions {
    /// How long calls are made.
    pub time: Duration,
    /// How many callers call at a time.
    pub callers: u64,
    /// Where calls and faults are drawn from.
    pub seed: u64,
}

impl Default for SoakOptions {
    fn default() -> Self {
        Self { time: Duration::from_secs(60), callers: 32, seed: 1 }
    }
}

impl SoakOptions {
    /// Reads the words of a command line.
    ///
    /// # Errors
    ///
    /// One sentence about the first word that makes no sense.
    pub fn parse(words: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut options = Self::default();
        let mut words = words.into_iter();
        while let Some(flag) = words.next() {
            let number = words.next().and_then(|word| word.parse::<u64>().ok()).filter(|number| *number > 0);
            let number = number.ok_or_else(|| format!("{flag} needs a whole number, at least 1"))?;
            match &*flag {
                "--seconds" => options.time = Duration::from_secs(number),
                "--callers" => options.callers = number,
                "--seed" => options.seed = number,
                _ => return Err(format!("{flag} is not known")),
            }
        }
        Ok(options)
    }
}

//! gsutil's configuration file.

use std::str::FromStr;
use std::time::Duration;

/// The retry settings of a `.boto` file, in its section `[Boto]`: `num_retries` and `max_retry_delay` (in
/// seconds).
///
/// It is read like Python's `ConfigParser` reads it: names of options in any case, `=` or `:`, lines that start with
/// `#` or `;` are skipped, and the last of several values applies. Everything else in the file is ignored.
///
/// # Examples
///
/// ```
/// # use gax_retry::http as gax_http;
/// use gax_http::presets::BotoConfig;
/// use std::time::Duration;
///
/// let config: BotoConfig = "[Boto]\nnum_retries = 10\nmax_retry_delay = 8\n".parse()?;
/// assert_eq!(config.gsutil().backoff_strategy().limits().max_attempts(), Some(10));
/// assert_eq!(config.gsutil().backoff_strategy().backoff().max(), Duration::from_secs(8));
/// # Ok::<(), gax_retry::http::presets::BotoError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BotoConfig {
    num_retries: Option<u32>,
    max_retry_delay: Option<u32>,
}

impl BotoConfig {
    /// The number of retries, if the file gives one.
    #[must_use]
    pub fn num_retries(&self) -> Option<u32> {
        self.num_retries
    }

    /// The longest wait, if the file gives one.
    #[must_use]
    pub fn max_retry_delay(&self) -> Option<Duration> {
        self.max_retry_delay.map(|seconds| Duration::from_secs(seconds.into()))
    }

    fn option(&mut self, name: &str) -> Option<&mut Option<u32>> {
        match name {
            "num_retries" => Some(&mut self.num_retries),
            "max_retry_delay" => Some(&mut self.max_retry_delay),
            _ => None,
        }
    }
}

impl FromStr for BotoConfig {
    type Err = BotoError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut config = Self::default();
        let mut in_section = false;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for (index, line) in text.lines().enumerate() {
            if line.starts_with(['#', ';']) {
                continue;
            }
            if let Some(header) = line.strip_prefix('[') {
                in_section = header.split_once(']').is_some_and(|(name, _)| name == "Boto");
                continue;
            }
            // An indented line continues with the value of the option before it.
            if !in_section || line.starts_with([' ', '\t']) {
                continue;
            }
            let Some((name, value)) = line.split_once(['=', ':']) else { continue };
            let name = name.trim().to_ascii_lowercase();
            let value = value.trim();
            if let Some(option) = config.option(&name) {
                let number = value.parse().map_err(|_| BotoError {
                    line: index + 1,
                    option: name.clone(),
                    value: value.to_owned(),
                })?;
                *option = Some(number);
            }
        }
        Ok(config)
    }
}

/// An option of a `.boto` file that is not a whole number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BotoError {
    line: usize,
    option: String,
    value: String,
}

gax_text::error_text! { BotoError { line, option, value }, "line {line}: {option} in section [Boto] is {value:?}; write a whole number, 0 or more" }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_options_are_read_from_their_section_only() {
        let text = "\u{feff}[Credentials]\nnum_retries = 1\n[Boto]\r\n# num_retries = 2\n;max_retry_delay=3\n\
            https_validate_certificates = True\nNUM_RETRIES : 4\r\nmax_retry_delay=5\n  6\nnum_retries=7\n\
            not an option\n[GSUtil]\nnum_retries = 8\n";
        let config: BotoConfig = text.parse().unwrap();
        assert_eq!(config, BotoConfig { num_retries: Some(7), max_retry_delay: Some(5) });
        assert_eq!("".parse(), Ok(BotoConfig::default()));
        assert_eq!("[boto]\nnum_retries = 1".parse(), Ok(BotoConfig::default()));
    }

    #[test]
    fn what_is_no_number_is_refused_with_its_line() {
        for value in ["", "-1", "1.5", "many", "5 ; five", "99999999999"] {
            let error = format!("[Boto]\n\nnum_retries = {value}").parse::<BotoConfig>().unwrap_err();
            assert_eq!(
                error.to_string(),
                format!(
                    "line 3: num_retries in section [Boto] is {value:?}; write a whole number, 0 or more"
                )
            );
        }
    }
}

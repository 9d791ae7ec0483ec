//! Patterns for the hosts of requests.

use super::hosts;
use std::fmt;
use std::str::FromStr;

/// The host that requests of a rule go to.
///
/// | pattern | hosts |
/// | --- | --- |
/// | `api.example.com` | this one, with any port or none; upper and lower case are the same |
/// | `api.example.com:8443` | this one with that port |
/// | `*.example.com` | one label in place of the star: `eu.example.com`, but neither `example.com` nor `a.b.example.com` |
/// | `eu-*.example.com` | a label that begins so |
///
/// # Examples
///
/// ```
/// # use gax_retry::http as gax_http;
/// use gax_http::HostPattern;
///
/// let pattern: HostPattern = "*.example.com".parse()?;
/// assert!(pattern.matches("EU.example.com:443"));
/// assert!(!pattern.matches("example.com"));
/// # Ok::<(), gax_retry::http::HostPatternError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPattern {
    text: String,
}

impl HostPattern {
    /// Returns whether a host, with its port if the request names one, is as the pattern says.
    #[must_use]
    pub fn matches(&self, host: &str) -> bool {
        let (name, port) = self.parts();
        let (own, own_port) = hosts::split_port(host);
        port.is_none_or(|port| own_port == Some(port)) && hosts::matches(name, own.trim_end_matches('.'))
    }

    /// Returns whether each host that the other pattern matches is matched by this one.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        let ((name, port), (other_name, other_port)) = (self.parts(), other.parts());
        port.is_none_or(|port| other_port == Some(port)) && hosts::covers(name, other_name)
    }

    fn parts(&self) -> (&str, Option<&str>) {
        hosts::split_port(&self.text)
    }
}

impl FromStr for HostPattern {
    type Err = HostPatternError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = |reason| Err(HostPatternError { text: text.to_owned(), reason });
        let (name, port) = hosts::split_port(text);
        if text.contains("://") {
            return wrong("it is a URL; give only the host");
        }
        if text.contains('/') {
            return wrong("it has a slash; paths are matched by the path's own pattern");
        }
        if port.is_some_and(|port| port.parse::<u16>().is_err()) {
            return wrong("a port is a number up to 65535");
        }
        let is_address = name.starts_with('[') && name.ends_with(']');
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '*');
        if !is_address && !name.chars().all(is_part) {
            return wrong("a host consists of letters, digits, hyphens and dots");
        }
        let labels = || name.split('.');
        if labels().any(|label| label.strip_suffix('*').unwrap_or(label).contains('*')) {
            return wrong("a star stands at the end of a label");
        }
        if !is_address && labels().any(str::is_empty) {
            return wrong("a label is empty");
        }
        Ok(Self { text: text.to_owned() })
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

/// A text that isn't a [`HostPattern`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPatternError {
    text: String,
    reason: &'static str,
}

gax_text::error_text! { HostPatternError { text, reason }, "{text:?} is not a pattern for hosts: {reason}" }

impl HostPatternError {
    /// Why not.
    #[must_use]
    pub fn reason(&self) -> &str {
        self.reason
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> HostPattern {
        text.parse().unwrap()
    }

    #[test]
    fn a_star_is_one_label_and_a_port_counts_where_it_is_said() {
        for (text, host, expected) in [
            ("api.example.com", "API.example.com", true),
            ("api.example.com", "api.example.com.:8443", true),
            ("api.example.com:8443", "api.example.com:8443", true),
            ("api.example.com:8443", "api.example.com", false),
            ("api.example.com:8443", "api.example.com:443", false),
            ("*.example.com", "eu.example.com:1", true),
            ("*.example.com", "example.com", false),
            ("*.example.com", "a.b.example.com", false),
            ("*.example.com:1", "eu.example.com:1", true),
            ("eu-*.example.com", "eu-1.example.com", true),
            ("eu-*.example.com", "eu-.example.com", false),
            ("[::1]", "[::1]:80", true),
            ("[::1]:80", "[::1]:81", false),
            ("localhost", "localhost:9000", true),
        ] {
            assert_eq!(pattern(text).matches(host), expected, "{text} {host}");
        }
    }

    #[test]
    fn a_pattern_covers_what_each_of_its_hosts_is() {
        for (one, other, expected) in [
            ("*.example.com", "eu.example.com", true),
            ("*.example.com", "eu-*.example.com", true),
            ("eu-*.example.com", "eu-1*.example.com", true),
            ("eu-*.example.com", "*.example.com", false),
            ("a.example.com", "A.example.com", true),
            ("a.example.com", "a.example.com:1", true),
            ("a.example.com:1", "a.example.com", false),
            ("*.example.com", "*.com", false),
        ] {
            assert_eq!(pattern(one).covers(&pattern(other)), expected, "{one} {other}");
        }
    }

    #[test]
    fn texts_that_are_no_hosts_are_refused_with_the_reason() {
        for (text, reason) in [
            ("https://example.com", "it is a URL; give only the host"),
            ("example.com/v1", "it has a slash; paths are matched by the path's own pattern"),
            ("a b", "a host consists of letters, digits, hyphens and dots"),
            ("*a.example.com", "a star stands at the end of a label"),
            ("a:99999", "a port is a number up to 65535"),
            ("a:", "a port is a number up to 65535"),
            ("a:b", "a host consists of letters, digits, hyphens and dots"),
            ("", "a label is empty"),
            ("a..b", "a label is empty"),
        ] {
            let error = text.parse::<HostPattern>().unwrap_err();
            assert_eq!(error.reason(), reason, "{text}");
            assert_eq!(error.to_string(), format!("{text:?} is not a pattern for hosts: {reason}"));
        }
    }
}

//! Sets of HTTP statuses.

use std::fmt;

const FIRST: u16 = 400;
const LAST: u16 = 599;

/// A set of HTTP error statuses, 400 to 599. Small, and copied.
///
/// # Examples
///
/// ```
/// # use gax_retry::http as gax_http;
/// use gax_http::StatusSet;
///
/// let statuses = StatusSet::EMPTY.with(408).with(429).with_range(500, 599);
/// assert!(statuses.contains(502));
/// assert_eq!(statuses.to_string(), "408, 429, 5xx");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
#[must_use]
pub struct StatusSet([u128; 2]);

impl StatusSet {
    /// No status.
    pub const EMPTY: StatusSet = StatusSet([0; 2]);

    /// The six statuses that most client libraries retry: 408, 429, 500, 502, 503, 504.
    pub const SIX: StatusSet = StatusSet::EMPTY.with(408).with(429).with(500).with(502).with(503).with(504);

    /// 408, 429 and every 5xx.
    pub const ALL_SERVER_ERRORS: StatusSet = StatusSet::EMPTY.with(408).with(429).with_range(500, 599);

    /// The set with one status more. A status that isn't an error changes nothing.
    pub const fn with(self, status: u16) -> Self {
        self.with_range(status, status)
    }

    /// The set with all statuses from `first` to `last`.
    pub const fn with_range(self, first: u16, last: u16) -> Self {
        let StatusSet([mut low, mut high]) = self;
        let mut status = if first < FIRST { FIRST } else { first };
        while status <= last && status <= LAST {
            let bit = status - FIRST;
            if bit < 128 {
                low |= 1 << bit;
            } else {
                high |= 1 << (bit - 128);
            }
            status += 1;
        }
        StatusSet([low, high])
    }

    /// Returns whether the status is in the set.
    #[must_use]
    pub const fn contains(self, status: u16) -> bool {
        let StatusSet([low, high]) = self;
        match status {
            FIRST..=527 => low & (1 << (status - FIRST)) != 0,
            528..=LAST => high & (1 << (status - 528)) != 0,
            _ => false,
        }
    }

    /// Returns whether nothing is in the set.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        matches!(self, StatusSet([0, 0]))
    }

    /// The statuses of the set, in order.
    pub fn iter(self) -> impl Iterator<Item = u16> {
        (FIRST..=LAST).filter(move |status| self.contains(*status))
    }
}

impl FromIterator<u16> for StatusSet {
    fn from_iter<I: IntoIterator<Item = u16>>(statuses: I) -> Self {
        statuses.into_iter().fold(StatusSet::EMPTY, StatusSet::with)
    }
}

impl<const N: usize> From<[u16; N]> for StatusSet {
    fn from(statuses: [u16; N]) -> Self {
        statuses.into_iter().collect()
    }
}

impl fmt::Display for StatusSet {
    /// The statuses, a whole hundred of them as `5xx`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for hundred in [4, 5] {
            let first = hundred * 100;
            if (first..first + 100).all(|status| self.contains(status)) {
                write!(f, "{separator}{hundred}xx")?;
                separator = ", ";
                continue;
            }
            for status in (first..first + 100).filter(|status| self.contains(*status)) {
                write!(f, "{separator}{status}")?;
                separator = ", ";
            }
        }
        Ok(())
    }
}

impl fmt::Debug for StatusSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StatusSet({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_has_its_own_bit() {
        for status in FIRST..=LAST {
            let set = StatusSet::EMPTY.with(status);
            assert_eq!(set.iter().collect::<Vec<_>>(), [status]);
        }
        for outside in [0, 200, 399, 600, u16::MAX] {
            assert!(StatusSet::EMPTY.with(outside).is_empty());
            assert!(!StatusSet::EMPTY.with_range(0, u16::MAX).contains(outside));
        }
    }

    #[test]
    fn a_set_is_written_out_or_by_the_hundred() {
        assert_eq!(StatusSet::SIX.to_string(), "408, 429, 500, 502, 503, 504");
        assert_eq!(StatusSet::EMPTY.with_range(0, 999).to_string(), "4xx, 5xx");
        assert_eq!(StatusSet::from([503, 404]).to_string(), "404, 503");
        assert_eq!(StatusSet::EMPTY.to_string(), "");
    }
}

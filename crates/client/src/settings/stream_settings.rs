//! The settings that only streams of responses have.

use gax_retry::settings::SettingsProblem;
use gax_streams::resumption::Resumption;
use std::time::Duration;

/// The settings of an RPC that responds with a stream, in addition to those that all RPCs have.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct StreamSettings {
    pub(crate) resumption: Option<Resumption>,
    pub(crate) wait_timeout: Option<Duration>,
    pub(crate) idle_timeout: Option<Duration>,
}

impl StreamSettings {
    /// Returns whether none of them is set.
    pub(crate) fn is_empty(&self) -> bool {
        self.resumption.is_none() && !self.has_timeouts()
    }

    /// Returns whether a stream that is not resumed is watched, all the same.
    #[inline]
    pub(crate) fn has_timeouts(&self) -> bool {
        self.wait_timeout.is_some() || self.idle_timeout.is_some()
    }

    /// These over others, if they are not what they were at first. No table has a resumption.
    pub(crate) fn over(&self, first: &Self, others: &Self) -> Self {
        let changed = |own, first, other| if own == first { other } else { own };
        Self {
            resumption: self.resumption.clone(),
            wait_timeout: changed(self.wait_timeout, first.wait_timeout, others.wait_timeout),
            idle_timeout: changed(self.idle_timeout, first.idle_timeout, others.idle_timeout),
        }
    }

    /// The timeouts that are set, by their names.
    fn timeouts(&self) -> impl Iterator<Item = (&'static str, Duration)> {
        let timeouts = [("wait_timeout", self.wait_timeout), ("idle_timeout", self.idle_timeout)];
        timeouts.into_iter().filter_map(|(name, timeout)| Some((name, timeout?)))
    }

    /// The timeouts, of an RPC that has no use for them.
    pub(crate) fn without_use(&self, reason: &'static str) -> Vec<SettingsProblem> {
        let problem = |(name, timeout)| SettingsProblem::new(name, format!("{timeout:?}"), reason);
        self.timeouts().map(problem).collect()
    }
}

//! The rule set of a policy, and an operation's progress through it.

#[cfg(feature = "polling")]
use super::Polls;
#[cfg(feature = "strategy")]
use super::strategy::Strategy;
use super::{Ask, Documented, GaxJava, Grpc, Refusal, RuleSet, Wait};
use crate::jitter::JitterSource;
use crate::nanos::FOREVER;
use crate::started_attempt::Next;
use std::time::Duration;

/// The rule set of a policy.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Rules {
    Documented(Documented),
    GaxJava(GaxJava),
    Grpc(Grpc),
    #[cfg(feature = "strategy")]
    Strategy(Strategy),
    #[cfg(feature = "polling")]
    Polls(Polls),
}

/// The progress of an operation through its rule set.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Progress {
    Documented(<Documented as RuleSet>::Progress),
    GaxJava(<GaxJava as RuleSet>::Progress),
    Grpc(<Grpc as RuleSet>::Progress),
    #[cfg(feature = "strategy")]
    Strategy(<Strategy as RuleSet>::Progress),
    #[cfg(feature = "polling")]
    Polls(<Polls as RuleSet>::Progress),
}

/// Calls a rule set with the progress that belongs to it. An operation that keeps to its policy has no other;
/// `else` is for one that doesn't.
macro_rules! with_progress {
    ($rules:expr, $progress:expr, |$set:ident, $own:ident| $call:expr, else $stray:expr) => {
        match ($rules, $progress) {
            (Rules::Documented($set), Progress::Documented($own)) => $call,
            (Rules::GaxJava($set), Progress::GaxJava($own)) => $call,
            (Rules::Grpc($set), Progress::Grpc($own)) => $call,
            #[cfg(feature = "strategy")]
            (Rules::Strategy($set), Progress::Strategy($own)) => $call,
            #[cfg(feature = "polling")]
            (Rules::Polls($set), Progress::Polls($own)) => $call,
            _ => $stray,
        }
    };
}

impl Rules {
    pub(crate) fn begin(&self) -> Progress {
        match self {
            Rules::Documented(rules) => Progress::Documented(rules.begin()),
            Rules::GaxJava(rules) => Progress::GaxJava(rules.begin()),
            Rules::Grpc(rules) => Progress::Grpc(rules.begin()),
            #[cfg(feature = "strategy")]
            Rules::Strategy(rules) => Progress::Strategy(rules.begin()),
            #[cfg(feature = "polling")]
            Rules::Polls(rules) => Progress::Polls(rules.begin()),
        }
    }

    pub(crate) fn start(
        &self,
        progress: &mut Progress,
        is_first: bool,
        now: u64,
        bound: u64,
    ) -> Result<u64, Refusal> {
        with_progress!(self, progress, |rules, own| rules.start(own, is_first, now, bound), else Err(Refusal::STRAY))
    }

    pub(crate) fn next(
        &self,
        progress: &mut Progress,
        ask: Ask,
        jitter: &mut dyn JitterSource,
    ) -> Result<Wait, Refusal> {
        with_progress!(self, progress, |rules, own| rules.next(own, ask, jitter), else Err(Refusal::STRAY))
    }

    pub(crate) fn poll_next(
        &self,
        progress: &mut Progress,
        next: Next,
        ask: Ask,
        jitter: &mut dyn JitterSource,
    ) -> Result<Wait, Refusal> {
        with_progress!(self, progress, |rules, own| rules.poll_next(own, next, ask, jitter), else Err(Refusal::STRAY))
    }

    /// Returns whether waits are drawn at random.
    pub(crate) fn is_jittered(&self) -> bool {
        match self {
            Rules::Documented(rules) => rules.is_jittered(),
            Rules::GaxJava(rules) => rules.is_jittered(),
            Rules::Grpc(rules) => rules.is_jittered(),
            #[cfg(feature = "strategy")]
            Rules::Strategy(rules) => rules.is_jittered(),
            #[cfg(feature = "polling")]
            Rules::Polls(_) => false,
        }
    }

    /// Returns whether an attempt is cut off at a whole number of milliseconds.
    pub(crate) fn has_whole_milliseconds(&self) -> bool {
        self.are_gax_javas()
    }

    /// Returns whether they are gax-java's, of calls or of polls.
    pub(crate) fn are_gax_javas(&self) -> bool {
        #[cfg(feature = "polling")]
        if let Rules::Polls(_) = self {
            return true;
        }
        matches!(self, Rules::GaxJava(_))
    }

    /// The total timeout in nanoseconds, where one cuts the operation itself.
    pub(crate) fn time_limit(&self) -> u64 {
        match self {
            Rules::Documented(rules) => rules.total(),
            Rules::Grpc(rules) => rules.total(),
            #[cfg(feature = "strategy")]
            Rules::Strategy(rules) => rules.wall(FOREVER),
            Rules::GaxJava(rules) => rules.total(),
            #[cfg(feature = "polling")]
            Rules::Polls(_) => FOREVER,
        }
    }

    /// The total timeout in nanoseconds where an attempt that it ends has ended the operation, regardless of its code. By
    /// gax-java's rules such an attempt ends as any other does.
    pub(crate) fn clock_limit(&self) -> u64 {
        match self {
            Rules::GaxJava(_) => FOREVER,
            _ => self.time_limit(),
        }
    }

    /// No more time and attempts than that.
    pub(crate) fn limit_to(&mut self, total: Option<Duration>, attempts: Option<u32>) {
        match self {
            Rules::Documented(rules) => rules.limit_to(total, attempts),
            Rules::GaxJava(rules) => rules.limit_to(total, attempts),
            Rules::Grpc(rules) => rules.limit_to(total, attempts),
            #[cfg(feature = "strategy")]
            Rules::Strategy(rules) => rules.limit_to(total, attempts),
            #[cfg(feature = "polling")]
            Rules::Polls(_) => {}
        }
    }

    pub(crate) fn reset_backoff(&self, progress: &mut Progress, bound: u64) {
        with_progress!(self, progress, |rules, own| rules.reset_backoff(own, bound), else ());
    }
}

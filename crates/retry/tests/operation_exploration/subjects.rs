//! The policies that are explored, and what each of them promises.

use gax_retry::gax_java::{Polling, RawSettings};
use gax_retry::jitter::JitterSource;
use gax_retry::operation::CommitPoint;
use gax_retry::strategy::{Backoff, BackoffStrategy, Jitter, Limits, TimeRule};
use gax_retry::{
    Code, CodeSet, Compatibility, Hedging, Policy, RetryBudget, RetrySettings, RetrySettingsBuilder,
};
use std::fmt;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);
const CODES: CodeSet = CodeSet::EMPTY.with(Code::DeadlineExceeded).with(Code::Unavailable);

/// A policy, how its operations begin, and what holds of them.
#[derive(Debug, Clone)]
pub(crate) struct Subject {
    name: &'static str,
    policy: Policy,
    pub(crate) bound: Option<Duration>,
    pub(crate) late: Option<Duration>,
    pub(crate) jitter: Draws,
    /// The tokens of a budget that is its own, and how many of them are left when the operation begins.
    pub(crate) tokens: Option<u32>,
    pub(crate) tokens_left: u32,
    pub(crate) is_hedged: bool,
    pub(crate) commits_at: CommitPoint,
    /// Nothing starts at or runs past it.
    pub(crate) time: Option<Duration>,
    pub(crate) max_attempts: Option<u32>,
    /// Those of a hedged stream that is resumed.
    pub(crate) after_commit: Option<u32>,
    /// No wait is longer, unless a server asks for it.
    pub(crate) max_delay: Option<Duration>,
    /// No RPC timeout is longer, unless it is all that is left.
    pub(crate) max_timeout: Option<Duration>,
}

/// Draws the same number again and again, or nothing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Draws(Option<u64>);

impl JitterSource for Draws {
    fn next_u64(&mut self) -> u64 {
        self.0.unwrap_or_default()
    }

    fn is_random(&self) -> bool {
        self.0.is_some()
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Subject {
    fn new(name: &'static str, policy: Policy) -> Self {
        Self {
            name,
            policy,
            bound: None,
            late: None,
            jitter: Draws(None),
            tokens: None,
            tokens_left: 0,
            is_hedged: false,
            commits_at: CommitPoint::FirstMessage,
            time: None,
            max_attempts: None,
            after_commit: None,
            max_delay: None,
            max_timeout: None,
        }
    }

    /// By the documented rules, or gRPC's, which make the most promises.
    fn of(name: &'static str, settings: RetrySettingsBuilder, rules: Compatibility) -> Self {
        let settings = settings.build().expect("made to be valid");
        let policy = Policy::with_compatibility(&settings, CODES, rules);
        let (is_grpc, is_java) = (rules == Compatibility::Grpc, rules == Compatibility::GaxJava);
        Self {
            commits_at: if is_grpc { CommitPoint::Headers } else { CommitPoint::FirstMessage },
            time: settings.total_timeout().filter(|_| !is_java),
            max_attempts: policy.attempts_cap().or(settings.max_attempts()),
            max_delay: settings.max_retry_delay().map(|max| if is_grpc { max * 6 / 5 } else { max }),
            max_timeout: settings.max_rpc_timeout().filter(|_| !is_grpc),
            ..Self::new(name, policy)
        }
    }

    fn bounded(self, bound: Duration) -> Self {
        let time = self.time.map_or(bound, |time| time.min(bound));
        Self { bound: Some(bound), time: Some(time), ..self }
    }

    fn late(self, late: Duration) -> Self {
        Self { late: Some(late), ..self }
    }

    fn drawing(self, number: u64) -> Self {
        Self { jitter: Draws(Some(number)), ..self }
    }

    fn with_tokens(self, tokens: u32, left: u32) -> Self {
        Self { tokens: Some(tokens), tokens_left: left, ..self }
    }

    fn hedged(self, hedging: Hedging, max_attempts: u32) -> Self {
        let hedging = hedging.non_fatal_codes(CODES);
        let policy = self.policy.with_hedging(hedging);
        let after_commit = self.max_attempts;
        Self {
            policy,
            is_hedged: true,
            max_attempts: Some(max_attempts),
            after_commit,
            max_delay: None,
            ..self
        }
    }

    fn heeding_servers(self) -> Self {
        Self { policy: self.policy.with_server_delays(true), ..self }
    }

    /// The policy, with a budget that has so many tokens left.
    pub(crate) fn policy(&self, tokens: u32) -> (Policy, Option<RetryBudget>) {
        let Some(max) = self.tokens else {
            return (self.policy.clone(), None);
        };
        let budget = RetryBudget::tokens(max, 1.0);
        (tokens..max).for_each(|_| budget.failed());
        (self.policy.clone().with_budget(budget.clone()), Some(budget))
    }
}

/// 40 ms in all, delays of 4 ms x 2 up to 7 ms, RPC timeouts of 10 ms x 2 up to 15 ms, three attempts.
fn full() -> RetrySettingsBuilder {
    RetrySettings::builder()
        .total_timeout(40 * MS)
        .initial_retry_delay(4 * MS)
        .retry_delay_multiplier(2.0)
        .max_retry_delay(7 * MS)
        .initial_rpc_timeout(10 * MS)
        .rpc_timeout_multiplier(2.0)
        .max_rpc_timeout(15 * MS)
        .max_attempts(3)
}

fn at_once() -> RetrySettingsBuilder {
    RetrySettings::builder().initial_retry_delay(Duration::ZERO).max_retry_delay(Duration::ZERO)
}

fn of_each(rules: Compatibility) -> Vec<Subject> {
    let subject = |name, settings| Subject::of(name, settings, rules);
    vec![
        subject("all limits", full()),
        subject("all limits, least waits", full()).drawing(0),
        subject("all limits, longest waits", full()).drawing(u64::MAX),
        subject("no limit to attempts", full().max_attempts(None)),
        subject("attempts only", full().total_timeout(None)),
        subject("one attempt", full().max_attempts(1)),
        subject("no limits", at_once().initial_rpc_timeout(5 * MS)),
        subject("at once", at_once().total_timeout(20 * MS)),
        subject("many attempts", at_once().max_attempts(9)),
        subject("a caller's deadline", full()).bounded(17 * MS),
        subject("a caller's deadline only", at_once().initial_rpc_timeout(5 * MS)).bounded(12 * MS),
        subject("late", full()).late(33 * MS),
        subject("too late", full()).late(40 * MS).bounded(40 * MS),
        subject("a budget", full()).with_tokens(3, 3),
        subject("servers heeded", full()).heeding_servers(),
    ]
}

pub(crate) fn documented() -> Vec<Subject> {
    of_each(Compatibility::Documented)
}

pub(crate) fn grpc() -> Vec<Subject> {
    of_each(Compatibility::Grpc)
}

fn raw(change: impl FnOnce(&mut RawSettings)) -> RawSettings {
    let mut settings = RawSettings::default();
    change(&mut settings);
    settings
}

pub(crate) fn gax_java() -> Vec<Subject> {
    let part = raw(|settings| {
        settings.total_timeout_us = 9_900;
        settings.initial_retry_delay_us = 1_900;
        settings.retry_delay_multiplier = f64::NAN;
        settings.max_retry_delay_us = 9_000;
        settings.initial_rpc_timeout_us = 900;
        settings.max_rpc_timeout_us = 900;
        settings.rpc_timeout_multiplier = 3.0;
    });
    let mut subjects = of_each(Compatibility::GaxJava);
    for subject in &mut subjects {
        // The rest of the time is clamped before the wait, so that the cap is all that is promised.
        subject.max_timeout = None;
    }
    subjects.push(Subject::new("parts of milliseconds", Policy::gax_java(&part, CODES)));
    subjects
}

pub(crate) fn strategies() -> Vec<Subject> {
    let backoff = Backoff::exponential(4 * MS, 2.0, 7 * MS);
    let rules = [TimeRule::Strict, TimeRule::Refuse, TimeRule::Clip, TimeRule::Check, TimeRule::Waits];
    let mut subjects: Vec<_> = rules
        .into_iter()
        .map(|rule| {
            let limits = Limits::none().with_time(30 * MS, rule).with_max_attempts(4);
            let policy = Policy::from_strategy(&BackoffStrategy::new(backoff, limits), CODES);
            Subject {
                time: (rule == TimeRule::Strict).then_some(30 * MS),
                max_attempts: Some(4),
                max_delay: Some(7 * MS),
                ..Subject::new("a strategy", policy.with_attempt_timeout(10 * MS))
            }
        })
        .collect();
    let compounding = BackoffStrategy::new(backoff.with_jitter(Jitter::Compounding), Limits::none());
    let policy = Policy::from_strategy(&compounding, CODES);
    subjects.push(Subject::new("compounding", policy).drawing(u64::MAX).bounded(35 * MS));
    subjects
}

pub(crate) fn polls() -> Vec<Subject> {
    let settings = raw(|settings| {
        settings.total_timeout_us = 30_000;
        settings.initial_retry_delay_us = 4_000;
        settings.retry_delay_multiplier = 2.0;
        settings.max_retry_delay_us = 7_000;
    });
    let mut limited = settings.clone();
    limited.max_attempts = 3;
    let polling = Policy::polling(Polling::new(&settings));
    vec![
        Subject::new("polls", polling.clone()),
        Subject {
            max_attempts: Some(3),
            ..Subject::new("three polls", Policy::polling(Polling::new(&limited)))
        },
        Subject::new("polls with a timeout", polling.clone().with_attempt_timeout(5 * MS)),
        Subject::new("polls within a deadline", polling).bounded(17 * MS),
        Subject::new("polls without limits", Policy::polling(Polling::new(&RawSettings::default()))),
    ]
}

pub(crate) fn hedged() -> Vec<Subject> {
    let timed = RetrySettings::builder().total_timeout(20 * MS);
    let three = Hedging::new(3).delay(5 * MS);
    let mut subjects = Vec::new();
    for rules in [Compatibility::Documented, Compatibility::Grpc] {
        let subject = |name| Subject::of(name, timed.clone(), rules);
        subjects.push(subject("hedged").hedged(three, 3));
        subjects.push(subject("hedged at once").hedged(Hedging::new(3), 3));
        subjects.push(subject("hedged with a budget").hedged(three, 3).with_tokens(4, 4));
        subjects.push(subject("hedged within a deadline").hedged(three, 3).bounded(12 * MS));
        subjects.push(subject("hedged late").hedged(three, 3).late(13 * MS));
        let endless = Subject::of("hedged without time", RetrySettings::builder(), rules);
        subjects.push(endless.hedged(Hedging::new(3).delay(Duration::ZERO), 3).with_tokens(2, 1));
    }
    let short = RetrySettings::builder().initial_rpc_timeout(8 * MS).max_rpc_timeout(8 * MS);
    subjects.push(Subject::of("hedged with RPC timeouts", short, Compatibility::Documented).hedged(three, 3));
    let java = Subject::of("hedged by gax-java's rules", timed, Compatibility::GaxJava);
    subjects.push(java.hedged(three, 3).bounded(12 * MS));
    subjects
}

//! Many operations drawn with jitter, and the range of what comes out.

use crate::render::{Align, Cell, Grid, Ms, table};
use gax_retry::jitter::SeededJitter;
use gax_retry::{Attempt, AttemptPlan, Policy, Response, RetryBudget, StopReason};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// The spread of many operations.
#[derive(Debug, Default, Serialize)]
pub(super) struct Samples {
    #[serde(rename = "samples")]
    operations: u32,
    seed: u64,
    attempts: Vec<Spread>,
    attempt_counts: BTreeMap<usize, u32>,
    stop_reasons: BTreeMap<&'static str, u32>,
    end_ms: Option<EndTimes>,
    /// The attempts of an operation, on average.
    load: f64,
    /// With the table's retry throttling, which stops some.
    throttled: Option<Throttled>,
}

/// These operations under retry throttling, one after the other, from a full bucket on.
#[derive(Debug, Clone, Copy, Serialize)]
struct Throttled {
    load: f64,
    /// The operations that it stopped.
    stopped: u32,
}

/// One row: the attempts of that number, over all operations that got so far.
#[derive(Debug, Serialize)]
struct Spread {
    attempt: u32,
    made: u32,
    rpc_timeout_ms: Option<Range>,
    retry_delay_ms: Range,
    start_ms: Range,
    end_ms: Range,
    codes: BTreeMap<&'static str, u32>,
}

#[derive(Debug, Clone, Copy, Serialize)]
struct Range {
    min: Ms,
    max: Ms,
}

/// When operations ended, over those that did.
#[derive(Debug, Clone, Copy, Serialize)]
struct EndTimes {
    min: Ms,
    p50: Ms,
    p90: Ms,
    p99: Ms,
    max: Ms,
}

impl Samples {
    /// Draws operations one after the other from the sequence of one seed.
    pub(super) fn draw(policy: &Policy, outcomes: &[Response], seed: u64, samples: u32) -> Self {
        let mut jitter = SeededJitter::new(seed);
        let mut drawn = Self { operations: samples, seed, ..Self::default() };
        let mut ends = Vec::new();
        for _ in 0..samples {
            let plan = AttemptPlan::new(policy, outcomes, &mut jitter);
            for (index, attempt) in plan.attempts().iter().enumerate() {
                match drawn.attempts.get_mut(index) {
                    Some(spread) => spread.add(attempt),
                    None => drawn.attempts.push(Spread::of(attempt)),
                }
            }
            *drawn.attempt_counts.entry(plan.attempts().len()).or_default() += 1;
            *drawn.stop_reasons.entry(ending(&plan)).or_default() += 1;
            if plan.endless().is_empty() {
                ends.push(plan.end());
            }
        }
        ends.sort_unstable();
        drawn.end_ms = EndTimes::of(&ends);
        let attempts =
            drawn.attempt_counts.iter().map(|(attempts, count)| *attempts as u64 * u64::from(*count));
        drawn.load = average(attempts.sum(), samples);
        drawn
    }

    /// With these operations under a retry budget, too.
    pub(super) fn throttled(
        self,
        budget: Option<RetryBudget>,
        policy: &Policy,
        outcomes: &[Response],
    ) -> Self {
        let throttled = budget.map(|budget| {
            let policy = policy.clone().with_budget(budget);
            let mut jitter = SeededJitter::new(self.seed);
            let (mut attempts, mut stopped) = (0, 0);
            for _ in 0..self.operations {
                let plan = AttemptPlan::new(&policy, outcomes, &mut jitter);
                attempts += plan.attempts().len() as u64;
                stopped += u32::from(plan.stop_reason() == Some(StopReason::Throttled));
            }
            Throttled { load: average(attempts, self.operations), stopped }
        });
        Self { throttled, ..self }
    }
}

#[expect(clippy::cast_precision_loss, reason = "there are no more than a few billion attempts")]
fn average(attempts: u64, operations: u32) -> f64 {
    attempts as f64 / f64::from(operations.max(1))
}

/// How an operation ended, in a word.
fn ending(plan: &AttemptPlan) -> &'static str {
    match plan.stop_reason() {
        Some(reason) => reason.as_str(),
        None if !plan.endless().is_empty() => "NEVER_ENDS",
        None if plan.is_truncated() => "TRUNCATED",
        None => "SUCCESS",
    }
}

impl Spread {
    fn of(attempt: &Attempt) -> Self {
        Self {
            attempt: attempt.number(),
            made: 1,
            rpc_timeout_ms: attempt.rpc_timeout().map(Range::of),
            retry_delay_ms: Range::of(attempt.delay()),
            start_ms: Range::of(attempt.start()),
            end_ms: Range::of(attempt.end()),
            codes: BTreeMap::from([(attempt.code().name(), 1)]),
        }
    }

    fn add(&mut self, attempt: &Attempt) {
        self.made += 1;
        if let (Some(range), Some(timeout)) = (&mut self.rpc_timeout_ms, attempt.rpc_timeout()) {
            range.add(timeout);
        }
        self.retry_delay_ms.add(attempt.delay());
        self.start_ms.add(attempt.start());
        self.end_ms.add(attempt.end());
        *self.codes.entry(attempt.code().name()).or_default() += 1;
    }
}

impl Range {
    fn of(value: Duration) -> Self {
        Self { min: Ms(value), max: Ms(value) }
    }

    fn add(&mut self, value: Duration) {
        self.min = self.min.min(Ms(value));
        self.max = self.max.max(Ms(value));
    }
}

impl EndTimes {
    /// Of sorted values; `None` if there are none.
    fn of(sorted: &[Duration]) -> Option<Self> {
        let at = |percent: usize| {
            let rank = (sorted.len() * percent).div_ceil(100).max(1);
            sorted.get(rank - 1).copied().map(Ms)
        };
        Some(Self { min: at(0)?, p50: at(50)?, p90: at(90)?, p99: at(99)?, max: at(100)? })
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.min == self.max {
            return write!(f, "{}", self.min);
        }
        write!(f, "{}..{}", self.min, self.max)
    }
}

impl fmt::Display for Samples {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut drawn = Grid::new([
            ("attempt", Align::Right),
            ("made", Align::Right),
            ("RPC timeout", Align::Right),
            ("retry delay", Align::Right),
            ("invoked", Align::Right),
            ("ended", Align::Right),
            ("codes", Align::Left),
        ]);
        for spread in &self.attempts {
            drawn.push([
                Cell::from(spread.attempt),
                Cell::from(spread.made),
                spread.rpc_timeout_ms.map_or_else(|| Cell::from("none"), Cell::from),
                Cell::from(spread.retry_delay_ms),
                Cell::from(spread.start_ms),
                Cell::from(spread.end_ms),
                Cell::from(counts(&spread.codes)),
            ]);
        }
        writeln!(f, "{}", table(&drawn, 0))?;
        writeln!(f, "{} operations, drawn with --seed {}.", self.operations, self.seed)?;
        writeln!(f, "Attempts made: {}.", counts(&self.attempt_counts))?;
        writeln!(f, "They ended with: {}.", counts(&self.stop_reasons))?;
        write!(f, "The load on the server: {:.2} attempts an operation", self.load)?;
        match self.throttled {
            Some(Throttled { load, stopped }) => {
                writeln!(f, "; with retry throttling {load:.2}, which stops {stopped} operations.")?;
            }
            None => writeln!(f, ".")?,
        }
        if let Some(ends) = self.end_ms {
            let EndTimes { min, p50, p90, p99, max } = ends;
            writeln!(
                f,
                "The first ended at {min}, half by {p50}, 90% by {p90}, 99% by {p99}, the last at {max}."
            )?;
        }
        Ok(())
    }
}

/// `2 (90), 3 (10)`: each thing and how often it was.
fn counts<K: fmt::Display>(counts: &BTreeMap<K, u32>) -> String {
    let all: Vec<String> = counts.iter().map(|(key, count)| format!("{key} ({count})")).collect();
    all.join(", ")
}

//! A client's attempts beside those that a table asks for.

use super::args::ServeArgs;
use super::call::{Call, between};
use super::outcome::outcome;
use crate::command::warn;
use crate::failure::{Failure, usage};
use crate::input::Input;
use crate::render::{Ms, Row, Timeline};
use gax_retry::jitter::JitterSource;
use gax_retry::{AttemptPlan, Compatibility, Policy, Response, RetryBudget};
use gax_table::{HedgingPolicy, RetryTable};
use gax_testing::{Arrival, Break, Reply, Script};
use std::time::Duration;

/// The most attempts of a call that are planned.
const MOST: usize = 1000;
/// How much earlier than planned an attempt may arrive: clocks tick.
pub(in crate::command) const EARLY: Duration = Duration::from_millis(2);

/// The shortest or the longest wait, whenever one is drawn.
struct Always(u64);

impl JitterSource for Always {
    fn next_u64(&mut self) -> u64 {
        self.0
    }
}

/// A table that calls are compared with.
pub(super) struct Comparison {
    table: RetryTable,
    compatibility: Compatibility,
    slack: Duration,
    /// One for the shortest waits, one for the longest.
    budgets: Option<[RetryBudget; 2]>,
}

/// A request that is expected.
struct Expected {
    gap: (Duration, Duration),
    start: (Duration, Duration),
    /// It may be left out.
    is_optional: bool,
}

impl Comparison {
    /// With the table that the flags name, if they do.
    pub(super) fn read(args: &ServeArgs) -> Result<Option<Self>, Failure> {
        let Some(path) = &args.compare else { return Ok(None) };
        let file = Input::table(path)?;
        let reader = RetryTable::reader().dialect(args.dialect).file_name(&file.name);
        let table = reader.read(&file.content).map_err(|error| usage!("--compare: {error}"))?;
        warn(table.findings());
        let compatibility = args.dialect.compatibility();
        let budgets = table.throttling().map(|throttling| [throttling.budget(), throttling.budget()]);
        Ok(Some(Self { table, compatibility, slack: args.slack, budgets }))
    }

    /// The methods that the table names.
    pub(super) fn methods(&self) -> impl Iterator<Item = String> {
        self.table.names().filter_map(|name| Some(format!("{}/{}", name.service(), name.method()?)))
    }

    /// The call with what is expected of it, and where it differs from that.
    pub(super) fn compare(&self, mut call: Call, arrivals: &[&Arrival], script: &Script) -> Call {
        let (service, method) = call.method.split_once('/').unwrap_or(("", &call.method));
        let Some(of_table) = self.table.lookup(service, method) else {
            if call.attempts.len() > 1 {
                let made = call.attempts.len();
                call.differences
                    .push(format!("the table says nothing of the method, and {made} attempts were made"));
            }
            return call;
        };
        let (settings, hedging) = (of_table.settings(), of_table.hedging().map(HedgingPolicy::to_hedging));
        let policy =
            Policy::with_compatibility(settings, of_table.codes(), self.compatibility).with_hedging(hedging);
        let timeout = settings.total_timeout();
        let header = arrivals.first().and_then(|first| first.deadline());
        match (timeout, header) {
            (Some(timeout), None) => call
                .differences
                .push(format!("attempt 1 has no grpc-timeout; the table's timeout is {}", Ms(timeout))),
            (Some(timeout), Some(header)) if header > timeout => call.differences.push(format!(
                "attempt 1 has a grpc-timeout of {}, above the table's timeout of {}",
                Ms(header),
                Ms(timeout)
            )),
            _ => {}
        }
        let path = arrivals.first().map_or("", |first| first.path.as_str());
        let expected = self.expected(&policy, header, path, script);
        let refuses =
            arrivals.iter().any(|arrival| matches!(arrival.step.reply(), Reply::Break(Break::Refuse(_))));
        for (index, seen) in call.attempts.iter_mut().enumerate().skip(1) {
            let (number, Some(gap)) = (seen.attempt, seen.gap_ms) else { continue };
            let Some(expected) = expected.get(index) else {
                if refuses {
                    break;
                }
                call.differences
                    .push(format!("attempt {number} was made; by the table there are {}", expected.len()));
                break;
            };
            let first = arrivals.first().map_or(Duration::ZERO, |first| first.at);
            let (found, (low, high)) = if hedging.is_some() {
                (seen.at_ms.0.saturating_sub(first), expected.start)
            } else {
                (gap.0, expected.gap)
            };
            seen.expected_gap_ms = Some((Ms(low), Ms(high)));
            if found + EARLY < low || found > high + self.slack {
                let words = if hedging.is_some() { "the first attempt" } else { "the last attempt" };
                call.differences.push(format!(
                    "attempt {number} came {} after {words}; by the table {}",
                    Ms(found),
                    between(low, high)
                ));
            }
        }
        if let Some(missing) = expected.get(call.attempts.len()).filter(|missing| !missing.is_optional) {
            let (low, high) = missing.gap;
            call.differences.push(format!(
                "attempt {} was not made; by the table it follows after {}",
                call.attempts.len() + 1,
                between(low, high)
            ));
        }
        call
    }

    /// The requests of a call, by its policy.
    fn expected(
        &self,
        policy: &Policy,
        bound: Option<Duration>,
        path: &str,
        script: &Script,
    ) -> Vec<Expected> {
        let mut responses: Vec<Response> = Vec::new();
        for step in (0..MOST).map_while(|attempt| script.reply_to(path, attempt)) {
            let (response, is_last) = outcome(&step, self.compatibility == Compatibility::Grpc);
            responses.push(response);
            if is_last {
                break;
            }
        }
        let plan = |which: usize, draws: u64| {
            let budget = self.budgets.as_ref().and_then(|budgets| budgets.get(which)).cloned();
            AttemptPlan::within(bound, &policy.clone().with_budget(budget), &responses, &mut Always(draws))
        };
        let (short, long) = (requests(&plan(0, 0)), requests(&plan(1, u64::MAX)));
        let mut expected: Vec<Expected> = Vec::new();
        for index in 0..short.len().max(long.len()).min(responses.len()) {
            let (low, high) = (short.get(index).or(long.get(index)), long.get(index).or(short.get(index)));
            let Some((low, high)) = low.zip(high) else { break };
            let is_optional = index >= short.len().min(long.len());
            expected.push(Expected { gap: (low.0, high.0), start: (low.1, high.1), is_optional });
        }
        expected
    }
}

/// The requests of a plan: the wait before each, and its start.
fn requests(plan: &AttemptPlan) -> Vec<(Duration, Duration)> {
    let mut all = Timeline::from(plan).attempts;
    all.sort_by_key(|row| row.attempt);
    let again = |row: Row| {
        let (Ms(delay), Ms(start)) = (row.retry_delay_ms, row.start_ms);
        let again = usize::try_from(row.transparent_retries).unwrap_or_default();
        [(delay, start)].into_iter().chain(std::iter::repeat_n((Duration::ZERO, start), again))
    };
    all.into_iter().flat_map(again).collect()
}

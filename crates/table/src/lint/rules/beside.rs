//! Polling, batching and timeouts of streams: their numbers, and the methods that they are for.

use crate::TableName;
use crate::lint::report::{Place, Report};
use crate::lint::rule::declare;
use crate::lint::subject::{Rpc, Subject};
use gax_retry::{MethodKind, RetrySettings};
use std::collections::HashSet;
use std::time::Duration;

declare! {
    POLLING_EXCEEDS_TIMEOUT: "polling-exceeds-timeout", Warning, Table,
        "an operation that is given up before it is polled again",
        "Write a shorter initial delay, or a longer total timeout.";
    FREQUENT_POLLING: "frequent-polling", Warning, Table,
        "an operation that is polled without a delay, or a thousand times",
        "Write a first delay of a second or more, and delays that grow.";
    POLLING_WITHOUT_OPERATION: "polling-without-operation", Warning, Services,
        "polling of a method that starts no long-running operation",
        "Leave the polling out, or name the method that starts the operation.";
    BATCH_OF_ONE: "batch-of-one", Warning, Table,
        "a batch is full with its first element",
        "Write a greater element_count_threshold.";
    BATCHING_WITHOUT_EFFECT: "batching-without-effect", Warning, Services,
        "batching of a method whose requests can't be merged",
        "Leave the batching out.";
    STREAM_CUT_SHORT: "stream-cut-short", Warning, Services,
        "a total timeout below 30 seconds for a stream of responses, which ends with it however much it has delivered",
        "Write a longer timeout, or one for each message: wait_timeout or idle_timeout in TOML.";
    STREAM_TIMEOUT_WITHOUT_STREAM: "stream-timeout-without-stream", Warning, Services,
        "a wait or idle timeout of methods that don't respond with a stream",
        "Leave the timeout out.";
}

/// A time that is no more than one reply may take.
const SHORT_STREAM: Duration = Duration::from_secs(30);
/// Polls are counted up to this.
const MAX_POLLS: u32 = 1000;
/// The time in which they are counted if no timeout ends them.
const HOUR: Duration = Duration::from_secs(3600);
/// A time between polls that is no burden, however many there are.
const SELDOM: Duration = Duration::from_secs(10);

pub(super) fn check(subject: &Subject<'_>, report: &mut Report) {
    let mut seen = HashSet::new();
    let names = subject.table.names().chain(subject.table.names_beside());
    for name in names.filter(|name| seen.insert((name.service(), name.method()))) {
        let (service, method) = (name.service(), name.method().unwrap_or_default());
        let rpc =
            subject.rpcs.iter().find(|rpc| rpc.service.name() == service && rpc.method.name() == method);
        if let Some(polling) = subject.table.own_polling(service, method) {
            self::polling(subject, &name, polling, report);
            if rpc.is_some_and(|rpc| !rpc.method.is_long_running() && !rpc.starts_operation()) {
                let message = format!("{name} starts no long-running operation that could be polled");
                let help = "leave the polling out, or name the method that starts the operation";
                report.add(&POLLING_WITHOUT_OPERATION, Place::name(&name), message, help);
            }
        }
        if let Some(batching) = subject.table.own_batching(service, method) {
            if batching.element_count_threshold() == 1 {
                let message = "a batch is full with its first element: nothing is batched";
                let help = "write a greater element_count_threshold, such as 100";
                report.add(&BATCH_OF_ONE, Place::name(&name), message, help);
            }
            if rpc.is_some_and(|rpc| rpc.method.kind() != MethodKind::Unary || rpc.method.returns_operation())
            {
                let message = format!("requests of {name} can't be merged into one");
                report.add(&BATCHING_WITHOUT_EFFECT, Place::name(&name), message, "leave the batching out");
            }
        }
    }
    streams(subject, report);
}

/// How often an operation is polled, and whether it is at all.
fn polling(subject: &Subject<'_>, name: &TableName<'_>, polling: &RetrySettings, report: &mut Report) {
    let delays = polling.retry_delays(subject.table.dialect().compatibility());
    let (first, total) = (delays.initial(), polling.total_timeout());
    if let Some(total) = total.filter(|total| first >= *total) {
        let message = format!("operations are polled again after {first:?}, and given up after {total:?}");
        let help = "write a shorter initial delay, or a longer total timeout";
        return report.add(&POLLING_EXCEEDS_TIMEOUT, Place::name(name), message, help);
    }
    let help = "write a first delay of a second or more, and delays that grow, such as 5s x 1.5 up to 45s";
    if first.is_zero() {
        let message = "polls of an operation follow each other without a delay";
        return report.add(&FREQUENT_POLLING, Place::name(name), message, help);
    }
    let span = total.unwrap_or(HOUR);
    let longest = delays.max().unwrap_or(Duration::MAX);
    let (mut delay, mut at, mut count) = (first.as_secs_f64(), 0.0, 0);
    while at < span.as_secs_f64() && count < MAX_POLLS {
        at += delay.min(longest.as_secs_f64());
        delay *= delays.multiplier();
        count += 1;
    }
    // The average of those that were counted.
    if count == MAX_POLLS && at < SELDOM.as_secs_f64() * f64::from(MAX_POLLS) {
        let last = Duration::try_from_secs_f64(delay).unwrap_or(Duration::MAX).min(longest);
        let message = format!("an operation is polled {MAX_POLLS} times or more, up to {last:?} apart");
        report.add(&FREQUENT_POLLING, Place::name(name), message, help);
    }
}

/// Timeouts of streams in entries for methods that have none, and total timeouts that cut streams.
fn streams(subject: &Subject<'_>, report: &mut Report) {
    for rpc in &subject.rpcs {
        let total = rpc.policy.and_then(|policy| policy.settings().total_timeout());
        let Some(total) = total.filter(|total| *total < SHORT_STREAM) else { continue };
        if matches!(rpc.method.kind(), MethodKind::ServerStreaming | MethodKind::BidiStreaming) {
            let message = format!(
                "{} responds with a stream, which ends after {total:?} in total, however much it has delivered",
                rpc.full_name()
            );
            let help =
                "write a longer timeout or, in TOML, one for each message (wait_timeout, idle_timeout)";
            report.add(&STREAM_CUT_SHORT, Place::method(rpc), message, help);
        }
    }
    for entry in &subject.entries {
        let field = match (entry.policy.wait_timeout(), entry.policy.idle_timeout()) {
            (Some(_), _) => "wait_timeout",
            (None, Some(_)) => "idle_timeout",
            (None, None) => continue,
        };
        let responds_with_one = |rpc: &Rpc<'_>| {
            matches!(
                rpc.method.kind(),
                MethodKind::Unary | MethodKind::Paged | MethodKind::Batching | MethodKind::ClientStreaming
            )
        };
        let mut rpcs = subject.rpcs_of(entry).peekable();
        if rpcs.peek().is_some() && rpcs.all(responds_with_one) {
            let message = format!("{field} has no effect: no method of this entry responds with a stream");
            report.add(&STREAM_TIMEOUT_WITHOUT_STREAM, Place::entry(entry), message, "leave it out");
        }
    }
}

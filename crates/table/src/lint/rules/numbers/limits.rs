//! The bounds of an operation: timeouts and the number of attempts.

use crate::lint::report::{Place, Report};
use crate::lint::rule::declare;
use crate::lint::subject::{EntryView, Subject};
use crate::{Dialect, PolicyField};
use gax_retry::{Code, Compatibility};
use std::time::Duration;

declare! {
    MAX_ATTEMPTS_ABOVE_5: "max-attempts-above-5", Warning, Table,
        "more attempts than gRPC itself ever makes",
        "Write a number from 2 to 5.";
    DEADLINE_RETRY_UNREACHABLE: "deadline-retry-unreachable", Warning, Table,
        "DEADLINE_EXCEEDED is retried, although an attempt may use all of the time",
        "Leave DEADLINE_EXCEEDED out, or give attempts a shorter timeout than the operation (initial_rpc_timeout in TOML).";
    NO_TIMEOUT: "no-timeout", Warning, Table,
        "an entry without a timeout: a call may hang forever",
        "Write a timeout above zero.";
    LONG_UNARY_TIMEOUT: "long-unary-timeout", Note, Table,
        "a unary call may take more than an hour",
        "Write an hour or less, or make the method a long-running operation.";
    SHORT_TIMEOUT: "short-timeout", Note, Table,
        "a timeout of less than five seconds",
        "Write five seconds or more.";
    UNREACHABLE_ATTEMPTS: "unreachable-attempts", Warning, Table,
        "more attempts than the timeout has room for",
        "Write fewer attempts, shorter delays or a longer timeout.";
    RPC_TIMEOUT_ABOVE_TOTAL: "rpc-timeout-above-total", Warning, Table,
        "an RPC timeout that is longer than the total timeout",
        "Write a shorter RPC timeout, or a longer total timeout.";
    RPC_TIMEOUT_GROWTH: "rpc-timeout-growth-without-effect", Warning, Table,
        "a multiplier of RPC timeouts that can't grow",
        "Write an initial RPC timeout below the total timeout, or remove the multiplier.";
    SHORT_RPC_TIMEOUT: "short-rpc-timeout", Warning, Table,
        "an RPC timeout of less than 10 ms, in which hardly any server replies",
        "Write an RPC timeout that covers slow replies.";
    MANY_ATTEMPTS: "many-attempts", Warning, Table,
        "more than ten attempts, less than a second apart",
        "Write three to five attempts, or a longest delay of several seconds.";
}

/// gRPC itself makes no more attempts than this.
const MAX_ATTEMPTS: u32 = 5;
/// Attempts are counted up to this.
const COUNTED: u32 = 1000;
/// A number of attempts that is no storm, whatever the delays.
const FEW_ATTEMPTS: u32 = 10;
const SECOND: Duration = Duration::from_secs(1);
/// Less than a request takes to another machine and back.
const ROUND_TRIP: Duration = Duration::from_millis(10);
const LONG: Duration = Duration::from_secs(3600);
const SHORT: Duration = Duration::from_secs(5);

pub(in crate::lint::rules) fn check(subject: &Subject<'_>, report: &mut Report) {
    for entry in &subject.entries {
        attempts(subject, entry, report);
        timeout(subject, entry, report);
        unreachable(subject.table.dialect().compatibility(), entry, report);
        rpc_timeouts(entry, report);
        room(subject, entry, report);
        storm(subject, entry, report);
    }
}

/// The rules for the settings of HTTP requests.
#[cfg(feature = "http")]
pub(in crate::lint::rules) fn check_http(subject: &Subject<'_>, entry: &EntryView<'_>, report: &mut Report) {
    timeout(subject, entry, report);
    rpc_timeouts(entry, report);
    room(subject, entry, report);
    storm(subject, entry, report);
}

/// Many attempts that never slow down.
fn storm(subject: &Subject<'_>, entry: &EntryView<'_>, report: &mut Report) {
    let settings = entry.policy.settings();
    let Some(most) = settings.max_attempts().filter(|most| *most > FEW_ATTEMPTS && entry.retries()) else {
        return;
    };
    let longest = settings.retry_delays(subject.table.dialect().compatibility()).max();
    if let Some(longest) = longest.filter(|longest| *longest < SECOND)
        && subject.table.throttling().is_none()
    {
        let message = format!("a call makes up to {most} attempts, never more than {longest:?} apart");
        let help = "write three to five attempts, or a longest delay of several seconds: an outage multiplies the load by the attempts";
        report.add(&MANY_ATTEMPTS, Place::value(entry, PolicyField::MaxAttempts), message, help);
    }
}

/// Timeouts of attempts that the total timeout leaves without effect.
fn rpc_timeouts(entry: &EntryView<'_>, report: &mut Report) {
    let (settings, policy) = (entry.policy.settings(), &entry.policy);
    let (initial, total) = (settings.initial_rpc_timeout(), settings.total_timeout());
    let is_own =
        policy.origin_of(PolicyField::InitialRpcTimeout) != policy.origin_of(PolicyField::TotalTimeout);
    if let (Some(initial), Some(total), true) = (initial, total, is_own)
        && initial > total
    {
        let message = format!("the RPC timeout, {initial:?}, is longer than the total timeout, {total:?}");
        let help = "write a shorter RPC timeout, or a longer total timeout";
        let place = Place::value(entry, PolicyField::InitialRpcTimeout);
        report.add(&RPC_TIMEOUT_ABOVE_TOTAL, place, message, help);
    }
    let longest =
        settings.max_rpc_timeout().filter(|longest| initial.is_none_or(|initial| initial <= *longest));
    let is_longest_own =
        policy.origin_of(PolicyField::MaxRpcTimeout) != policy.origin_of(PolicyField::TotalTimeout);
    if let (Some(longest), Some(total), true) = (longest, total, is_longest_own)
        && longest > total
        && initial.is_none_or(|initial| initial <= total)
    {
        let message =
            format!("the longest RPC timeout, {longest:?}, is longer than the total timeout, {total:?}");
        let help = "write a shorter one, or a longer total timeout";
        report.add(&RPC_TIMEOUT_ABOVE_TOTAL, Place::value(entry, PolicyField::MaxRpcTimeout), message, help);
    }
    if let Some(initial) = initial.filter(|initial| *initial < ROUND_TRIP && is_own) {
        let message = format!("the first attempt has {initial:?} for its reply");
        let help = "write a timeout that covers slow replies, such as 1s";
        report.add(&SHORT_RPC_TIMEOUT, Place::value(entry, PolicyField::InitialRpcTimeout), message, help);
    }
    let is_written = policy.origin_of(PolicyField::RpcTimeoutMultiplier).is_some();
    let longest = [total, settings.max_rpc_timeout()].into_iter().flatten().min();
    let has_room = initial.is_some_and(|initial| longest.is_none_or(|longest| initial < longest));
    if is_written && settings.rpc_timeout_multiplier() > 1.0 && !has_room {
        let what = if longest == total { "whole total timeout" } else { "longest" };
        let message = format!("RPC timeouts should grow, but the first one is the {what}");
        let help = "write an initial RPC timeout below the total timeout and the longest one, or remove the multiplier";
        let place = Place::value(entry, PolicyField::RpcTimeoutMultiplier);
        report.add(&RPC_TIMEOUT_GROWTH, place, message, help);
    }
}

/// How many attempts the timeout has room for, if each is refused immediately and waits are as long as on average.
fn room(subject: &Subject<'_>, entry: &EntryView<'_>, report: &mut Report) {
    let settings = entry.policy.settings();
    let Some(total) = settings.total_timeout() else { return };
    let (most, room, field) = match entry.policy.hedging() {
        Some(hedging) if hedging.percentile().is_none() && !hedging.delay().is_zero() => {
            let room = total.as_nanos().div_ceil(hedging.delay().as_nanos());
            let most = hedging.max_attempts().unwrap_or(2);
            (most, u32::try_from(room).unwrap_or(u32::MAX), PolicyField::Hedging)
        }
        None if entry.retries() => {
            let Some(most) = settings.max_attempts() else { return };
            (most, attempts_within(subject, entry, total.as_secs_f64(), most), PolicyField::MaxAttempts)
        }
        _ => return,
    };
    // Other rules report that no second one has room.
    let is_second_late = settings.initial_retry_delay().is_some_and(|delay| delay >= total);
    if room < most && room > 1 && !is_second_late {
        let name = entry.max_attempts();
        let message = format!("the timeout of {total:?} has room for {room} attempts, not {most}");
        let help = format!("write {name} {room}, shorter delays or a longer timeout");
        report.add(&UNREACHABLE_ATTEMPTS, Place::value(entry, field), message, help);
    }
}

fn attempts_within(subject: &Subject<'_>, entry: &EntryView<'_>, total: f64, most: u32) -> u32 {
    let compatibility = subject.table.dialect().compatibility();
    let settings = entry.policy.settings();
    let delays = settings.retry_delays(compatibility);
    let drawn = if settings.jittered() && compatibility != Compatibility::Grpc { 0.5 } else { 1.0 };
    let longest = delays.max().map_or(f64::INFINITY, |max| max.as_secs_f64());
    let (mut delay, mut at, mut attempts) = (delays.initial().as_secs_f64(), 0.0, 1);
    while attempts < most.min(COUNTED) {
        at += delay.min(longest) * drawn;
        if at >= total {
            return attempts;
        }
        delay *= delays.multiplier();
        attempts += 1;
    }
    most
}

fn attempts(subject: &Subject<'_>, entry: &EntryView<'_>, report: &mut Report) {
    let attempts = entry.policy.settings().max_attempts().filter(|count| *count > MAX_ATTEMPTS);
    let is_read_by_grpc = entry.is_of_service_config() && subject.table.dialect() == Dialect::AsWritten;
    if let (Some(count), true) = (attempts, is_read_by_grpc) {
        let message = format!("gRPC itself makes {MAX_ATTEMPTS} attempts at most, not {count}");
        let origin = Place::value(entry, PolicyField::MaxAttempts);
        let help = "write a number from 2 to 5, and longer delays if the retries have to last as long";
        report.add(&MAX_ATTEMPTS_ABOVE_5, origin, message, help);
    }
}

fn timeout(subject: &Subject<'_>, entry: &EntryView<'_>, report: &mut Report) {
    let origin = Place::value(entry, PolicyField::TotalTimeout);
    let Some(total) = entry.policy.settings().total_timeout() else {
        if entry.policy.settings().max_rpc_timeout().is_none() && entry.is_for_something() {
            let help = "write a timeout above zero, or a call may hang forever";
            report.add(&NO_TIMEOUT, origin, "this entry has no timeout", help);
        }
        return;
    };
    if total < SHORT {
        let retry = if entry.policy.hedging().is_some() { "" } else { ", and none for a retry" };
        let message = format!("a timeout of {total:?} leaves little time for a slow reply{retry}");
        let help = "write 5s or more, unless slow replies are known to take less";
        report.add(&SHORT_TIMEOUT, origin.clone(), message, help);
    }
    // Without services any method may be unary.
    let mut unary = subject.rpcs_of(entry).filter(|rpc| rpc.method.kind().is_unary());
    if total > LONG && (subject.services.is_none() || unary.next().is_some()) {
        let message = format!("a call may take {total:?}");
        let help = "a unary call rarely needs an hour: make it a long-running operation, or write less";
        report.add(&LONG_UNARY_TIMEOUT, origin, message, help);
    }
}

fn unreachable(compatibility: Compatibility, entry: &EntryView<'_>, report: &mut Report) {
    let settings = entry.policy.settings();
    let Some(total) = settings.total_timeout() else { return };
    let attempt = settings.initial_rpc_timeout().unwrap_or(total).min(total);
    let left = total.saturating_sub(attempt);
    // An attempt that has less than a tenth of the time of the first, after the delay, has none.
    let delay = settings.retry_delays(compatibility).initial();
    let is_used_up = left.saturating_sub(delay) < attempt / 10;
    if entry.policy.codes().contains(Code::DeadlineExceeded) && is_used_up {
        let message = if left.is_zero() {
            format!("DEADLINE_EXCEEDED is retried, but an attempt may take the whole {total:?}")
        } else {
            format!("DEADLINE_EXCEEDED is retried, but an attempt may take {attempt:?} of {total:?}")
        };
        let help = "give attempts a shorter timeout than the operation, or leave the code out: \
                    after an attempt's timeout no time is left for a retry";
        let place = Place::code(entry, Code::DeadlineExceeded.into());
        report.add(&DEADLINE_RETRY_UNREACHABLE, place, message, help);
    }
}

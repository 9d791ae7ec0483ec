//! Which kinds a change of retries is of.

use super::kind::{Kind, Reasons};
use crate::command::table::view::MethodView;
use crate::render::Ms;
use gax_retry::CodeSet;
use std::time::Duration;

/// By how much the load of an outage has to change to be called another: it is an average of drawn operations.
const NOTICEABLE: f64 = 1.02;

/// How many attempts an outage makes, when, after which codes, and how long a call may take.
pub(super) fn of_retries(was: &MethodView<'_>, is: &MethodView<'_>, reasons: &mut Reasons) {
    let without = |codes: CodeSet, others: CodeSet| -> CodeSet {
        codes.iter().filter(|code| !others.contains(*code)).collect()
    };
    let (more, fewer) = (without(is.codes(), was.codes()), without(was.codes(), is.codes()));
    if !more.is_empty() {
        let verb = if is.hedging().is_some() { "no longer ends a call" } else { "is retried" };
        reasons.add(Kind::MoreAggressive, format!("{more} {verb}"));
    }
    if !fewer.is_empty() {
        let verb = if is.hedging().is_some() { "ends a call" } else { "is no longer retried" };
        reasons.add(Kind::LessAggressive, format!("{fewer} {verb}"));
    }
    let (only_was, only_is) = (was.only_with_server_delay(), is.only_with_server_delay());
    let freed: CodeSet =
        without(only_was, only_is).iter().filter(|code| is.codes().contains(*code)).collect();
    if !freed.is_empty() {
        let sentence = format!("{freed} is retried, whether the server asks for a delay or not");
        reasons.add(Kind::MoreAggressive, sentence);
    }
    let bound: CodeSet =
        without(only_is, only_was).iter().filter(|code| was.codes().contains(*code)).collect();
    if !bound.is_empty() {
        reasons.add(Kind::LessAggressive, format!("{bound} is retried only if the server asks for a delay"));
    }
    let load =
        || format!("an outage makes {} times the usual load, not {} times", is.load_text(), was.load_text());
    if is.load() > was.load() * NOTICEABLE {
        reasons.add(Kind::MoreAggressive, load());
    } else if was.load() > is.load() * NOTICEABLE {
        reasons.add(Kind::LessAggressive, load());
    }
    of_starts(was.starts(), is.starts(), reasons);
    of_silence(was, is, reasons);
    if let (Some(was), Some(is)) = (was.is_jittered(), is.is_jittered()) {
        let [less, more] =
            ["waits no longer have jitter: clients retry at the same moments", "waits have jitter now"];
        reasons.compare(&[is.cmp(&was)], [(Kind::MoreAggressive, less), (Kind::LessAggressive, more)]);
    }
    let (before, now) = (was.worst_case(), is.worst_case());
    of_time(before, now, "", reasons);
    // Servers that ask for delays can use up the total timeout, so that other times may differ behind it.
    if before == now {
        let own = [was, is].map(MethodView::worst_case_without_server_delays);
        of_time(own[0], own[1], " where no server asks for a delay", reasons);
    }
}

/// The longest that a call may take.
fn of_time(was: Option<Duration>, is: Option<Duration>, when: &str, reasons: &mut Reasons) {
    match (was, is) {
        (Some(was), Some(is)) if is > was => {
            reasons.add(Kind::Slower, format!("a call may take {}, not {}{when}", Ms(is), Ms(was)));
        }
        (Some(was), Some(is)) if is < was => {
            reasons.add(Kind::Faster, format!("a call has {}, not {}{when}", Ms(is), Ms(was)));
        }
        (Some(was), None) => {
            reasons.add(Kind::Slower, format!("a call may take any time; it was {}", Ms(was)));
        }
        (None, Some(is)) => reasons.add(Kind::Faster, format!("a call has {}; it had any time", Ms(is))),
        _ => {}
    }
}

/// Retries that start sooner or later after the start of a call that is refused immediately, again and again.
fn of_starts(was: &[Duration], is: &[Duration], reasons: &mut Reasons) {
    let sentence = |number: usize, was: Duration, is: Duration| {
        let which = if number == 1 { "the first retry".to_owned() } else { format!("retry {number}") };
        format!("{which} comes after {}, not {}", Ms(is), Ms(was))
    };
    let retries = || was.iter().copied().zip(is.iter().copied()).enumerate().skip(1);
    if let Some((number, (was, is))) = retries().find(|(_, (was, is))| is < was) {
        reasons.add(Kind::MoreAggressive, sentence(number, was, is));
    }
    if let Some((number, (was, is))) = retries().find(|(_, (was, is))| is > was) {
        reasons.add(Kind::LessAggressive, sentence(number, was, is));
    }
}

/// Attempts of a service that doesn't reply. Those of hedged calls are another matter.
fn of_silence(was: &MethodView<'_>, is: &MethodView<'_>, reasons: &mut Reasons) {
    if was.hedging().is_some() || is.hedging().is_some() {
        return;
    }
    let (before, now) = (was.attempts_of_silence(), is.attempts_of_silence());
    let sentence = format!("a service that doesn't reply gets {} of a call, not {before}", is.silence());
    let both = [(Kind::LessAggressive, &*sentence), (Kind::MoreAggressive, &sentence)];
    reasons.compare(&[now.cmp(&before)], both);
}

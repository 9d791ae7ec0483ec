//! The explanation of HTTP requests.

use super::explanation::PolicyImpact;
use super::request::Request;
use super::text::{refused, worst_case};
use crate::command::table::bounds::Bounds;
use crate::command::table::view::{HttpView, Members, most_attempts, or_none, short_place};
use crate::command::{Format, print, print_json};
use crate::failure::{Failure, usage};
use crate::render::{Count, HEAD, Human, table, times};
use gax_retry::Policy;
use gax_retry::plan::{Impact, Simulation};
use gax_table::RetryTable;
use gax_text::Escaped;
use serde::Serialize;
use std::fmt::Write as _;

/// Requests, as programs read their explanation.
#[derive(Debug, Serialize)]
struct Explanation<'a> {
    request: &'a str,
    rule: Option<&'a str>,
    origin: Option<String>,
    /// The class, and what decided.
    class: &'a str,
    safe_to_retry: bool,
    hedged: bool,
    environment: Option<Members>,
    statuses: Vec<u16>,
    failures: Vec<&'static str>,
    #[serde(flatten)]
    impact: PolicyImpact,
}

pub(super) fn run(
    whole: &RetryTable,
    request: &Request<'_>,
    bounds: Bounds,
    format: Format,
) -> Result<(), Failure> {
    let Some(view) = request.policy.map(|policy| HttpView::new(whole, policy)) else {
        return Err(usage!(
            "the table has no settings for {:?}; add them to [http], such as total_timeout = \"30s\"",
            request.shown
        ));
    };
    let policy = if request.is_hedged {
        view.to_hedged_policy()
    } else if request.is_safe {
        view.to_policy()
    } else {
        view.to_policy().without_retries()
    };
    let policy = policy.with_environment(&bounds.environment());
    let budget = whole.throttling().map(|throttling| throttling.budget());
    let impact = Impact::of(&policy.clone().with_budget(budget));
    let explanation = explanation(request, view, &policy, &impact, bounds);
    match format {
        Format::Json => print_json(&explanation),
        Format::Text => print(&text(&explanation, request, view, &impact, bounds)),
    }
}

fn explanation<'a>(
    request: &'a Request<'a>,
    view: HttpView<'_>,
    policy: &Policy,
    impact: &Impact,
    bounds: Bounds,
) -> Explanation<'a> {
    let settings = view.policy.settings();
    let is_limited = settings.max_attempts().is_some() || settings.total_timeout().is_some();
    let retries = request.is_safe && is_limited && !view.policy.policy().codes().is_empty();
    let most = match (request.is_hedged, retries) {
        (true, _) => Some(most_attempts(impact)),
        (false, true) => settings.max_attempts(),
        (false, false) => Some(1),
    };
    Explanation {
        request: request.shown,
        rule: request.rule.map(|rule| rule.rule().name()),
        origin: request.rule.and_then(|rule| rule.origin()).map(ToString::to_string),
        class: &request.class,
        safe_to_retry: request.is_safe,
        hedged: request.is_hedged,
        environment: bounds.json(),
        statuses: view.policy.statuses().iter().collect(),
        failures: view.failures(),
        impact: PolicyImpact::new(bounds.attempts(most).0, policy, impact),
    }
}

fn text(
    explanation: &Explanation<'_>,
    request: &Request<'_>,
    view: HttpView<'_>,
    impact: &Impact,
    bounds: Bounds,
) -> String {
    let mut text = format!("{HEAD}{}{HEAD:#}\n\n", Escaped(request.shown));
    let sentences =
        [rule(request), safety(request)].into_iter().chain(attempts(explanation, view, impact, bounds));
    for sentence in bounds.sentence().into_iter().chain(sentences) {
        let _infallible = writeln!(text, "{}", Escaped(sentence));
    }
    let _infallible = writeln!(text, "\n{}", table(&view.settings(), 0));
    text + &refused(&explanation.impact.refused)
}

fn rule(request: &Request<'_>) -> String {
    let Some(rule) = request.rule else { return "No rule matches it.".to_owned() };
    let (name, method, path) = (rule.rule().name(), rule.rule().method(), rule.rule().path());
    let place = rule
        .origin()
        .map_or_else(|| "of the base".to_owned(), |origin| format!("at {}", short_place(origin)));
    if request.shown == name {
        format!("The rule {place} is for {method} {path}.")
    } else {
        format!("The rule {name:?} ({method} {path}, {place}) is the first that matches it.")
    }
}

fn safety(request: &Request<'_>) -> String {
    if request.is_safe {
        return format!("Safe to retry: {}.", request.class);
    }
    format!(
        "Not safe to retry ({}): another attempt follows only if no server can have carried out the previous one.",
        request.class
    )
}

fn attempts(
    explanation: &Explanation<'_>,
    view: HttpView<'_>,
    impact: &Impact,
    bounds: Bounds,
) -> impl Iterator<Item = String> {
    let (statuses, failures) = (view.policy.statuses(), explanation.failures.join(", "));
    let retried = format!(
        "Retried statuses: {}. Retried failures below HTTP: {}.",
        or_none(statuses.to_string()),
        or_none(failures)
    );
    let attempts = match (
        explanation.impact.attempts_at_most,
        view.policy.hedging().filter(|_| explanation.hedged),
    ) {
        (Some(1), _) => "It makes one attempt.".to_owned(),
        (most, Some(hedging)) => {
            let most = most.unwrap_or_else(|| most_attempts(impact));
            format!(
                "It is hedged: up to {most} attempts, {}; the first good response wins.",
                hedging.spacing()
            )
        }
        (Some(most), None) => format!("It makes at most {most} attempts."),
        (None, None) if impact.is_load_capped() => {
            let most = Count(Simulation::MAX_ATTEMPTS as u64);
            format!(
                "The number of attempts has no limit: in 100 simulated outages there were more than {most}."
            )
        }
        (None, None) => {
            let most = impact.most_attempts();
            format!(
                "The number of attempts has no limit. In 100 simulated outages there were {most} at most."
            )
        }
    };
    let ends = bounds
        .total_timeout(view.policy.settings())
        .0
        .map(|total| format!("It ends after {:#} at the latest.", Human(total)));
    let worst = worst_case(impact);
    let outage = (impact.most_attempts() > 1).then(|| {
        format!(
            "If the server refuses every request at once, it gets {} times its usual load.",
            times(impact)
        )
    });
    let throttled = impact.throttled_load().filter(|_| outage.is_some()).map(|load| {
        format!("With the retry throttling it gets {load:.2} times, over 100 requests that start with a full bucket.")
    });
    [attempts, retried].into_iter().chain(ends).chain([worst]).chain(outage).chain(throttled)
}

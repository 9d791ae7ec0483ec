//! Rules for HTTP requests that have changed.

use super::change::{Change, Changed, changes};
use super::fact::Fact;
use super::kinds::{Kind, Reasons, reasons};
use crate::command::table::by_policy::ByPolicy;
use crate::command::table::view::{HttpView, MethodView, or_none};
use gax_retry::http::{HostPattern, OperationClass};
use gax_retry::plan::Impact;
use gax_table::{HttpPolicy, HttpRule, HttpTable, RetryTable};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// One of both tables.
type Both<T> = [T; 2];

/// The changes of HTTP requests, and the number of rules without any.
pub(super) fn changed(tables: Both<&RetryTable>, impacts: &mut ByPolicy<Impact>) -> (Vec<Changed>, usize) {
    let both = tables.map(RetryTable::http);
    if both.iter().all(Option::is_none) {
        return (Vec::new(), 0);
    }
    let of_all = both.map(|http| http.and_then(|http| http.policy_of(None)));
    let (all, why) = settings(tables, of_all, impacts);
    let mut found = Vec::new();
    if !all.is_empty() {
        let places = of_all.map(|policy| policy?.policy().origin().cloned());
        found.push(Changed::of("http".to_owned(), all, why, places));
    }
    let names: BTreeSet<&str> =
        both.iter().flatten().flat_map(|http| http.rules()).map(|rule| rule.rule().name()).collect();
    let mut unchanged = 0;
    for name in names {
        let rules = both.map(|http| http.and_then(|http| rule(http, name)));
        match compared(tables, name, rules, impacts) {
            Some(changed) => found.push(changed),
            None => unchanged += 1,
        }
    }
    (found, unchanged)
}

fn rule<'a>(http: &'a HttpTable, name: &str) -> Option<HttpRule<'a>> {
    http.rules().find(|rule| rule.rule().name() == name)
}

fn compared(
    tables: Both<&RetryTable>,
    name: &str,
    rules: Both<Option<HttpRule<'_>>>,
    impacts: &mut ByPolicy<Impact>,
) -> Option<Changed> {
    let mut found: Vec<Change> = [requests, class, hedgeable]
        .into_iter()
        .filter_map(|fact| Change::between(rules.map(fact)))
        .collect();
    let mut why = Reasons::default();
    let may_be_safe = |rule: HttpRule<'_>| rule.rule().class() != &OperationClass::Never;
    match rules.map(|rule| rule.map(may_be_safe)) {
        [None, Some(_)] => why.add(Kind::Added, "no rule was for these requests alone"),
        [Some(_), None] => why.add(Kind::Removed, "other rules decide about these requests"),
        [Some(false), Some(true)] => {
            why.add(Kind::MoreAggressive, "requests are retried that were not safe to retry");
        }
        [Some(true), Some(false)] => why.add(Kind::LessAggressive, "requests are no longer safe to retry"),
        _ => {}
    }
    // Settings that both inherit are compared where they stand.
    if rules.iter().flatten().any(HttpRule::has_own_policy) {
        let (own, kinds) = settings(tables, rules.map(|rule| rule?.policy()), impacts);
        found.extend(own);
        why.extend(kinds);
    }
    let places = rules.map(|rule| rule?.origin().cloned());
    (!found.is_empty()).then(|| Changed::of(format!("http {name}"), found, why, places))
}

/// The settings of requests that have changed, and of which kinds these changes are.
fn settings(
    tables: Both<&RetryTable>,
    policies: Both<Option<HttpPolicy<'_>>>,
    impacts: &mut ByPolicy<Impact>,
) -> (Vec<Change>, Reasons) {
    let ([old, new], [was, is]) = (tables, policies);
    let sides = [(old, was), (new, is)];
    let requests = sides.map(|(table, policy)| policy.map(|policy| HttpView::new(table, policy)));
    let own =
        [statuses, failures, retry_after].into_iter().filter_map(|fact| Change::between(requests.map(fact)));
    let views = sides.map(|(table, policy)| {
        MethodView::of_policy(table, policy.map(|policy| policy.policy())).estimated(impacts)
    });
    let [was, is] = &views;
    // The statuses and failures say more than the codes that they are treated as.
    let others = changes(was, is).into_iter().filter(|change| !change.is_about("codes"));
    (own.chain(others).collect(), reasons(was, is))
}

fn requests(rule: Option<HttpRule<'_>>) -> Fact {
    let value = rule.map(|rule| {
        let hosts: Vec<String> = rule.rule().hosts().iter().map(HostPattern::to_string).collect();
        json!({ "method": rule.rule().method(), "hosts": hosts, "path": rule.rule().path().to_string() })
    });
    let words = rule.map(|rule| {
        let hosts: Vec<String> = rule.rule().hosts().iter().map(HostPattern::to_string).collect();
        let hosts = if hosts.is_empty() { String::new() } else { format!(" at {}", hosts.join(", ")) };
        format!("{} {}{hosts}", rule.rule().method(), rule.rule().path())
    });
    fact("requests", "requests", value, words, rule)
}

fn class(rule: Option<HttpRule<'_>>) -> Fact {
    let class = rule.map(|rule| rule.rule().class().to_string());
    fact("class", "safe to retry", class.clone(), class, rule)
}

fn hedgeable(rule: Option<HttpRule<'_>>) -> Fact {
    let word = rule.and_then(|rule| rule.rule().is_hedgeable());
    fact("hedgeable", "may run twice at once", word, word.map(|word| word.to_string()), rule)
}

fn fact(
    what: &'static str,
    name: &'static str,
    value: impl Into<Value>,
    words: Option<String>,
    rule: Option<HttpRule<'_>>,
) -> Fact {
    Fact::new(
        what,
        name,
        value.into(),
        or_none(words.unwrap_or_default()),
        rule.and_then(|rule| rule.origin()),
    )
}

fn statuses(view: Option<HttpView<'_>>) -> Fact {
    let statuses = view.map(|view| view.policy.statuses());
    let value = statuses.map(|statuses| statuses.iter().collect::<Vec<_>>());
    let place = view.and_then(|view| view.policy.origin_of_statuses());
    Fact::new(
        "statuses",
        "statuses",
        json!(value),
        or_none(statuses.map(|statuses| statuses.to_string()).unwrap_or_default()),
        place,
    )
}

fn failures(view: Option<HttpView<'_>>) -> Fact {
    let failures = view.map(HttpView::failures);
    let words = failures.as_ref().map(|failures| failures.join(", "));
    Fact::new("failures", "failures", json!(failures), or_none(words.unwrap_or_default()), None)
}

fn retry_after(view: Option<HttpView<'_>>) -> Fact {
    let applied = view.and_then(|view| view.policy.applies_retry_after());
    let words = applied.map(|applied| if applied { "applied" } else { "not read" }.to_owned());
    let words = words.unwrap_or_else(|| "default".to_owned());
    Fact::new("retry_after", "Retry-After", json!(applied), words, None)
}

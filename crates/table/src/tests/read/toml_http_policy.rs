//! The settings of HTTP requests in a TOML table.

use super::rules;
use crate::{HttpPolicy, HttpTable, RetryTable, TableFormat};
use gax_retry::http::{RequestFacts, StatusSet, TransportFailures};
use gax_retry::{Code, RetrySettings};
use std::time::Duration;

const TABLE: &str = r#"
[params.patient]
total_timeout = "60s"
max_attempts = 9

[http]
timeout = "20s"
max_attempts = 4
initial_retry_delay = "200ms"
retry_delay_multiplier = 2
max_retry_delay = "5s"

[[http.rule]]
name = "search"
method = "POST"
path = "/v1/{index}/_search"
class = "always"
total_timeout = "2s"
statuses = [429, "5xx"]
failures = ["connect", "reset"]
retry_after = false
hedging = { max_attempts = 2, delay = "100ms" }
hedgeable = true

[[http.rule]]
name = "report"
method = "GET"
hosts = ["reports.example.com"]
path = "/v1/reports/{report}"
params = "patient"
max_attempts = 6

[[http.rule]]
name = "pay"
method = "POST"
path = "/v1/payments"
if_any = [{ header = "Idempotency-Key" }]

[[http.rule]]
name = "login"
method = "POST"
path = "/v1/login"
statuses = []
failures = []
"#;

fn parsed(text: &str) -> RetryTable {
    RetryTable::parse(text).unwrap()
}

fn policy<'a>(http: &'a HttpTable, request: &RequestFacts<'_>) -> HttpPolicy<'a> {
    http.policy_of(http.idempotency().classify(request).rule()).unwrap()
}

const TWO: Option<Duration> = Some(Duration::from_secs(2));
const TWENTY: Option<Duration> = Some(Duration::from_secs(20));
const SIXTY: Option<Duration> = Some(Duration::from_secs(60));

/// Total timeout, RPC timeout, attempts and first delay in milliseconds.
fn numbers(settings: &RetrySettings) -> (Option<Duration>, Option<Duration>, Option<u32>, Option<u128>) {
    let delay = settings.initial_retry_delay().map(|delay| delay.as_millis());
    (settings.total_timeout(), settings.initial_rpc_timeout(), settings.max_attempts(), delay)
}

#[test]
fn a_rule_has_what_http_says_where_it_says_nothing_itself() {
    let table = parsed(TABLE);
    assert_eq!(rules(&table), [""; 0]);
    let http = table.http().unwrap();
    let search = policy(http, &RequestFacts::new("POST", "/v1/books/_search"));
    // A total timeout replaces a timeout, which is the attempts' timeout too.
    assert_eq!(numbers(search.settings()), (TWO, None, Some(4), Some(200)));
    assert_eq!(search.statuses(), StatusSet::EMPTY.with(429).with_range(500, 599));
    assert_eq!(search.transport_failures().to_string(), "connect, reset");
    assert_eq!(search.applies_retry_after(), Some(false));
    let hedging = search.hedging().unwrap();
    assert!(!hedging.allows_non_idempotent());
    assert!(hedging.codes().contains(Code::ResourceExhausted) && !hedging.codes().contains(Code::NotFound));

    let report = RequestFacts::new("GET", "/v1/reports/7");
    let at_home = policy(http, &report.with_host("reports.example.com"));
    assert_eq!(numbers(at_home.settings()), (SIXTY, None, Some(6), Some(200)));
    assert_eq!((at_home.statuses(), at_home.transport_failures()), (StatusSet::SIX, TransportFailures::ALL));
    assert_eq!((at_home.applies_retry_after(), at_home.hedging()), (None, None));
    let elsewhere = policy(http, &report.with_host("example.com"));
    assert_eq!(numbers(elsewhere.settings()), (TWENTY, TWENTY, Some(4), Some(200)));

    let pay = RequestFacts::new("POST", "/v1/payments");
    assert_eq!(numbers(policy(http, &pay).settings()), (TWENTY, TWENTY, Some(4), Some(200)));
    let login = policy(http, &RequestFacts::new("POST", "/v1/login"));
    assert!(login.statuses().is_empty() && login.policy().codes().is_empty());
    let places: Vec<_> = http.rules().take(4).map(|rule| rule.origin().unwrap().to_string()).collect();
    let lines = ["line 14, column 8", "line 26, column 8", "line 34, column 8", "line 40, column 8"];
    assert_eq!(places, lines);
    let own: Vec<_> = http.rules().take(5).map(|rule| rule.has_own_policy()).collect();
    assert_eq!(own, [true, true, false, true, false]);
}

#[test]
fn requests_are_as_safe_as_http_has_it_unless_a_rule_says_more() {
    let any = "[[http.rule]]\nname = \"any\"\nmethod = \"*\"\npath = \"/v1/**\"\n";
    let none = parsed(&format!("[http]\nbase = \"none\"\n{any}"));
    let keyed = parsed(&format!("[http]\nidempotency_key = true\n{any}"));
    for (table, method, target, expected) in [
        (&none, "DELETE", "/v1/a", "always"),
        (&none, "PATCH", "/v1/a", "never"),
        (&none, "PURGE", "/v1/a", "never"),
        (&none, "GET", "/v2/a", "unknown: no rule for this request"),
        (&keyed, "PUT", "/v1/a", "always"),
        (&keyed, "POST", "/v1/a", "conditional: Idempotency-Key header missing"),
        (&keyed, "GET", "/v2/a", "always"),
        (&keyed, "POST", "/v2/a", "conditional: Idempotency-Key header missing"),
    ] {
        let rules = table.idempotency().unwrap();
        assert_eq!(
            rules.classify(&RequestFacts::new(method, target)).to_string(),
            expected,
            "{method} {target}"
        );
        assert!(table.http().unwrap().policy_of(None).is_none());
    }
}

#[test]
fn settings_survive_toml() {
    for text in [TABLE, "[http]\nidempotency_key = true\nmax_attempts = 2\ntotal_timeout = \"9s\"\n"] {
        let table = parsed(text);
        let toml = table.convert(TableFormat::Toml);
        assert_eq!(toml.findings(), []);
        let again = parsed(toml.text());
        let (one, other) = (table.http().unwrap(), again.http().unwrap());
        assert_eq!(one.idempotency(), other.idempotency(), "{}", toml.text());
        for (rule, same) in one.rules().zip(other.rules()) {
            let all = |policy: HttpPolicy<'_>| {
                let failures = policy.transport_failures();
                let settings = policy.settings().clone();
                (settings, policy.statuses(), failures, policy.applies_retry_after(), policy.hedging())
            };
            assert_eq!(rule.policy().map(all), same.policy().map(all), "{}", toml.text());
        }
    }
}

#[test]
fn allowed_findings_of_a_rule_survive_toml() {
    let allow = "allow = [{ rule = \"unsafe-http-retry\", reason = \"it changes nothing\" }]";
    let rule = "[[http.rule]]\nname = \"s\"\nmethod = \"POST\"\npath = \"/s\"\nclass = \"always\"\n";
    let text = format!("{rule}{allow}\n");
    let toml = parsed(&text).convert(TableFormat::Toml);
    assert!(toml.text().ends_with(&text), "{}", toml.text());
}

#[test]
fn values_that_make_no_sense_are_refused_with_their_place() {
    let rule = |rest: &str| format!("[[http.rule]]\nname = \"n\"\nmethod = \"GET\"\npath = \"/p\"\n{rest}\n");
    for (text, problem) in [
        (
            rule("statuses = [200]"),
            "line 5, column 13: 200 is a success, after which nothing is retried; write a number",
        ),
        (rule("statuses = [304]"), "line 5, column 13: 304 is not an error, so it is not retried"),
        (rule("statuses = [503, 600]"), "line 5, column 18: 600 is not an HTTP status"),
        (rule("statuses = [\"3xx\"]"), "line 5, column 13: \"3xx\" is not an HTTP status"),
        (rule("statuses = 503"), "line 5, column 12: 503 is a number, but statuses is an array"),
        (
            rule("failures = [\"resett\"]"),
            "line 5, column 13: \"resett\" is not a failure below HTTP; did you mean \"reset\"?",
        ),
        (rule("failures = [\"unreadable\"]"), "line 5, column 13: \"unreadable\" is never retried"),
        (
            rule("retry_after = \"yes\""),
            "line 5, column 15: \"yes\" is a string, but retry_after is true or false",
        ),
        (
            rule("codes = [\"UNAVAILABLE\"]"),
            "line 5, column 9: [\"UNAVAILABLE\"] are codes of RPCs; write statuses",
        ),
        (
            rule("hedging = { non_fatal_codes = [\"UNAVAILABLE\"] }"),
            "line 5, column 31: [\"UNAVAILABLE\"] are codes of RPCs; leave them out",
        ),
        (
            rule("params = \"fast\""),
            "line 5, column 10: \"fast\" is not defined under [params]; add it under [params]",
        ),
        (rule("total_timeout = \"0s\""), "line 5, column 17: \"0s\" is a timeout of zero"),
        (rule("max_attempts = 0.5"), "line 5, column 16: 0.5 is not a value for max_attempts"),
        (
            "[http]\ninitial_rpc_timeout = \"5s\"\nmax_rpc_timeout = \"1s\"\n".to_owned(),
            "line 1, column 1: [http] has no meaning: ",
        ),
    ] {
        let error = RetryTable::parse(&text).unwrap_err().to_string();
        assert!(error.starts_with(problem), "{error}\n  not\n{problem}");
    }
    let odd = parsed(&rule("max_attemps = 3"));
    assert_eq!(rules(&odd), ["unknown-field"]);
    let unlimited = parsed("[http]\nstatuses = [503]\n");
    assert_eq!(rules(&unlimited), ["no-max-attempts", "no-limits"]);
}

#[test]
fn findings_about_what_is_inherited_are_made_once() {
    let rule = |name: &str| {
        format!(
            "[[http.rule]]\nname = \"{name}\"\nmethod = \"GET\"\npath = \"/{name}\"\ntotal_timeout = \"3s\"\n"
        )
    };
    let text = "[http]\ntotal_timeout = \"9s\"\ninitial_retry_delay = \"2s\"\nmax_retry_delay = \"1s\"\n";
    let table = parsed(&format!("{text}{}{}", rule("a"), rule("b")));
    assert_eq!(rules(&table), ["max-below-initial", "no-max-attempts"]);
}

//! Findings about rules for HTTP requests.

use crate::RetryTable;
use crate::lint::Linter;

/// Place, rule and message of each finding.
fn found(text: &str) -> Vec<String> {
    let findings = Linter::new().run(&RetryTable::parse(text).unwrap());
    let place = |finding: &crate::Finding| {
        finding.origin().map_or(String::new(), |origin| format!("{}:{}", origin.line(), origin.column()))
    };
    findings
        .iter()
        .map(|finding| format!("{} {}: {}", place(finding), finding.rule(), finding.message()))
        .collect()
}

fn rule(name: &str, method: &str, path: &str, rest: &str) -> String {
    format!("[[http.rule]]\nname = \"{name}\"\nmethod = \"{method}\"\npath = \"{path}\"\n{rest}\n")
}

const HTTP: &str = "[http]\nprefixes = [\"/api\"]\ntotal_timeout = \"30s\"\nmax_attempts = 4\n";

#[test]
fn a_table_as_it_should_be_has_no_findings() {
    let rules = [
        rule("get", "GET", "/things/{id}", "statuses = [429, 503]"),
        rule("pay", "POST", "/payments", "if_any = [{ header = \"Idempotency-Key\" }]\nmax_attempts = 6"),
        rule("login", "POST", "/login", "class = \"never\"\ntotal_timeout = \"5s\""),
        rule("all", "*", "/things/**", ""),
    ];
    assert_eq!(found(&format!("{HTTP}{}", rules.concat())), [""; 0]);
}

#[test]
fn rules_that_no_request_gets_to() {
    let rules = [
        rule("all", "*", "/things/**", ""),
        rule("get", "GET", "/things/{id}", ""),
        rule("other", "GET", "/others/{id}", "hosts = [\"*.example.com\"]"),
        rule("near", "GET", "/others/{id}", "hosts = [\"eu.example.com\"]"),
        rule("open", "GET", "/others/{id}", ""),
        rule("same", "PUT", "/api/others", ""),
    ];
    assert_eq!(
        found(&format!("{HTTP}{}", rules.concat())),
        [
            "11:8 shadowed-http-rule: no request reaches this rule: \"all\" (at line 6, column 8) matches them all",
            "21:8 shadowed-http-rule: no request reaches this rule: \"other\" (at line 16, column 8) matches them all",
            "33:8 http-rule-with-prefix: \"/api\" is a prefix, which is removed before rules are matched",
        ]
    );
}

#[test]
fn retries_that_are_unsafe_or_never_follow() {
    let rules = [
        rule("search", "POST", "/search", "class = \"always\""),
        rule("add", "PATCH", "/add", "max_attempts = 5"),
        rule("put", "PUT", "/put", "hedging = { max_attempts = 2, delay = \"1s\" }"),
        rule("twice", "PUT", "/twice", "hedging = { max_attempts = 2, delay = \"1s\" }\nhedgeable = true"),
    ];
    assert_eq!(
        found(&format!("{HTTP}{}", rules.concat())),
        [
            "9:9 unsafe-http-retry: a POST is always retried",
            "12:10 http-retry-without-effect: a PATCH is never safe to retry, unless no server can have carried it out",
            "19:11 http-hedging-without-effect: nothing says that a PUT may run twice at once, so it is not hedged",
        ]
    );
}

#[test]
fn statuses_that_are_no_use_to_retry() {
    let rules = rule("get", "GET", "/get", "statuses = [404, 409, 423, 425, 432, 503, 520, 555]");
    assert_eq!(
        found(&format!("{HTTP}{rules}")),
        [
            "9:13 permanent-status: 404 is retried",
            "9:33 unassigned-status: 432 is not a status of any standard or well-known server",
            "9:48 unassigned-status: 555 is not a status of any standard or well-known server",
        ]
    );
    assert_eq!(found(&format!("{HTTP}statuses = [501]\n")), ["5:13 permanent-status: 501 is retried"]);
}

#[test]
fn numbers_are_checked_where_they_stand() {
    let http = "[http]\ntotal_timeout = \"30s\"\nmax_attempts = 4\nmax_retry_delay = \"40s\"\n";
    let text = format!("{http}{}", rule("get", "GET", "/get", "jittered = false\nallow = []"));
    assert_eq!(
        found(&text),
        [
            "4:19 cap-above-timeout: the longest delay, 40s, is longer than the timeout, 30s",
            "9:12 no-jitter: delays have no jitter",
        ]
    );
    assert_eq!(
        found("[http]\nmax_attempts = 4\nhedging = { max_attempts = 2 }\n"),
        [
            "1:1 no-timeout: this entry has no timeout",
            "3:11 hedging-at-once: every call is sent 2 times at once"
        ]
    );
}

#[test]
fn a_rule_allows_its_own_findings() {
    let allow = "class = \"always\"\nallow = [{ rule = \"unsafe-http-retry\", reason = \"it only reads\" }]";
    let text =
        format!("{HTTP}{}{}", rule("a", "POST", "/a", allow), rule("b", "POST", "/b", "class = \"always\""));
    assert_eq!(found(&text), ["15:9 unsafe-http-retry: a POST is always retried"]);
}

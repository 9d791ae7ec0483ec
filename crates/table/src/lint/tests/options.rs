use super::*;
use crate::Severity;
use crate::lint::{Linter, Target, rules as all_rules};

fn short_and_capped() -> RetryTable {
    table(&[
        &timeout_only(&[name("a.B", "C")], "2s"),
        &policy(&[name("a.B", "D")], "10s", "1s", "20s", 2.2, r#""UNAVAILABLE""#),
    ])
}

fn severities(linter: &Linter) -> Vec<(&'static str, Severity)> {
    linter.run(&short_and_capped()).iter().map(|finding| (finding.rule(), finding.severity())).collect()
}

#[test]
fn what_is_denied_is_an_error_and_what_is_allowed_is_left_out() {
    let (short, capped) = ("short-timeout", "cap-above-timeout");
    let target = |text: &str| text.parse::<Target>().unwrap();
    assert_eq!(severities(&Linter::new()), [(short, Severity::Note), (capped, Severity::Warning)]);
    let linter = Linter::new().deny(target(short));
    assert_eq!(severities(&linter), [(short, Severity::Error), (capped, Severity::Warning)]);
    let linter = Linter::new().deny(target("note"));
    assert_eq!(severities(&linter), [(short, Severity::Error), (capped, Severity::Error)]);
    let linter = Linter::new().deny(target("warning"));
    assert_eq!(severities(&linter), [(short, Severity::Note), (capped, Severity::Error)]);
    let linter = Linter::new().deny(target("note")).allow(target(capped));
    assert_eq!(severities(&linter), [(short, Severity::Error)]);
    assert_eq!(severities(&Linter::new().allow(target("note"))), [(capped, Severity::Warning)]);
}

#[test]
fn a_name_that_is_no_rule_is_refused_with_a_suggestion() {
    let error = "short-timeuot".parse::<Target>().unwrap_err();
    let sentence = "\"short-timeuot\" is neither a rule nor a severity; did you mean short-timeout?";
    assert_eq!(error.to_string(), sentence);
    let error = "warnig".parse::<Target>().unwrap_err();
    assert_eq!(error.suggestion(), Some("warning"));
    assert_eq!("x".parse::<Target>().unwrap_err().to_string(), "\"x\" is neither a rule nor a severity");
}

#[test]
fn every_rule_has_a_name_of_its_own() {
    let mut ids: Vec<&str> = all_rules().map(crate::lint::Rule::id).collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count);
    for rule in all_rules() {
        assert!(
            rule.id().chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'),
            "{rule}"
        );
        assert!(!rule.summary().ends_with('.'), "{rule}");
        assert!(rule.advice().ends_with('.'), "{rule}");
    }
}

#[test]
#[cfg(feature = "toml")]
fn what_a_table_allows_for_nothing_is_reported() {
    let text = r#"
[[allow]]
rule = "short-timeout"
reason = "a cache"

[[allow]]
rule = "cap-above-timeot"
reason = "misspelled"

[[allow]]
rule = "retry-on-create"
reason = "only protos can tell"

[[entry]]
for = ["a.B/C"]
timeout = "60s"
allow = [{ rule = "cap-equals-timeout", reason = "no cap at all" }]

[[entry]]
for = ["a.B/D"]
timeout = "2s"
"#;
    let said = |linter: Linter| {
        let findings = linter.run(&RetryTable::parse(text).unwrap());
        let lines = findings
            .iter()
            .map(|finding| (finding.origin().map(crate::SourceLocation::line), finding.message().to_owned()));
        lines.collect::<Vec<_>>()
    };
    let unknown = (Some(6), "there is no rule \"cap-above-timeot\"".to_owned());
    let of_entry = (Some(17), "cap-equals-timeout finds nothing here".to_owned());
    assert_eq!(said(Linter::new()), [unknown.clone(), of_entry.clone()]);
    let with_services = Linter::new().services([service("a.B", &["C", "D"])]);
    let of_create = (Some(10), "retry-on-create finds nothing here".to_owned());
    assert_eq!(said(with_services), [unknown, of_create, of_entry]);
}

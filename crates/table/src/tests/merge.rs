use super::{one_entry, rules};
use crate::{Dialect, MethodDescription, RetryTable, ServiceDescription};
use gax_retry::{Code, CodeSet, MethodKind, RetrySettings};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

fn named(name: &str, text: &str) -> RetryTable {
    RetryTable::reader().file_name(name).read(text.as_bytes()).unwrap()
}

/// As in a table that is read.
#[test]
fn codes_without_any_limit_are_a_finding_of_a_table_that_is_made_in_code() {
    use gax_retry::{Code, CodeSet, Hedging, RetrySettings};
    let unset = RetrySettings::default;
    let limited = || RetrySettings::builder().max_attempts(3).build().unwrap();
    let table = RetryTable::builder()
        .method("/a.B/Unlimited", unset(), Code::Unavailable)
        .method("/a.B/Limited", limited(), Code::Unavailable)
        .method("/a.B/Single", unset(), CodeSet::EMPTY)
        .method("/a.B/Hedged", unset(), Code::Unavailable)
        .idempotent(true)
        .hedged(Hedging::new(2))
        .every_service(unset(), Code::Aborted)
        .build()
        .unwrap();
    let findings: Vec<String> = table.findings().iter().map(ToString::to_string).collect();
    let advice = "has neither a total timeout nor a number of attempts, so it is not retried; set total_timeout or max_attempts";
    assert_eq!(
        findings,
        [format!("warning[no-limits]: a.B/Unlimited {advice}"), format!("warning[no-limits]: * {advice}")]
    );
    assert_eq!(table.findings()[0].name(), Some("a.B/Unlimited"));
}

#[test]
fn the_later_table_counts_and_says_so() {
    let first = named("a.json", &one_entry(r#", "timeout": "1s""#));
    let second = named("b.json", &one_entry(r#", "timeout": "2s""#));
    let table = RetryTable::merged([first, second]).unwrap();
    let policy = table.lookup("a.B", "C").unwrap();
    assert_eq!(policy.settings().total_timeout(), Some(2000 * MS));
    assert_eq!((policy.codes_key(), policy.entry()), ("no_retry_0_codes", Some(1)));
    assert_eq!(policy.origin().unwrap().file(), Some("b.json"));
    assert_eq!(
        table.findings()[0].to_string(),
        "b.json:1:58: warning[merge-conflict]: a.B/C has different values in an earlier table (at a.json:1:58); \
         the later table applies; remove the name from the earlier one"
    );
    assert_eq!(table.findings().len(), 1);
}

#[test]
fn tables_that_agree_or_do_not_meet_have_no_conflict() {
    let text = one_entry(r#", "timeout": "1s""#);
    let table = RetryTable::merged([named("a.json", &text), named("b.json", &text)]).unwrap();
    assert_eq!(table.findings(), []);
    let service = r#"{"methodConfig": [{"name": [{"service": "a.B"}], "timeout": "9s"}]}"#;
    let table = RetryTable::merged([named("a.json", &text), named("b.json", service)]).unwrap();
    assert_eq!(rules(&table), ["renamed-definitions"]);
    let total = |method| table.lookup("a.B", method).unwrap().settings().total_timeout();
    assert_eq!(total("C"), Some(1000 * MS), "a method goes before its service, from whichever table");
    assert_eq!(total("D"), Some(9000 * MS));
}

#[test]
fn merging_merged_tables_is_merging_all() {
    let table = |text: &str| RetryTable::parse(&one_entry(text)).unwrap();
    let timeouts = [r#", "timeout": "1s""#, r#", "timeout": "2s""#, r#", "timeout": "3s""#];
    let all = RetryTable::merged(timeouts.map(table)).unwrap();
    let inner = RetryTable::merged(timeouts.into_iter().take(2).map(table)).unwrap();
    let nested = RetryTable::merged([inner, table(timeouts[2])]).unwrap();
    assert_eq!(all.findings(), nested.findings());
    assert_eq!(rules(&all), ["merge-conflict"; 2]);
    assert_eq!(nested.lookup("a.B", "C").unwrap().codes_key(), "no_retry_0_codes");
    assert!(RetryTable::merged([]).unwrap().lookup("a.B", "C").is_none());
}

/// The last throttling counts, and one that says something else is reported, with the place of each.
#[test]
fn of_several_throttlings_the_last_counts_and_says_so() {
    let file = |name, tokens| {
        named(name, &format!("{{\n\"retryThrottling\": {{\"maxTokens\": {tokens}, \"tokenRatio\": 0.1}}}}"))
    };
    let table =
        RetryTable::merged([file("a.json", "10"), named("b.json", "{}"), file("c.json", "20")]).unwrap();
    let throttling = table.throttling().unwrap();
    assert_eq!(
        (throttling.max_tokens().to_string(), throttling.token_ratio().to_string()),
        ("20".to_owned(), "0.1".to_owned())
    );
    assert_eq!(
        table.findings().iter().map(ToString::to_string).collect::<Vec<_>>(),
        [
            "c.json:2:1: warning[merge-conflict]: retry throttling has different values in an earlier table (at a.json:2:1); \
          the later table applies, for all methods; remove one of the two"
        ]
    );
    assert_eq!(RetryTable::merged([file("a.json", "10"), file("c.json", "10")]).unwrap().findings(), []);
}

#[test]
fn dialects_do_not_mix() {
    let java = RetryTable::reader().dialect(Dialect::GaxJava).read(b"{}").unwrap();
    let error = RetryTable::merged([RetryTable::parse("{}").unwrap(), java]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a table in the dialect gax-java can't join one in as-written; read all tables in the same dialect"
    );
}

#[test]
fn a_table_made_in_code_joins() {
    let settings = RetrySettings::no_retry(7 * MS);
    let made = RetryTable::builder()
        .method("a.B/C", settings.clone(), [Code::Aborted])
        .every_service(settings.clone(), CodeSet::EMPTY)
        .build()
        .unwrap();
    let table = RetryTable::merged([named("a.json", &one_entry(r#", "timeout": "1s""#)), made]).unwrap();
    assert_eq!(table.lookup("a.B", "C").unwrap().codes_key(), "retry_policy_0_codes");
    assert_eq!(table.lookup("x.Y", "Z").unwrap().params_key(), "no_retry_1_params");
    assert_eq!(table.lookup("x.Y", "Z").unwrap().origin(), None);
    assert_eq!(rules(&table), ["merge-conflict"]);
}

#[test]
fn a_path_that_names_no_method_is_refused() {
    for path in ["", "/", "C", "/a.B/", "//C", "/a.B/C/D"] {
        let error =
            RetryTable::builder().method(path, RetrySettings::default(), CodeSet::EMPTY).build().unwrap_err();
        let message = format!("{path:?} is not the path of a method; write /package.Service/Method");
        assert_eq!(error.to_string(), message);
    }
}

/// A table with an entry for each of these methods, in this order; `{}` is every method of every service.
fn policies(file: &str, methods: &[&str]) -> RetryTable {
    let entry = |name: String| {
        format!(
            r#"{{"name": [{name}], "timeout": "5s", "retryPolicy": {{"maxAttempts": 4, "initialBackoff": "0.1s",
              "maxBackoff": "1s", "backoffMultiplier": 2, "retryableStatusCodes": ["UNAVAILABLE"]}}}}"#
        )
    };
    let names = methods.iter().map(|path| match path.split_once('/') {
        Some((service, method)) => entry(format!(r#"{{"service": "{service}", "method": "{method}"}}"#)),
        None => entry("{}".to_owned()),
    });
    let entries: Vec<String> = names.collect();
    named(file, &format!(r#"{{"methodConfig": [{}]}}"#, entries.join(",\n")))
}

fn keys(table: &RetryTable, path: &str) -> (String, String) {
    let (service, method) = path.split_once('/').unwrap();
    let policy = table.lookup(service, method).unwrap();
    (policy.codes_key().to_owned(), policy.params_key().to_owned())
}

fn both(stem: &str, end: &str) -> (String, String) {
    (format!("{stem}_codes{end}"), format!("{stem}_params{end}"))
}

#[test]
fn definitions_are_numbered_in_their_own_file_whatever_the_order() {
    let (one, other) =
        (policies("a.json", &["a.A/X", "a.A/Get"]), policies("b.json", &["b.B/X", "b.B/Y", "b.B/Get"]));
    for tables in [[one.clone(), other.clone()], [other, one]] {
        let table = RetryTable::merged(tables).unwrap();
        assert_eq!(keys(&table, "a.A/Get"), both("retry_policy_1", ""));
        assert_eq!(keys(&table, "b.B/Get"), both("retry_policy_2", ""));
        assert_eq!(table.findings(), []);
    }
}

#[test]
fn where_two_files_have_a_name_for_one_service_the_later_one_s_gets_its_number() {
    let (one, other) = (policies("a.json", &["a.A/X", "a.A/Y"]), policies("b.json", &["a.A/Z", "b.B/Get"]));
    let third = policies("c.json", &["a.A/V", "a.A/W"]);
    let table = RetryTable::merged([one, other, third]).unwrap();
    for (path, expected) in [
        ("a.A/X", both("retry_policy_0", "")),
        ("a.A/Y", both("retry_policy_1", "")),
        ("a.A/Z", both("retry_policy_0", "_2")),
        ("b.B/Get", both("retry_policy_1", "")),
        ("a.A/V", both("retry_policy_0", "_3")),
        ("a.A/W", both("retry_policy_1", "_3")),
    ] {
        assert_eq!(keys(&table, path), expected, "{path}");
    }
    let found: Vec<String> = table.findings().iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            "b.json:1:19: warning[renamed-definitions]: an earlier table has definitions of a.A with the same names \
             (retry_policy_0_codes, retry_policy_0_params): those of this table end with _2; put all entries for \
             one service into one table",
            "c.json:1:19: warning[renamed-definitions]: an earlier table has definitions of a.A with the same names \
             (retry_policy_0_codes, retry_policy_0_params, retry_policy_1_codes, retry_policy_1_params): those of \
             this table end with _3; put all entries for one service into one table",
        ]
    );
    let method = |name: &str| MethodDescription::new(name, MethodKind::Unary);
    let service = ["X", "Z"]
        .map(method)
        .into_iter()
        .fold(ServiceDescription::new("a.A"), ServiceDescription::with_method);
    let stub = &table.stub_tables(&[service])[0];
    let names: Vec<&str> = stub.param_definitions().iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["retry_policy_0_params", "retry_policy_0_params_2"]);
    assert_eq!(stub.rows()[1].codes_key(), Some("retry_policy_0_codes_2"));
}

/// An entry that another table's replaces, or that is for everything, meets nothing.
#[test]
fn what_a_service_does_not_get_renames_nothing() {
    let (base, over) = (policies("a.json", &["a.A/X"]), policies("b.json", &["a.A/X"]));
    assert_eq!(keys(&RetryTable::merged([base.clone(), over]).unwrap(), "a.A/X"), both("retry_policy_0", ""));
    let everything = policies("b.json", &["{}"]);
    let table = RetryTable::merged([base, everything]).unwrap();
    assert_eq!(keys(&table, "a.A/X"), both("retry_policy_0", ""));
    assert_eq!(keys(&table, "a.A/Y"), both("retry_policy_0", "_2"));
    assert_eq!(keys(&table, "b.B/Y"), both("retry_policy_0", ""));
}

#[cfg(feature = "yaml")]
#[test]
fn names_that_files_give_meet_too() {
    let gapic = |codes: &str, method: &str| {
        let text = format!(
            "config_schema_version: 1.0.0\ninterfaces:\n- name: a.B\n  retry_codes_def:\n  - name: {codes}\n    retry_codes: \
             []\n  retry_params_def:\n  - name: default\n    total_timeout_millis: 5000\n  methods:\n  - name: {method}\n    \
             retry_codes_name: {codes}\n    retry_params_name: default\n"
        );
        named(&format!("{method}.yaml"), &text)
    };
    let table = RetryTable::merged([gapic("idempotent", "C"), gapic("other", "D")]).unwrap();
    assert_eq!(keys(&table, "a.B/C"), ("idempotent".to_owned(), "default".to_owned()));
    assert_eq!(keys(&table, "a.B/D"), ("other".to_owned(), "default_2".to_owned()));
    let stub = &table.stub_tables(&[ServiceDescription::new("a.B")])[0];
    let names: Vec<&str> = stub.param_definitions().iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["default", "default_2"]);
    assert_eq!(rules(&table), ["renamed-definitions"]);
}

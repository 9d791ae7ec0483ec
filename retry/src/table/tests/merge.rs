use super::{one_entry, rules};
use crate::{Code, Dialect, RetrySettings, RetryTable};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

fn named(name: &str, text: &str) -> RetryTable {
    RetryTable::reader().file_name(name).read(text.as_bytes()).unwrap()
}

#[test]
fn the_later_table_counts_and_says_so() {
    let first = named("a.json", &one_entry(r#", "timeout": "1s""#));
    let second = named("b.json", &one_entry(r#", "timeout": "2s""#));
    let table = RetryTable::merged([first, second]).unwrap();
    let policy = table.lookup("a.B", "C").unwrap();
    assert_eq!(policy.settings().total_timeout(), Some(2000 * MS));
    assert_eq!(policy.codes_key(), "no_retry_1_codes", "entries are numbered through");
    assert_eq!(policy.origin().unwrap().file(), Some("b.json"));
    assert_eq!(
        table.findings()[0].to_string(),
        "b.json:1:29: warning[merge-conflict]: a.B/C has other values in an earlier table (at a.json:1:29); \
         the later table counts; remove the name from one of the two"
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
    assert_eq!(table.findings(), []);
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
    assert_eq!(nested.lookup("a.B", "C").unwrap().codes_key(), "no_retry_2_codes");
    assert!(RetryTable::merged([]).unwrap().lookup("a.B", "C").is_none());
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
        .every_service(settings.clone(), [])
        .build()
        .unwrap();
    let table = RetryTable::merged([named("a.json", &one_entry(r#", "timeout": "1s""#)), made]).unwrap();
    assert_eq!(table.lookup("a.B", "C").unwrap().codes_key(), "retry_policy_1_codes");
    assert_eq!(table.lookup("x.Y", "Z").unwrap().params_key(), "no_retry_2_params");
    assert_eq!(table.lookup("x.Y", "Z").unwrap().origin(), None);
    assert_eq!(rules(&table), ["merge-conflict"]);
}

#[test]
fn a_path_that_names_no_method_is_refused() {
    for path in ["", "/", "C", "/a.B/", "//C", "/a.B/C/D"] {
        let error = RetryTable::builder().method(path, RetrySettings::default(), []).build().unwrap_err();
        let message = format!("{path:?} is not the path of a method; write /package.Service/Method");
        assert_eq!(error.to_string(), message);
    }
}

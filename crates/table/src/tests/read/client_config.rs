use super::{read, rules, shared};
use crate::{Dialect, RetryTable};
use gax_retry::{Code, CodeSet};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

const TEXT: &str = r#"{"interfaces": {"a.B": {
  "retry_codes": {"non_idempotent": [], "idempotent": ["DEADLINE_EXCEEDED", "UNAVAILABLE"]},
  "retry_params": {"default": {
    "initial_retry_delay_millis": 100, "retry_delay_multiplier": 1.3, "max_retry_delay_millis": 60000,
    "initial_rpc_timeout_millis": 60000, "rpc_timeout_multiplier": 1, "max_rpc_timeout_millis": 60000,
    "total_timeout_millis": 600000}},
  "methods": {
    "C": {"timeout_millis": 5000, "retry_codes_name": "idempotent", "retry_params_name": "default"},
    "D": {"retry_codes_name": "non_idempotent", "retry_params_name": "default"}}}}}"#;

#[test]
fn the_methods_timeout_is_the_one_that_counts() {
    let table = read(Dialect::AsWritten, TEXT);
    let policy = table.lookup("a.B", "C").unwrap();
    assert_eq!(policy.settings().total_timeout(), Some(5000 * MS));
    assert_eq!(policy.settings().initial_rpc_timeout(), Some(5000 * MS));
    assert_eq!(policy.settings().max_rpc_timeout(), Some(5000 * MS));
    assert_eq!(policy.settings().initial_retry_delay(), Some(100 * MS));
    assert_eq!(policy.settings().max_retry_delay(), Some(60_000 * MS));
    assert_eq!(policy.codes(), CodeSet::from([Code::DeadlineExceeded, Code::Unavailable]));
    assert_eq!((policy.codes_key(), policy.params_key()), ("idempotent", "default"));
    let other = table.lookup("a.B", "D").unwrap();
    assert_eq!(other.settings().total_timeout(), Some(30_000 * MS));
    assert_eq!(
        table.findings()[0].to_string(),
        "line 9, column 5: note[default-timeout]: D has no timeout_millis, so that its calls end after 30 s; \
         write the time that a call may take"
    );
}

#[test]
fn names_that_lead_nowhere_are_errors() {
    let error = RetryTable::parse(&TEXT.replace("\"non_idempotent\",", "\"none\",")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 9, column 31: \"none\" is not defined for the service; defined are: non_idempotent, idempotent"
    );
}

#[test]
fn published_files_are_read() {
    let Some(shared) = shared() else { return };
    let mut files = 0;
    for package in std::fs::read_dir(shared.join("retry-tables/node-client-config")).unwrap() {
        for file in std::fs::read_dir(package.unwrap().path()).unwrap() {
            let table = RetryTable::from_path(file.unwrap().path()).unwrap_or_else(|error| panic!("{error}"));
            assert!(table.entry_count() > 0);
            assert!(rules(&table).iter().all(|rule| ["default-timeout", "no-effect"].contains(rule)));
            files += 1;
        }
    }
    assert_eq!(files, 10);
}

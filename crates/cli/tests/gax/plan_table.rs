use super::{folder, session};
use insta::assert_snapshot;

const TABLE: &str = "plan --table library_grpc_service_config.json";

#[test]
fn settings_come_from_the_table() {
    let lines = [
        format!("{TABLE} --method example.library.v1.Library/GetBook --outcome 10ms:UNAVAILABLE"),
        format!(
            "{TABLE} --method /example.library.v1.Library/GetBook --outcome unavailable --outcome unavailable --outcome ok --format json"
        ),
        format!("{TABLE} --method ListBooks --outcome unavailable --dialect gax-java --compat gax-java"),
        format!("{TABLE} --method example.library.v1.Library.DeleteBook"),
    ];
    assert_snapshot!(lines.map(|line| session(&line)).join("\n"));
}

#[test]
fn flags_replace_what_the_table_says() {
    let lines = [
        format!("{TABLE} --method ListBooks --total-timeout 3s --max-attempts 2 --outcome unavailable"),
        format!("{TABLE} --method ListBooks --retryable-codes ABORTED --outcome unavailable"),
        format!("{TABLE} --method Restore --logical-timeout 7s"),
    ];
    assert_snapshot!(lines.map(|line| session(&line)).join("\n"));
}

#[test]
fn what_is_not_in_the_table_is_refused() {
    let lines = [
        format!("{TABLE} --method GetBook"),
        format!("{TABLE} --method ListBook"),
        format!("{TABLE} --method example.library.v1.Library/ListBoks"),
        format!("{TABLE} --method example.music.v1.Player/Play"),
        format!("{TABLE} --method Play"),
        format!("{TABLE} --method /"),
        TABLE.to_owned(),
        "plan --method ListBooks".to_owned(),
        "plan --dialect gax-java".to_owned(),
        format!("{TABLE} --method ListBooks --dialect python"),
        format!("{TABLE} --method ListBooks --max-retry-delay 100ms"),
        "plan --table no_such_table.json --method ListBooks".to_owned(),
    ];
    assert_snapshot!(lines.map(|line| session(&line)).join("\n"));
}

#[test]
fn a_table_with_findings_is_used_all_the_same() {
    let text = r#"{"methodConfig": [{"name": [{"service": "a.B", "method": "C"}], "timeot": "5s"}]}"#;
    let file = folder("table-findings").join("odd.json");
    std::fs::write(&file, text).unwrap();
    let plan = session(&format!("plan --table {} --method C --total-timeout 1s", file.display()));
    assert!(plan.contains("1 |         1 s |"), "{plan}");
    let expected = format!("--- stderr\n{}:1:65: warning[unknown-field]: \"timeot\" is not", file.display());
    assert!(plan.contains(&expected) && plan.ends_with("--- exit status 0\n"), "{plan}");
    let refusal = session(&format!("plan --table {} --method D", file.display()));
    assert!(!refusal.contains("warning"), "{refusal}");
}

#[test]
fn a_table_without_meaning_is_refused_with_its_place() {
    let file = folder("table").join("broken.json");
    let text = r#"{"methodConfig": [{"name": [{"service": "a.B"}], "timeout": "500ms"}]}"#;
    std::fs::write(&file, text).unwrap();
    let refusal = session(&format!("plan --table {} --method a.B/C", file.display()));
    let expected = format!("error: --table: {}:1:61: \"500ms\" is not a duration; write", file.display());
    assert!(refusal.contains(&expected) && refusal.ends_with("--- exit status 2\n"), "{refusal}");
}

/// The load on a server that is down, with and without the table's retry throttling.
#[test]
fn retry_throttling_is_counted() {
    let text = r#"{
        "methodConfig": [{"name": [{"service": "a.B", "method": "C"}], "retryPolicy": {"maxAttempts": 4,
            "initialBackoff": "0.1s", "maxBackoff": "1s", "backoffMultiplier": 2, "retryableStatusCodes": ["UNAVAILABLE"]}}],
        "retryThrottling": {"maxTokens": 10, "tokenRatio": 0.1}
    }"#;
    let file = folder("table-throttling").join("throttled.json");
    std::fs::write(&file, text).unwrap();
    let outcomes = "--outcome unavailable ".repeat(4);
    let line =
        format!("plan --table {} --method C --jitter --seed 1 --samples 100 {outcomes}", file.display());
    let load = "The load on the server: 4.00 attempts an operation; with retry throttling 1.03, which stops 99 operations.\n";
    let plan = session(line.trim_end());
    assert!(plan.contains(load), "{plan}");
    let json = session(&format!("{line}--format json"));
    assert!(json.contains(r#""load":4.0,"throttled":{"load":1.03,"stopped":99}"#), "{json}");
    let explained = session(&format!("table explain {} C", file.display()));
    let sentences = "it gets 4.0 times its usual load.\n\
        With the retry throttling it gets 1.03 times, over 100 calls that start with a full bucket.\n";
    assert!(explained.contains(sentences), "{explained}");
    let json = session(&format!("table explain {} C --format json", file.display()));
    assert!(json.contains(r#""load":4.0,"load_capped":false,"throttled_load":1.03,"#), "{json}");
}

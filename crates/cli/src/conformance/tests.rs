use super::*;

/// Two attempts of 1 ms with 2 ms between, by a method of two attempts.
const UNARY: &str = r#"{"id": "u-1", "kind": "unary", "category": "mine",
    "settings": {"total_timeout_us": 0, "initial_retry_delay_us": 2000, "retry_delay_multiplier": 1.5,
        "max_retry_delay_us": 9000, "max_attempts": 2, "initial_rpc_timeout_us": 0,
        "rpc_timeout_multiplier": "NaN", "max_rpc_timeout_us": 0},
    "retryable_codes": ["UNAVAILABLE"],
    "script": [{"server_us": 1000, "code": "UNAVAILABLE"}],
    "expected": {
        "attempts": [
            {"attempt": 1, "rpc_timeout_us": 0, "retry_delay_us": 0, "start_us": 0, "end_us": 1000, "outcome": "UNAVAILABLE"},
            {"attempt": 2, "rpc_timeout_us": 0, "retry_delay_us": 2000, "start_us": 3000, "end_us": 4000, "outcome": "UNAVAILABLE"}],
        "end": "max_attempts", "final_code": "UNAVAILABLE", "end_us": 4000,
        "denied_next": {"attempt": 3, "retry_delay_us": 3000, "rpc_timeout_us": 0}},
    "expected_callable": "same", "note": "made up"}"#;

/// That case with the calls of a client's tracer.
fn traced() -> String {
    let calls = r#""tracer": ["attemptStarted(0)", "attemptFailed(UNAVAILABLE,delay_us=2000)", "attemptStarted(1)",
        "attemptFailedRetriesExhausted(UNAVAILABLE)"]}"#;
    let (_, expected) = UNARY.split_once("\"expected\": ").unwrap();
    let (expected, _) = expected.split_once(",\n    \"expected_callable\"").unwrap();
    let (expected, _) = expected.split_once(",\n        \"denied_next\"").unwrap();
    UNARY.replacen("\"same\"", &format!("{expected}, {calls}"), 1)
}

/// A runner that has run that case.
fn run(case: &str) -> Summary {
    let mut runner = Summary::default();
    runner.run_file("cases", case.replace('\n', " ").as_bytes()).unwrap();
    runner
}

/// The text of each failure.
fn texts(runner: &Summary) -> Vec<String> {
    runner.failures.iter().map(ToString::to_string).collect()
}

fn places(runner: &Summary) -> Vec<&str> {
    runner.failures.iter().map(|failure| failure.place.as_deref().unwrap()).collect()
}

fn changed(from: &str, to: &str) -> Vec<String> {
    assert!(UNARY.contains(from), "{from}");
    let runner = run(&UNARY.replacen(from, to, 1));
    assert_eq!(runner.total().passed, 0, "{from} -> {to}");
    texts(&runner)
}

#[test]
fn a_case_that_comes_out_is_counted_with_both_its_outcomes() {
    let runner = run(UNARY);
    let summary = &runner;
    assert_eq!(summary.failures, []);
    assert!(summary.is_success());
    let categories: Vec<_> = summary.categories().collect();
    let [(name, counts)] = categories.as_slice() else { panic!("{categories:?}") };
    assert_eq!(*name, ("unary", "mine"));
    assert_eq!((counts.passed, counts.failed, counts.compared, counts.traced), (1, 0, 2, 0));
}

#[test]
fn the_calls_of_a_tracer_are_compared_with_those_of_observers() {
    let runner = run(&traced());
    assert_eq!(texts(&runner), [""; 0]);
    let total = runner.total();
    assert_eq!((total.compared, total.traced), (2, 1));
    assert_eq!(
        texts(&run(&traced().replacen("delay_us=2000", "delay_us=2001", 1))),
        [
            "u-1 (cases:1): expected_callable.tracer[1] is attemptFailed(UNAVAILABLE,delay_us=2001) in the record, \
          but attemptFailed(UNAVAILABLE,delay_us=2000) here"
        ]
    );
    let shorter = run(&traced().replacen("\"attemptStarted(0)\", ", "", 1));
    assert_eq!(places(&shorter), ["expected_callable.tracer[0]"]);
    assert_eq!(
        texts(&run(&traced().replacen("\"attemptStarted(0)\"", "0", 1))),
        ["u-1 (cases:1): expected_callable: invalid type: integer `0`, expected a string"]
    );
}

#[test]
fn a_changed_number_is_reported_with_its_place() {
    assert_eq!(
        changed("\"start_us\": 3000", "\"start_us\": 3001"),
        [
            "u-1 (cases:1): expected.attempts[1].start_us is 3001 in the record, but 3000 here",
            "u-1 (cases:1): expected_callable (the same as expected).attempts[1].start_us is 3001 in the \
             record, but 3000 here",
        ]
    );
    assert_eq!(
        changed("\"retry_delay_us\": 3000", "\"retry_delay_us\": 2000"),
        ["u-1 (cases:1): expected.denied_next.retry_delay_us is 2000 in the record, but 3000 here"]
    );
    let extra = changed("\"attempts\": [", "\"attempts\": [], \"end\": \"x\", \"unused\": [");
    let start = "u-1 (cases:1): expected.unused: unknown field `unused`, expected one of `attempts`, ";
    assert!(extra.len() == 1 && extra[0].starts_with(start), "{extra:?}");
}

#[test]
fn what_the_record_tells_of_a_hanging_attempt_counts() {
    let problems =
        changed("\"server_us\": 1000, \"code\": \"UNAVAILABLE\"", "\"server_us\": null, \"code\": null");
    assert_eq!(
        problems.first().unwrap(),
        "u-1 (cases:1): expected is an operation that ends in the record, but null (an attempt that never \
         ends) here"
    );
}

#[test]
fn a_logical_timeout_must_have_made_the_settings() {
    let problems = changed("\"total_timeout_us\": 0", "\"total_timeout_us\": 0, \"logical_timeout_us\": 0");
    assert_eq!(problems, ["u-1 (cases:1): settings.rpc_timeout_multiplier is NaN in the record, but 1 here"]);
}

#[test]
fn what_can_not_be_run_is_counted_and_named() {
    let huge = "9".repeat(30);
    for (from, to, reason) in [
        ("\"unary\"", "\"binary\"", "kind \"binary\" is not known (unary, streaming, poll or validate)"),
        ("\"note\"", "\"remark\"", "remark: unknown field `remark`, expected one of `settings`, "),
        ("\"script\"", "\"skript\"", "skript: unknown field `skript`, expected one of `settings`, "),
        ("\"max_attempts\": 2,", "", "settings: missing field `max_attempts`"),
        ("\"script\": [", "\"script\": [], \"x\": [", "script: it is empty"),
        (
            "\"server_us\": 1000",
            "\"server_us\": -1",
            "script[0].server_us: invalid value: integer `-1`, expected u64",
        ),
        (
            "\"server_us\": 1000",
            "\"server_us\": 1.5",
            "script[0].server_us: invalid type: floating point `1.5`, expected u64",
        ),
        (
            "[\"UNAVAILABLE\"]",
            "[\"OOPS\"]",
            "retryable_codes[0]: \"OOPS\" is not a gRPC status code (a name such as UNAVAILABLE, or a number from 0 to 16)",
        ),
        ("[\"UNAVAILABLE\"]", "7", "retryable_codes: invalid type: integer `7`, expected a sequence"),
        (
            "\"max_attempts\": 2",
            "\"max_attempts\": 2147483648",
            "settings.max_attempts: invalid value: integer `2147483648`, expected i32",
        ),
        ("\"id\": \"u-1\"", "\"id\": 1", "id is missing, or not a string"),
        (
            "\"same\"",
            "\"other\"",
            "expected_callable: invalid type: string \"other\", expected struct Record",
        ),
        (
            "\"end_us\": 4000",
            &format!("\"end_us\": {huge}"),
            "expected.attempts[1].end_us: invalid type: floating point `1e+30`, expected i128",
        ),
        (
            "\"NaN\"",
            "\"nan\"",
            "settings.rpc_timeout_multiplier: it is not a number, \"NaN\", \"Infinity\" or \"-Infinity\"",
        ),
        (
            "\"max_attempts\": 2",
            "\"max_attempts\": 0, \"total\": 1",
            "settings.total: unknown field `total`, expected one of `total_timeout_us`, ",
        ),
    ] {
        let runner = run(&UNARY.replacen(from, to, 1));
        let total = runner.total();
        assert_eq!((total.failed, total.unreadable), (1, 1), "{reason}");
        let texts = texts(&runner);
        let [text] = texts.as_slice() else { panic!("{texts:?}") };
        assert!(text.split_once(": ").unwrap().1.starts_with(reason), "{text}");
    }
}

#[test]
fn endless_attempts_are_an_error_and_not_endless_work() {
    let hot = UNARY
        .replacen("\"max_attempts\": 2", "\"max_attempts\": 2147483647", 1)
        .replace("\"server_us\": 1000", "\"server_us\": 0");
    let runner = run(&hot);
    assert_eq!(runner.total().unreadable, 1);
    assert_eq!(texts(&runner), ["u-1 (cases:1): the operation makes more than 10000 attempts"]);
}

#[test]
fn another_shape_is_no_case() {
    for (line, reason) in [
        ("hello", "cases:1 is not a recorded case: expected value at line 1 column 1"),
        ("[1]", "cases:1 is not a recorded case: it is not a JSON object"),
        ("{\"http\": 200}", "cases:1 is not a recorded case: it has no \"kind\""),
        ("{\"kind\": 5}", "cases:1 is not a recorded case: it has no \"kind\""),
    ] {
        assert_eq!(Summary::default().run_file("cases", line.as_bytes()).unwrap_err(), reason);
    }
    assert!(Summary::default().run_file("cases", "[".repeat(100_000).as_bytes()).is_err());
}

#[test]
fn a_file_is_run_whole_and_its_lines_are_named() {
    let case = UNARY.replace('\n', " ");
    let other = case.replace("\"end_us\": 4000", "\"end_us\": 5000");
    let mut runner = Summary::default();
    runner.run_file("good.jsonl", format!("\u{feff}{case}\r\n\n{other}\n").as_bytes()).unwrap();
    let total = runner.total();
    assert_eq!((total.passed, total.failed), (1, 1));
    assert_eq!(
        texts(&runner),
        [
            "u-1 (good.jsonl:3): expected.attempts[1].end_us is 5000 in the record, but 4000 here",
            "u-1 (good.jsonl:3): expected_callable (the same as expected).attempts[1].end_us is 5000 in the \
             record, but 4000 here",
        ]
    );

    for content in ["", " \n\n"] {
        let error = runner.run_file("empty.jsonl", content.as_bytes()).unwrap_err();
        assert_eq!(error, "empty.jsonl holds no recorded case");
    }
    let error = runner.run_file("latin.jsonl", b"\n\xff\n").unwrap_err();
    assert_eq!(error, "latin.jsonl:2 is not a recorded case: it is not UTF-8");
}

#[test]
fn settings_that_a_java_build_refuses_are_refused_in_its_words() {
    let case = r#"{"id": "v-1", "kind": "validate", "category": "edge", "settings": {
        "total_timeout_us": -1000, "initial_retry_delay_us": 0, "retry_delay_multiplier": 1.0,
        "max_retry_delay_us": 0, "max_attempts": 0, "initial_rpc_timeout_us": 0,
        "rpc_timeout_multiplier": 1.0, "max_rpc_timeout_us": 0},
        "ok": false, "error": "total timeout must not be negative"}"#;
    assert_eq!(texts(&run(case)), [""; 0]);
    assert_eq!(
        texts(&run(&case.replacen("-1000", "1000", 1))),
        ["v-1 (cases:1): ok is false in the record, but true here"]
    );
    assert_eq!(
        texts(&run(&case.replacen("must not", "can't", 1))),
        [
            "v-1 (cases:1): error is total timeout can't be negative in the record, but total timeout must not be negative here"
        ]
    );
}

#[test]
fn a_refused_attempt_of_a_client_s_operation_is_compared_where_it_is_recorded() {
    let mut case: serde_json::Value = serde_json::from_str(UNARY).unwrap();
    case["expected_callable"] = case["expected"].clone();
    assert_eq!(texts(&run(&case.to_string())), [""; 0]);
    case["expected_callable"]["denied_next"]["retry_delay_us"] = 2000.into();
    assert_eq!(
        texts(&run(&case.to_string())),
        ["u-1 (cases:1): expected_callable.denied_next.retry_delay_us is 2000 in the record, but 3000 here"]
    );
}

//! The program `examples/storage_requests.rs`, run against a small emulator with the public retry
//! conformance cases S1 to S6.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "what fails here fails a test")]

#[expect(dead_code, reason = "a program's main is not called here")]
#[path = "../../../examples/storage_requests.rs"]
mod program;

use program::{Options, run};
use serde_json::{Map, Value, json};
use tonic_gax_tests::{FaultServer, HttpAct, HttpScript, TEST_ID};

/// The operations of the documentation's table, as the public conformance cases send them.
const REQUESTS: &str = include_str!("../../../crates/retry/src/http/tests/data/storage_requests.json");

fn operations() -> Map<String, Value> {
    serde_json::from_str(REQUESTS).unwrap()
}

fn act(instruction: &str) -> HttpAct {
    match instruction {
        "reset" => HttpAct::Reset,
        status => HttpAct::status(status.parse().unwrap()),
    }
}

/// The line that asks for an operation.
fn line(id: &str, operation: &Value, with_precondition: bool) -> Value {
    let mut query = Vec::new();
    let parts: &[&str] = if with_precondition { &["query", "precondition_query"] } else { &["query"] };
    for part in parts {
        for (name, value) in operation[*part].as_object().unwrap() {
            match value.as_array() {
                Some(values) => query.extend(values.iter().map(|value| json!([name, value]))),
                None => query.push(json!([name, value])),
            }
        }
    }
    let mut body = operation["body"].clone();
    if with_precondition {
        for (name, value) in operation["precondition_body"].as_object().unwrap() {
            body[name] = value.clone();
        }
    }
    let body = match body {
        Value::Object(object) => Value::String(Value::Object(object).to_string()),
        other => other,
    };
    json!({
        "id": id,
        "verb": operation["verb"],
        "path": operation["path"],
        "query": query,
        "headers": [[TEST_ID, id]],
        "body": body,
    })
}

pub(crate) async fn replies(url: &str, arguments: &[&str], input: &str) -> Vec<Value> {
    let arguments: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
    let mut output = Vec::new();
    run(url, &Options::read(&arguments).unwrap(), input.as_bytes(), &mut output).await.unwrap();
    let output = String::from_utf8(output).unwrap();
    assert!(output.is_empty() || output.ends_with('\n'));
    output.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// One scenario: which operations, whether with their precondition, the emulator's instructions, and how
/// each run must end.
struct Scenario {
    name: &'static str,
    classes: &'static [&'static str],
    with_precondition: bool,
    instructions: &'static [&'static [&'static str]],
    succeeds: bool,
    runs: usize,
}

const ALL: &[&str] = &["always", "conditional", "never"];

const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "S1",
        classes: &["always"],
        with_precondition: true,
        instructions: &[&["503", "503"], &["reset", "reset"], &["reset", "503"]],
        succeeds: true,
        runs: 66,
    },
    Scenario {
        name: "S2",
        classes: &["conditional"],
        with_precondition: true,
        instructions: &[&["503", "503"], &["reset", "reset"], &["reset", "503"]],
        succeeds: true,
        runs: 33,
    },
    Scenario {
        name: "S3",
        classes: &["conditional"],
        with_precondition: false,
        instructions: &[&["503"], &["reset"]],
        succeeds: false,
        runs: 22,
    },
    Scenario {
        name: "S4",
        classes: &["never"],
        with_precondition: false,
        instructions: &[&["503"], &["reset"]],
        succeeds: false,
        runs: 28,
    },
    Scenario {
        name: "S5",
        classes: ALL,
        with_precondition: false,
        instructions: &[&["400"], &["401"]],
        succeeds: false,
        runs: 94,
    },
    Scenario {
        name: "S6",
        classes: &["always", "conditional"],
        with_precondition: true,
        instructions: &[&["503", "400"], &["reset", "401"]],
        succeeds: false,
        runs: 66,
    },
];

#[tokio::test]
async fn conformance_cases_s1_to_s6() {
    let script = HttpScript::default();
    let (server, url) = FaultServer::on_socket(script.clone()).await;
    let operations = operations();
    for scenario in SCENARIOS {
        let mut input = String::new();
        let mut runs = Vec::new();
        for (name, operation) in &operations {
            if !scenario.classes.contains(&operation["class"].as_str().unwrap()) {
                continue;
            }
            for instructions in scenario.instructions {
                let id = format!("{}/{name}/{}", scenario.name, instructions.join(","));
                script.add(&id, instructions.iter().copied().map(act));
                input.push_str(&line(&id, operation, scenario.with_precondition).to_string());
                input.push('\n');
                runs.push((id, *instructions));
            }
        }
        assert_eq!(runs.len(), scenario.runs, "{}", scenario.name);
        let replies = replies(&url, &["--initial-retry-delay", "1ms", "--max-retry-delay=2ms"], &input).await;
        assert_eq!(replies.len(), runs.len());
        for (reply, (id, instructions)) in replies.iter().zip(runs) {
            assert_eq!(reply["id"], id, "in order");
            assert_eq!(reply["ok"], scenario.succeeds, "{reply}");
            assert_eq!(script.left(&id), 0, "{reply}");
            let attempts = instructions.len() + usize::from(scenario.succeeds);
            assert_eq!(reply["attempts"], attempts, "{reply}");
            let status = match instructions.last() {
                _ if scenario.succeeds => json!(200),
                Some(status) => status.parse().map_or(Value::Null, |status: u16| json!(status)),
                None => Value::Null,
            };
            assert_eq!(reply["status"], status, "{reply}");
            let reason = if scenario.succeeds { Value::Null } else { json!("NON_RETRYABLE") };
            assert_eq!(reply["stop_reason"], reason, "{reply}");
        }
    }
    for arrival in server.arrivals() {
        assert!(arrival.header(TEST_ID).is_some());
        if arrival.body.is_empty() && matches!(&*arrival.method, "POST" | "PUT" | "PATCH") {
            assert_eq!(arrival.header("content-length"), Some("0"), "{arrival:?}");
        }
    }
}

#[tokio::test]
async fn a_run_of_each_strategy() {
    let script = HttpScript::default();
    let (_server, url) = FaultServer::on_socket(script.clone()).await;
    for (strategy, verb, ok, idempotency) in [
        (
            json!("always"),
            "PATCH",
            true,
            "conditional: ifMetagenerationMatch or If-Match header or etag in the body missing",
        ),
        (json!("never"), "GET", false, "always"),
        (json!("conditional"), "GET", true, "always"),
        (
            Value::Null,
            "PATCH",
            false,
            "conditional: ifMetagenerationMatch or If-Match header or etag in the body missing",
        ),
    ] {
        script.add("x", [HttpAct::status(503).with_body("busy")]);
        let line = json!({"id": "1", "verb": verb, "path": "/storage/v1/b/b1", "headers": [[TEST_ID, "x"]], "strategy": strategy});
        let replies = replies(&url, &["--initial-retry-delay", "1ms"], &line.to_string()).await;
        let expected = json!({
            "id": "1",
            "ok": ok,
            "status": if ok { 200 } else { 503 },
            "attempts": if ok { 2 } else { 1 },
            "idempotency": idempotency,
            "stop_reason": if ok { Value::Null } else { json!("NON_RETRYABLE") },
            "body": if ok { r#"{"status":200}"# } else { "busy" },
        });
        assert_eq!(replies, [expected]);
    }
}

#[tokio::test]
async fn a_line_that_is_not_valid_gets_an_error_and_the_program_goes_on() {
    let (server, url) = FaultServer::on_socket(HttpScript::default()).await;
    let good = r#"{"id":"good","verb":"GET","path":"/storage/v1/b/x/o/a b?alt=json","query":[["q","ä&="]]}"#;
    let input = [
        good,
        "{",
        "",
        "[]",
        r#"{"verb":"GET","path":"/"}"#,
        r#"{"id":"1","path":"/"}"#,
        r#"{"id":"1","verb":"G T","path":"/"}"#,
        r#"{"id":"1","verb":"GET","path":"b"}"#,
        r#"{"id":"1","verb":"GET","path":"/","query":{"a":"b"}}"#,
        r#"{"id":"1","verb":"GET","path":"/","headers":[["a b","c"]]}"#,
        r#"{"id":"1","verb":"GET","path":"/","headers":[["a","c\n"]]}"#,
        r#"{"id":"1","verb":"GET","path":"/","strategy":"sometimes"}"#,
        r#"{"id":"1","verb":"GET","path":"/","body":{}}"#,
        good,
    ];
    let replies = replies(&url, &[], &input.join("\n")).await;
    assert_eq!(replies.len(), input.len());
    for (index, reply) in replies.iter().enumerate() {
        if index == 0 || index + 1 == input.len() {
            assert_eq!(reply["ok"], true, "{reply}");
            continue;
        }
        let error = reply["error"].as_str().unwrap();
        assert!(error.starts_with(&format!("line {}: ", index + 1)), "{error}");
        assert_eq!(reply.as_object().unwrap().len(), 1);
    }
    let targets: Vec<_> = server.arrivals().into_iter().map(|arrival| arrival.target).collect();
    assert_eq!(targets, ["/storage/v1/b/x/o/a%20b?alt=json&q=%C3%A4%26%3D"; 2]);
}

#[tokio::test]
async fn a_host_that_is_not_there_is_no_reply() {
    let line = r#"{"id":"1","verb":"GET","path":"/storage/v1/b"}"#;
    let options = ["--initial-retry-delay=1ms", "--max-attempts=3"];
    let replies = replies("127.0.0.1:1", &options, line).await;
    let expected = json!({
        "id": "1", "ok": false, "status": null, "attempts": 3, "idempotency": "always",
        "stop_reason": "MAX_ATTEMPTS", "body": "",
    });
    assert_eq!(replies, [expected]);
}

#[tokio::test]
async fn a_download_that_is_truncated_or_stops_is_no_success() {
    // Longer than what the layer buffers, so that the status is out before the body ends.
    let length = 5 * 1024 * 1024;
    for (act, error) in [
        (HttpAct::TruncateAfter(length), "the body ended early: "),
        (HttpAct::StallAfter(length), "the body ended early: the response sent nothing more for 500ms"),
    ] {
        let script = HttpScript::new([act]);
        let (_server, url) = FaultServer::on_socket(script).await;
        let line = r#"{"id":"1","verb":"GET","path":"/storage/v1/b/b1/o/o1?alt=media"}"#;
        let replies = replies(&url, &["--body-idle-timeout=500ms"], line).await;
        let reply = &replies[0];
        assert_eq!((&reply["ok"], &reply["status"]), (&json!(false), &json!(200)));
        assert_eq!(reply["body"].as_str().unwrap().len(), length, "what came is there");
        assert!(reply["error"].as_str().unwrap().starts_with(error), "{}", reply["error"]);
    }
}

#[test]
fn options_are_read_or_refused_with_the_flag() {
    let read = |arguments: &[&str]| {
        let arguments: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
        Options::read(&arguments).map(drop).map_err(|error| error.to_string())
    };
    assert_eq!(
        read(&[
            "--seed",
            "1",
            "--attempt-timeout",
            "1.5s",
            "--body-idle-timeout=10s",
            "--total-timeout=1m",
            "--preset",
            "node"
        ]),
        Ok(())
    );
    for (arguments, error) in [
        (&["--delay", "1"][..], "--delay 1: there is no such option; see --help"),
        (&["--max-attempts"], "--max-attempts needs a value; see --help"),
        (
            &["--max-retry-delay", "1h"],
            "--max-retry-delay 1h: the unit h is not known; there are us, ms, s and m",
        ),
    ] {
        assert_eq!(read(arguments).unwrap_err(), error);
    }
}

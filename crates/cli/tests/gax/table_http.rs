//! Tables of HTTP requests: shown, explained, linted, converted.

use super::{folder, gax, session, session_of};
use insta::assert_snapshot;
use std::path::Path;

const PAYMENTS: &str = "table/payments.toml";

/// `gax table explain` of a request, which has a space in it.
fn explained(request: &str, more: &[&str]) -> String {
    let args = ["table", "explain", PAYMENTS, request].into_iter().chain(more.iter().copied());
    let line = format!("table explain {PAYMENTS} {request:?} {}", more.join(" "));
    session_of(line.trim_end(), args)
}

#[test]
fn rules_come_with_their_settings() {
    assert_snapshot!(session(&format!("table show {PAYMENTS}")));
}

#[test]
fn rules_for_programs() {
    assert_snapshot!(session(&format!("table show {PAYMENTS} --format json")));
}

#[test]
fn a_request_is_explained() {
    let texts = [
        explained("POST https://eu.sandbox.payments.example/v1/payments", &[]),
        explained("POST https://api.payments.example/v1/payments", &["--header", "idempotency-key: 7"]),
        explained("GET /v1/payments/search?q=a", &[]),
        explained("DELETE /v1/payments/7", &[]),
        explained("payments.create", &[]),
        explained("receipts", &["--env"]),
        explained("login", &[]),
    ];
    assert_snapshot!(texts.join("\n"));
}

#[test]
fn a_request_is_explained_to_programs() {
    assert_snapshot!(explained("PUT /v1/payments/7", &["--format", "json"]));
}

#[test]
fn requests_that_the_table_says_nothing_of_are_refused() {
    let odd = folder("http_without_settings").join("rules.toml");
    std::fs::write(&odd, "[[http.rule]]\nname = \"login\"\nmethod = \"POST\"\npath = \"/login\"\n").unwrap();
    let run = |method: &str| {
        let output = gax(["table", "explain", odd.to_str().unwrap(), method]);
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    assert_snapshot!(
        ["payments.creat", "login", "GET /"].map(run).join("") + &explained("payments.creat", &[])
    );
}

#[test]
fn requests_that_are_none_are_refused() {
    for (request, problem) in [
        ("get /v1/payments", "\"get\" is not a method: upper and lower case differ; write \"GET\""),
        ("GET payments", "\"payments\" is neither a path nor a URL; write /v1/things/7"),
        ("GET https://", "\"https://\" is neither a path nor a URL"),
        ("GET ", "\"\" is neither a path nor a URL"),
    ] {
        let output = gax(["table", "explain", PAYMENTS, request]);
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && text.contains(problem), "{request}: {text}");
    }
}

#[test]
fn rules_are_linted() {
    assert_snapshot!(
        session("table lint table/payments_odd.toml") + &session(&format!("table lint {PAYMENTS}"))
    );
}

#[test]
fn rules_are_converted_to_toml_alone() {
    let lines = [
        format!("table convert {PAYMENTS} --to toml"),
        format!("table convert {PAYMENTS} --to envoy --deny not-expressible"),
        format!("table convert {PAYMENTS} --to grpc"),
    ];
    assert_snapshot!(lines.map(|line| session(&line)).join("\n"));
}

#[test]
fn an_openapi_document_becomes_rules() {
    let lines = [
        "table convert table/petstore.yaml --to toml",
        "table convert table/payments.toml --to openapi",
        "table lint table/petstore.yaml",
    ];
    assert_snapshot!(lines.map(session).join("\n"));
}

#[test]
fn an_openapi_document_is_shown_with_the_settings_of_a_table() {
    let settings = folder("http_settings").join("settings.toml");
    std::fs::write(&settings, "[http]\ntotal_timeout = \"20s\"\nmax_attempts = 3\n").unwrap();
    let output = gax(["table", "show", settings.to_str().unwrap(), "table/petstore.yaml"]);
    assert_snapshot!(String::from_utf8(output.stdout).unwrap());
}

#[test]
fn changes_of_rules_are_reported_by_what_they_lead_to() {
    let changed = folder("http_diff").join("payments.toml");
    let text = std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gax/fixtures").join(PAYMENTS),
    );
    let text = text.unwrap().replace("statuses = [429, 503]", "statuses = [429, 500, 503]");
    let text = text
        .replace("class = \"never\"", "class = \"always\"")
        .replace("max_attempts = 4", "max_attempts = 6");
    std::fs::write(&changed, text.replace("name = \"receipts\"", "name = \"receipts.all\"")).unwrap();
    let run = |args: &[&str]| {
        let all = ["table", "diff", PAYMENTS, changed.to_str().unwrap()];
        let output = gax(all.into_iter().chain(args.iter().copied()));
        format!("{}{:?}\n", String::from_utf8(output.stdout).unwrap(), output.status.code())
    };
    assert_snapshot!(run(&["--deny", "more-aggressive"]) + &run(&["--format", "json"]));
}

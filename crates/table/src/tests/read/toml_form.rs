use super::{read, rules};
use crate::{Dialect, MethodDescription, RetryTable, ServiceDescription, TableFormat};
use gax_retry::{BatchingSettings, Code, CodeSet, LimitExceeded, MethodKind, RetrySettings};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

const TABLE: &str = r#"# The library's retries.
[retry_throttling]
max_tokens = 10
token_ratio = 0.1

[codes]
idempotent = ["DEADLINE_EXCEEDED", "UNAVAILABLE"]

[params.default]
initial_retry_delay = "100ms"
retry_delay_multiplier = 1.3
max_retry_delay = "1m30s"
timeout = "10m"
initial_rpc_timeout = "20s"
rpc_timeout_multiplier = 1.5
max_rpc_timeout = "30s"
jittered = false

[[entry]]   # 0
for = ["a.B"]
codes = "idempotent"
params = "default"
wait_for_ready = true

[[entry]]   # 1
for = ["a.B/C", "a.B/D"]
inherit = true
codes = ["ABORTED"]
max_attempts = 3
retry_delay_multiplier = 2

[[entry]]   # 2
for = ["*", { service = "odd/name", method = "X" }]
timeout = "5s"
polling = { initial_delay = "5s", delay_multiplier = 1.5, max_delay = "45s", total_timeout = "5m" }

[[entry]]   # hides nothing
for = ["a.B/E"]
batching = { element_count_threshold = 100, request_byte_threshold = 1048576, delay_threshold = "10ms", limit_exceeded = "block" }
"#;

fn parse(text: &str) -> RetryTable {
    read(Dialect::AsWritten, text)
}

fn error(text: &str) -> String {
    RetryTable::parse(text).unwrap_err().to_string()
}

#[test]
fn codes_and_params_have_names() {
    let table = parse(TABLE);
    let policy = table.lookup("a.B", "Other").unwrap();
    let expected = RetrySettings::builder()
        .initial_retry_delay(100 * MS)
        .retry_delay_multiplier(1.3)
        .max_retry_delay(90_000 * MS)
        .total_timeout(600_000 * MS)
        .initial_rpc_timeout(20_000 * MS)
        .rpc_timeout_multiplier(1.5)
        .max_rpc_timeout(30_000 * MS)
        .jittered(false)
        .build()
        .unwrap();
    assert_eq!(policy.settings(), &expected);
    assert_eq!(policy.codes(), CodeSet::from([Code::DeadlineExceeded, Code::Unavailable]));
    assert_eq!((policy.codes_key(), policy.params_key()), ("idempotent", "default"));
    assert_eq!(policy.wait_for_ready(), Some(true));
    assert_eq!(policy.origin().unwrap().line(), 19);
    let total = policy.origin_of(crate::PolicyField::TotalTimeout).unwrap();
    assert_eq!((total.line(), total.column()), (13, 11));
    assert_eq!(table.throttling().unwrap().max_tokens().to_string(), "10");
    assert_eq!(rules(&table), ["no-max-attempts"]);
}

#[test]
fn an_entry_that_inherits_says_only_what_differs() {
    let table = parse(TABLE);
    let policy = table.lookup("a.B", "D").unwrap();
    assert_eq!(policy.codes(), CodeSet::from(Code::Aborted));
    let settings = policy.settings();
    assert_eq!(settings.max_attempts(), Some(3));
    assert_eq!(settings.retry_delay_multiplier(), Some(2.0));
    assert_eq!(settings.initial_retry_delay(), Some(100 * MS));
    assert_eq!(settings.total_timeout(), Some(600_000 * MS));
    assert_eq!(settings.initial_rpc_timeout(), Some(20_000 * MS));
    assert!(!settings.jittered());
    assert_eq!(policy.wait_for_ready(), Some(true));
    assert_eq!(policy.codes_key(), "retry_policy_1_codes");
}

#[test]
fn names_polling_and_batching() {
    let table = parse(TABLE);
    assert_eq!(table.lookup("x.Y", "Z").unwrap().entry(), Some(2));
    assert_eq!(table.lookup("odd/name", "X").unwrap().entry(), Some(2));
    assert_eq!(table.polling("odd/name", "X").unwrap().total_timeout(), Some(300_000 * MS));
    assert_eq!(table.lookup("a.B", "E").unwrap().entry(), Some(0), "batching alone hides nothing");
    let batching = table.batching("a.B", "E").unwrap();
    assert_eq!(batching.limit_exceeded(), LimitExceeded::Block);
    assert_eq!(batching.delay_threshold(), 10 * MS);
}

#[test]
fn polling_and_batching_of_a_service_are_for_its_methods() {
    let text = r#"
        [[entry]]
        for = ["*"]
        polling = { initial_delay = "1s" }
        [[entry]]
        for = ["a.B"]
        timeout = "9s"
        polling = { initial_delay = "2s" }
        batching = { element_count_threshold = 4, request_byte_threshold = 99, delay_threshold = "1s" }
        [[entry]]
        for = ["a.B/Own"]
        timeout = "5s"
        polling = { initial_delay = "3s" }
        [[entry]]
        for = ["a.B/Other"]
        timeout = "5s"
    "#;
    let table = parse(text);
    let first = |service: &str, method: &str| {
        table
            .polling(service, method)
            .and_then(RetrySettings::initial_retry_delay)
            .map(|delay| delay.as_secs())
    };
    let names = [("a.B", "Own"), ("a.B", "Other"), ("a.B", "Unnamed"), ("c.D", "E")];
    assert_eq!(names.map(|(service, method)| first(service, method)), [Some(3), Some(2), Some(2), Some(1)]);
    assert_eq!(read(Dialect::GaxJava, text).polling("c.D", "E"), None);
    // A generated client batches neither reads page by page nor starts of operations: their requests can't be merged.
    let method = MethodDescription::new;
    let service = ServiceDescription::new("a.B")
        .with_method(method("Put", MethodKind::Unary))
        .with_method(method("List", MethodKind::Paged))
        .with_method(method("Export", MethodKind::Unary).long_running());
    let stub = &table.stub_tables(&[service])[0];
    let rows = stub
        .rows()
        .iter()
        .map(|row| (row.getter(), row.batching().map(BatchingSettings::element_count_threshold)));
    let batched = [
        "putSettings",
        "listSettings",
        "exportSettings",
        "exportOperationSettings",
        "exportOperationSettings",
    ];
    assert_eq!(
        rows.collect::<Vec<_>>(),
        batched.map(|getter| (getter, Some(4).filter(|_| getter == "putSettings")))
    );
    let polling = stub.rows().last().unwrap().settings().unwrap();
    assert_eq!(polling.initial_retry_delay(), Some(2000 * MS));
}

#[test]
fn mistakes_say_what_to_write() {
    let with = |fields: &str| error(&format!("[[entry]]\nfor = [\"a.B/C\"]\n{fields}\n"));
    for (fields, message) in [
        (
            "timeout = 5",
            "line 3, column 11: 5 is a number, but a time is a string; write a number with its unit in quotes, such as \"100ms\"",
        ),
        (
            "timeout = \"5\"",
            "line 3, column 11: \"5\" has no unit after 5; write a duration such as 1500ms, 1.5s, 2m or 1h30m",
        ),
        ("codes = \"x\"", "line 3, column 9: \"x\" is not defined under [codes]; add it under [codes]"),
        (
            "codes = [\"NOPE\"]",
            "line 3, column 10: \"NOPE\" is not a gRPC status code; write a name such as UNAVAILABLE, or a number from 0 to 16",
        ),
        (
            "retry_delay_multiplier = nan",
            "line 3, column 26: nan is not a finite number; write a number such as 1.3",
        ),
        (
            "retry_delay_multiplier = 0.5",
            "line 3, column 26: 0.5 is a multiplier below 1; write a number of at least 1, such as 1.3",
        ),
        (
            "inherit = true",
            "line 3, column 11: true inherits from an entry for a.B, which does not exist; add an entry for \"a.B\"",
        ),
        (
            "timeout = \"1s\"\ntimeout = \"1s\"",
            "line 4, column 1: not TOML: duplicate key; correct the text here",
        ),
        (
            "codes = []\nhedging = { max_attempts = 2 }",
            "line 4, column 11: { max_attempts = 2 } can't be used, because the entry also retries; remove one of the two",
        ),
        (
            "initial_rpc_timeout = \"2s\"\nmax_rpc_timeout = \"1s\"",
            "line 1, column 1: [[entry]] has no meaning: retry settings are not valid: max_rpc_timeout is 1s, but must not be shorter than initial_rpc_timeout (2s); correct these values",
        ),
    ] {
        assert_eq!(with(fields), message, "{fields}");
    }
    assert_eq!(
        error("[[entry]]\ntimeout = \"1s\""),
        "line 1, column 1: [[entry]] has no for; write for = [\"package.Service/Method\"]"
    );
    for name in ["", "/C", "a.B/", "a/b/c"] {
        let message = error(&format!("[[entry]]\nfor = [\"{name}\"]"));
        assert!(message.starts_with(&format!("line 2, column 8: \"{name}\" is not a name")), "{message}");
    }
    let table = parse("[[entry]]\nfor = [\"a.B\"]\ntime_out = \"1s\"\n");
    assert_eq!(
        table.findings()[0].to_string(),
        "line 3, column 1: warning[unknown-field]: time_out is not a field of an entry; did you mean \"timeout\"?"
    );
}

/// Other clients' readings of a service config are no matter here, and absent fields have a default.
#[test]
fn findings_are_in_the_words_of_the_form() {
    let found = |fields: &str| {
        let table = parse(&format!("[[entry]]\nfor = [\"a.B\"]\ncodes = [\"UNAVAILABLE\"]\n{fields}"));
        table.findings().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(found("timeout = \"5s\"\nmax_attempts = 3\n"), [""; 0]);
    assert_eq!(
        found("timeout = \"5s\"\n"),
        [
            "line 1, column 1: note[no-max-attempts]: without max_attempts only the timeout ends the retries; write one from 2 \
             to 5, and delays that together last as long as an outage"
        ]
    );
    assert_eq!(
        found("max_attempts = 3\ninitial_retry_delay = \"2s\"\nmax_retry_delay = \"1s\"\n"),
        [
            "line 6, column 19: warning[max-below-initial]: max_retry_delay (1s) is shorter than initial_retry_delay (2s); write a \
             max_retry_delay above initial_retry_delay: as it is, every delay is max_retry_delay"
        ]
    );
}

#[test]
fn every_part_goes_to_toml_and_back() {
    let table = parse(TABLE);
    let again = parse(table.convert(TableFormat::Toml).text());
    assert_eq!(again.convert(TableFormat::Toml).text(), table.convert(TableFormat::Toml).text());
    for method in ["C", "D", "E", "Other"] {
        let (one, other) = (table.lookup("a.B", method).unwrap(), again.lookup("a.B", method).unwrap());
        assert_eq!(one.settings(), other.settings());
        assert_eq!(one.codes(), other.codes());
        assert_eq!(one.entry(), other.entry());
    }
    assert_eq!(table.batching("a.B", "E"), again.batching("a.B", "E"));
    assert_eq!(table.polling("odd/name", "X"), again.polling("odd/name", "X"));
    assert_eq!(again.throttling(), table.throttling());
}

#[test]
fn what_a_service_config_can_not_say_is_a_finding() {
    let conversion = parse(TABLE).convert(TableFormat::ServiceConfig);
    let messages: Vec<_> = conversion.findings().iter().map(|finding| finding.message().to_owned()).collect();
    let grpc = "can't be expressed in a gRPC service config";
    assert_eq!(
        messages,
        [
            format!("the timeout of single attempts of a.B {grpc}"),
            format!("rpc_timeout_multiplier of a.B {grpc}"),
            format!("jittered = false of a.B {grpc}"),
            format!("the names of codes and params of a.B {grpc}"),
            format!("the timeout of single attempts of a.B/C and 1 more {grpc}"),
            format!("rpc_timeout_multiplier of a.B/C and 1 more {grpc}"),
            format!("jittered = false of a.B/C and 1 more {grpc}"),
            format!("polling of everything and 1 more {grpc}"),
            format!("batching of a.B/E {grpc}"),
        ]
    );
    let back = parse(conversion.text());
    assert_eq!(back.lookup("a.B", "C").unwrap().settings().max_attempts(), Some(3));
}

#[test]
fn parts_of_a_service_config_that_are_not_about_retries_are_kept() {
    let text = r#"{
  "methodConfig": [
    {
      "name": [{}],
      "timeout": "0.25s",
      "waitForReady": true,
      "hedgingPolicy": {
        "maxAttempts": 3,
        "hedgingDelay": "0.5s",
        "nonFatalStatusCodes": ["UNAVAILABLE"]
      },
      "maxRequestMessageBytes": 1024,
      "odd key": {"a": [1, "x\u0001"], "b": true}
    },
    {
      "name": [{"method": "Lost"}],
      "retryPolicy": {
        "retryableStatusCodes": []
      }
    }
  ],
  "retryThrottling": {"maxTokens": 10, "tokenRatio": 0.1},
  "loadBalancingConfig": [
    {
      "round_robin": {}
    }
  ]
}
"#;
    let toml = parse(text).convert(TableFormat::Toml);
    assert_eq!(toml.findings(), []);
    let back = parse(toml.text()).convert(TableFormat::ServiceConfig);
    assert_eq!(back.findings(), []);
    let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    assert_eq!(value(back.text()), value(text), "{}", toml.text());
}

#[test]
fn definitions_that_nothing_names_are_reported() {
    let text = "[codes]\nreads = [\"UNAVAILABLE\"]\nwrites = [\"ABORTED\"]\n\
                [params]\nslow = { timeout = \"9s\" }\nfast = { timeout = \"1s\" }\nweb = { timeout = \"2s\" }\n\
                [[entry]]\nfor = [\"a.B\"]\ncodes = \"reads\"\nparams = \"fast\"\n";
    let found = |text: &str| -> Vec<String> {
        let table = parse(text);
        let findings = table.findings().iter().filter(|finding| finding.rule() == "no-effect");
        findings.map(|found| format!("{}: {}", found.origin().unwrap().line(), found.message())).collect()
    };
    let unnamed = [
        "3: nothing names \"writes\" of [codes]",
        "5: nothing names \"slow\" of [params]",
        "7: nothing names \"web\" of [params]",
    ];
    assert_eq!(found(text), unnamed);
    let of_http = "[http]\nparams = \"slow\"\n[[http.rule]]\nname = \"r\"\nmethod = \"GET\"\npath = \"/r\"\nparams = \"web\"\n";
    assert_eq!(found(&format!("{text}{of_http}")).len(), 1);
}

#[test]
fn the_grpc_dialect_says_what_it_does_not_know() {
    let text =
        "[[entry]]\nfor = [\"a.B\"]\ntimeout = \"9s\"\ninitial_rpc_timeout = \"1s\"\njittered = false\n";
    let table = read(Dialect::Grpc, text);
    assert_eq!(rules(&table), ["no-effect"; 2]);
    let settings = table.lookup("a.B", "C").unwrap().settings();
    assert_eq!((settings.total_timeout(), settings.initial_rpc_timeout()), (Some(9000 * MS), None));
    let java = read(Dialect::GaxJava, text);
    assert_eq!(java.lookup("a.B", "C").unwrap().settings().initial_rpc_timeout(), Some(1000 * MS));
    assert!(
        RetryTable::reader().dialect(Dialect::GaxJava).read(b"[[entry]]\nfor = 1").is_err(),
        "nothing is dropped"
    );
}

const ALLOWED: &str = r#"[[allow]]
rule = "no-max-attempts"
reason = "the total ends it"

[[entry]]
for = ["a.B"]
timeout = "2s"
allow = [{ rule = "short-timeout", reason = "a cache" }]

[[entry]]
for = ["a.B/C"]
timeout = "2s"
codes = ["UNAVAILABLE"]
initial_retry_delay = "10ms"
retry_delay_multiplier = 2
max_retry_delay = "100ms"
"#;

#[test]
fn findings_that_are_allowed_with_a_reason_are_left_out() {
    let lint = |text: &str| {
        let table = parse(text);
        let findings = crate::lint::Linter::new().run(&table);
        findings.iter().map(|finding| (finding.rule(), finding.origin().unwrap().line())).collect::<Vec<_>>()
    };
    assert_eq!(lint(ALLOWED), [("short-timeout", 12)], "an entry allows for itself alone");
    let nothing = ALLOWED.replace("\"no-max", "\"x").replace("\"short", "\"x");
    let found = [
        ("unused-allow", 1),
        ("short-timeout", 7),
        ("unused-allow", 8),
        ("no-max-attempts", 10),
        ("short-timeout", 12),
    ];
    assert_eq!(lint(&nothing), found);

    let suppressions: Vec<_> =
        parse(ALLOWED).suppressions().map(|one| (one.rule().to_owned(), one.origin().line())).collect();
    assert_eq!(suppressions, [("no-max-attempts".to_owned(), 1), ("short-timeout".to_owned(), 8)]);
    assert_eq!(parse(ALLOWED).convert(TableFormat::Toml).text(), ALLOWED);
    assert_eq!(parse(ALLOWED).convert(TableFormat::ServiceConfig).findings().len(), 2);
}

#[test]
fn a_suppression_needs_a_reason() {
    let message = error(&ALLOWED.replace(", reason = \"a cache\"", ""));
    assert_eq!(
        message,
        "line 8, column 10: { rule = \"short-timeout\" } has no reason; write reason = \"why it may be so\""
    );
    let message = error(&ALLOWED.replace("rule = \"short-timeout\", ", ""));
    assert!(message.contains("allows no rule"), "{message}");
}

/// Only this form has the longest delay that a server may ask for. It is inherited, and gRPC has no such thing.
#[test]
fn the_longest_delay_of_a_server_is_a_setting() {
    let text = "
        [[entry]]
        for = [\"a.B\"]
        codes = [\"UNAVAILABLE\"]
        max_attempts = 3
        initial_retry_delay = \"100ms\"
        retry_delay_multiplier = 2
        max_retry_delay = \"1s\"
        max_server_delay = \"90s\"

        [[entry]]
        for = [\"a.B/C\"]
        inherit = true
        max_attempts = 4
    ";
    let table = parse(text);
    for method in ["C", "D"] {
        let settings = table.lookup("a.B", method).unwrap().settings();
        assert_eq!(settings.max_server_delay(), Some(90_000 * MS), "{method}");
    }
    let origin = table.lookup("a.B", "D").unwrap().origin_of(crate::PolicyField::MaxServerDelay).unwrap();
    assert_eq!(origin.line(), 9);
    // Of the entry that has it, and of the one that inherits it.
    assert_eq!(rules(&read(Dialect::Grpc, text)).iter().filter(|rule| **rule == "no-effect").count(), 2);
}

/// Only this form has timeouts of streams. They are inherited, and an entry that says nothing else is one of its own.
#[test]
fn streams_have_timeouts() {
    let text = "
        [[entry]]
        for = [\"a.B\"]
        codes = [\"UNAVAILABLE\"]
        max_attempts = 3
        wait_timeout = \"30s\"

        [[entry]]
        for = [\"a.B/Watch\"]
        inherit = true
        idle_timeout = \"5m\"
    ";
    let timeouts = |table: &RetryTable, method| {
        let policy = table.lookup("a.B", method).unwrap();
        (policy.wait_timeout(), policy.idle_timeout(), policy.settings().max_attempts())
    };
    let table = parse(text);
    assert_eq!(timeouts(&table, "Get"), (Some(30_000 * MS), None, Some(3)));
    assert_eq!(timeouts(&table, "Watch"), (Some(30_000 * MS), Some(300_000 * MS), Some(3)));
    #[cfg(feature = "convert")]
    {
        let again = parse(table.convert(TableFormat::Toml).text());
        assert_eq!(timeouts(&again, "Watch"), timeouts(&table, "Watch"));
        let built = RetryTable::builder().service("a.B", RetrySettings::default(), CodeSet::EMPTY);
        let built = built.wait_timeout(30_000 * MS).build().unwrap();
        assert!(built.convert(TableFormat::Toml).text().contains("wait_timeout = \"30s\"\n"));
    }
    let zero = error("[[entry]]\nfor = [\"a.B/C\"]\nwait_timeout = \"0s\"\n");
    assert_eq!(zero, "line 3, column 16: \"0s\" is a timeout of zero; write a time above zero");
}

/// OTLP's rule.
#[test]
fn codes_that_count_only_with_a_servers_delay_are_read_and_written() {
    use gax_retry::{Code, CodeSet};
    let text = "[params.patient]\ntimeout = \"10s\"\nonly_with_server_delay = [\"RESOURCE_EXHAUSTED\"]\n\n\
                [[entry]]\nfor = [\"a.B/C\"]\nparams = \"patient\"\ncodes = [\"UNAVAILABLE\", \"RESOURCE_EXHAUSTED\"]\n\
                max_attempts = 3\n\n\
                [[entry]]\nfor = [\"a.B/D\"]\ntimeout = \"10s\"\nonly_with_server_delay = []\n";
    let table = RetryTable::parse(text).unwrap();
    let only =
        |table: &RetryTable, method| table.lookup("a.B", method).unwrap().settings().only_with_server_delay();
    assert_eq!(only(&table, "C"), CodeSet::from(Code::ResourceExhausted));
    assert_eq!(only(&table, "D"), CodeSet::EMPTY);
    let error =
        RetryTable::parse(&text.replace("[\"RESOURCE_EXHAUSTED\"]\n\n", "[\"EXHAUSTED\"]\n\n")).unwrap_err();
    assert!(error.message().contains("\"EXHAUSTED\" is not a gRPC status code"), "{error}");
    #[cfg(feature = "convert")]
    {
        let written = table.convert(TableFormat::Toml);
        assert!(
            written.text().contains("only_with_server_delay = [\"RESOURCE_EXHAUSTED\"]\n"),
            "{}",
            written.text()
        );
        let back = RetryTable::parse(written.text()).unwrap();
        assert_eq!(only(&back, "C"), CodeSet::from(Code::ResourceExhausted));
        let lost = table.convert(TableFormat::ServiceConfig);
        let lost: Vec<_> = lost.findings().iter().map(crate::Finding::message).collect();
        let expected = "only_with_server_delay of a.B/C can't be expressed in a gRPC service config";
        assert!(lost.contains(&expected), "{lost:?}");
    }
}

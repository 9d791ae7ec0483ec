//! What the rules of other clients say, against what was seen of these clients.

#![cfg(feature = "clients")]
#![expect(clippy::unwrap_used, reason = "a helper of tests fails the test that calls it")]

use gax_table::clients::{Client, ClientOptions, ClientReport, Script, Verdict};
use gax_table::{Dialect, RetryTable};
use serde_json::Value;
use std::collections::BTreeMap;

const OBSERVED: &str = include_str!("clients/observed.jsonl");
const VERDICTS: &str = include_str!("clients/verdicts.json");
/// The observations that the rules don't tell, and why.
const OTHERWISE: [(&str, &str, &str); 2] = [
    (
        "grpc-go",
        "initialBackoff \"315576000000s\"",
        "the record of maxBackoff < initialBackoff calls the same a change",
    ),
    (
        "grpcio",
        "initialBackoff \"315576000000s\"",
        "the record of maxBackoff < initialBackoff calls the same a change",
    ),
];

fn observed(part: &str) -> impl Iterator<Item = Value> {
    let lines = OBSERVED.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(move |line| line["part"] == part)
}

fn text<'a>(line: &'a Value, field: &str) -> &'a str {
    line[field].as_str().unwrap_or_default()
}

fn verdicts(line: &Value) -> Vec<String> {
    let rules: Vec<Value> = serde_json::from_str(VERDICTS).unwrap();
    let fits = |rule: &&Value| {
        rule["sees"].as_str().is_some_and(|sees| text(line, "user_sees").starts_with(sees))
            && text(line, "case").contains(text(rule, "case"))
            && text(line, "client").contains(text(rule, "client"))
    };
    let rule = rules.iter().find(fits).unwrap();
    rule["verdicts"].as_array().unwrap().iter().map(|verdict| verdict.as_str().unwrap().to_owned()).collect()
}

fn report(line: &Value) -> ClientReport {
    let client: Client = text(line, "client").parse().unwrap();
    let calls: Vec<&str> =
        line["calls"].as_array().unwrap().iter().map(|call| call.as_str().unwrap()).collect();
    let script: Script = calls.join("|").parse().unwrap();
    let options = line["options"].as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
    let options = options
        .fold(ClientOptions::default(), |options, (name, value)| options.with(name, value.to_string()));
    client.read(
        line["config"].as_str().unwrap_or("{}").as_bytes(),
        &options,
        Some(&script),
        Some("lab.Svc/Get"),
    )
}

#[test]
fn every_observation_of_a_config_is_told() {
    let (mut all, mut wrong, mut attempts, mut false_as_written) = (0, Vec::new(), Vec::new(), Vec::new());
    for line in observed("config") {
        all += 1;
        let (report, expected) = (report(&line), verdicts(&line));
        let told = format!(
            "{} | {} | seen: {} | told: {} {:?}",
            text(&line, "client"),
            text(&line, "case"),
            text(&line, "user_sees"),
            report.verdict,
            report.reason
        );
        if !expected.iter().any(|verdict| verdict == report.verdict.as_str()) {
            if report.verdict == Verdict::AsWritten {
                false_as_written.push(told.clone());
            }
            wrong.push(told.clone());
        }
        let seen: Vec<u32> = serde_json::from_value(line["attempts"].clone()).unwrap();
        let method = report.methods.first().map(|method| method.attempts.clone());
        if !seen.is_empty() && method.as_ref().is_some_and(|method| *method != seen) {
            attempts.push(format!("{told} | attempts {seen:?}, told {method:?}"));
        }
    }
    println!("{all} observations, {} other verdicts, {} other attempts", wrong.len(), attempts.len());
    for line in wrong.iter().chain(&attempts) {
        println!("{line}");
    }
    assert_eq!(false_as_written, Vec::<String>::new());
    assert!(wrong.len() * 100 <= all * 3, "{} of {all}", wrong.len());
    let named: BTreeMap<_, _> =
        OTHERWISE.into_iter().map(|(client, case, why)| ((client, case), why)).collect();
    assert_eq!(named.len(), wrong.len());
}

/// The text with everything written as the deviations of these clients say, and whether each has a fix.
fn agreed(text: &str, clients: &[Client]) -> (String, bool) {
    let mut text = text.to_owned();
    let read =
        |client: &Client, text: &str| client.read(text.as_bytes(), &ClientOptions::default(), None, None);
    for _ in 0..8 {
        let deviations: Vec<_> = clients.iter().flat_map(|client| read(client, &text).deviations).collect();
        let mut fixes: Vec<_> = deviations.iter().filter_map(|known| known.fix.clone()).collect();
        if fixes.is_empty() {
            let is_early = |message: &str| message.contains("calls end up to");
            return (text, deviations.iter().all(|known| is_early(&known.message)));
        }
        // From the end on, so that places stay; of what overlaps the first.
        fixes.sort_by_key(|(place, _)| (std::cmp::Reverse(place.start), place.end));
        let mut before = usize::MAX;
        let mark = if text.starts_with('\u{feff}') { 3 } else { 0 };
        for (place, right) in fixes {
            if place.end <= before {
                before = place.start;
                text.replace_range(place.start + mark..place.end + mark, &right);
            }
        }
        if mark > 0 {
            text.drain(..mark);
        }
    }
    (text, false)
}

#[test]
fn whoever_follows_the_suggestions_has_clients_that_read_the_same() {
    let pairs = Client::ALL.into_iter().enumerate().flat_map(|(number, first)| {
        Client::ALL.into_iter().skip(number + 1).map(move |second| vec![first, second])
    });
    for named in pairs.chain([Client::ALL.to_vec()]) {
        let (mut fixed, mut left) = (0, Vec::new());
        for line in
            observed("config").filter(|line| line["config"].is_string() && text(line, "client") == "grpc-go")
        {
            let (config, has_all) = agreed(text(&line, "config"), &named);
            if !has_all {
                left.push(text(&line, "case").to_owned());
                continue;
            }
            fixed += 1;
            let read = named.iter().map(|client| {
                let report = client.read(config.as_bytes(), &ClientOptions::default(), None, None);
                let methods = report.methods.into_iter();
                methods
                    .map(|method| {
                        (method.method, method.attempts, method.delays, method.timeout, method.codes)
                    })
                    .collect::<Vec<_>>()
            });
            let read: Vec<_> = read.collect();
            for other in &read {
                assert_eq!(*other, read[0], "{named:?} {} {config}", text(&line, "case"));
            }
        }
        println!("{named:?}: {fixed} agree; {left:?} need more than other text");
        assert!(fixed >= 80, "{named:?}: {fixed}");
    }
}

#[test]
fn a_table_without_retries_is_told_by_its_timeouts() {
    let table = |timeout: &str| {
        format!(r#"{{"methodConfig": [{{"name": [{{"service": "a.B"}}], "timeout": "{timeout}"}}]}}"#)
    };
    for (timeout, verdicts) in [
        (
            "1.500000000s",
            [Verdict::NoRetries, Verdict::NoRetries, Verdict::RefusedPerCall, Verdict::NoRetries],
        ),
        ("41.5s", [Verdict::NoRetries, Verdict::NoRetries, Verdict::NoRetries, Verdict::Changed]),
        ("0.5s", [Verdict::NoRetries, Verdict::NoRetries, Verdict::RefusedPerCall, Verdict::RefusedPerCall]),
        ("15s", [Verdict::NoRetries, Verdict::NoRetries, Verdict::Changed, Verdict::NoRetries]),
    ] {
        let text = table(timeout);
        let read = |client: Client| client.read(text.as_bytes(), &ClientOptions::default(), None, None);
        let told = Client::ALL.map(|client| read(client).verdict);
        assert_eq!(told, verdicts, "{timeout}");
        for report in Client::ALL.map(read) {
            assert_eq!(report.methods[0].verdict, report.verdict, "{report:?}");
        }
    }
}

#[test]
fn every_rule_names_an_observation_or_a_source() {
    let cases: std::collections::BTreeSet<String> =
        OBSERVED.lines().map(|line| text(&serde_json::from_str(line).unwrap(), "case").to_owned()).collect();
    for client in Client::ALL {
        let keys: Vec<_> = client.rules().map(|(key, ..)| key).collect();
        let others: Vec<_> = Client::ALL[0].rules().map(|(key, ..)| key).collect();
        assert_eq!(keys, others, "{client}");
        for (key, value, source) in client.rules() {
            assert!(!value.is_empty(), "{client}: {key}");
            for source in source.split("; ") {
                let is_known =
                    ["observations", "source", "gRFC A6"].contains(&source) || cases.contains(source);
                assert!(is_known, "{client}: {key} is from {source:?}, which is no observation");
            }
        }
    }
}

#[test]
fn statuses_resets_and_pushbacks_are_told() {
    let mut told = 0;
    for line in observed("run") {
        let (client, case, sees) = (text(&line, "client"), text(&line, "case"), text(&line, "user_sees"));
        let client: Client = client.parse().unwrap();
        let code = sees.split(' ').next().unwrap_or_default();
        let rule = if let Some(reset) =
            case.strip_prefix("B8 RST_STREAM ").or(case.strip_prefix("B8 headers then RST_STREAM "))
        {
            let number = reset.split(',').next().unwrap();
            let own = client.rule(&format!("rst.{number}"));
            if own.is_empty() { client.rule("rst.other") } else { own }
        } else if let (Some(status), false) =
            (case.strip_prefix("B7 HTTP "), case.contains("with grpc-status"))
        {
            if case.contains("application/grpc") && client.rule("http.grpc-content-type") != "http" {
                client.rule("http.grpc-content-type")
            } else {
                let own = client.rule(&format!("http.{}", status.get(..3).unwrap()));
                if own.is_empty() { client.rule("http.other") } else { own }
            }
        } else {
            let retries = sees.starts_with("OK after 2");
            let pushback = match case {
                "B2 pushback 'abc'" => "pushback.malformed",
                "B2 pushback two values 50, 400" => "pushback.two-values",
                _ => continue,
            };
            let stops = ["stop", "INTERNAL"].contains(&client.rule(pushback));
            assert_eq!(stops, !retries, "{client}: {case}");
            told += 1;
            continue;
        };
        let spelled: String =
            code.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_uppercase();
        let rule = rule.replace('_', "");
        assert!(
            spelled == rule || spelled == "CANCELED" && rule == "CANCELLED",
            "{client}: {case}: {sees}, told {rule}"
        );
        told += 1;
    }
    assert!(told >= 230, "{told}");
}

#[test]
fn the_page_has_the_rules_in_which_clients_differ() {
    let mut rows = String::new();
    for (key, ..) in Client::ALL[0].rules() {
        let values = Client::ALL.map(|client| client.rule(key));
        let is_shown = key != "version" && !key.starts_with("option.");
        if is_shown && values.iter().any(|value| *value != values[0]) {
            rows.extend(["| `", key, "` | ", &values.join(" | "), " |\n"]);
        }
    }
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/reference/clients.md");
    let page = std::fs::read_to_string(page).unwrap();
    let table = page.split_once("| --- | --- | --- | --- | --- |\n").unwrap().1;
    assert_eq!(table.split("\n\n").next().unwrap().to_owned() + "\n", rows);
}

#[test]
fn an_empty_list_of_codes_is_told_beside_another_refusal() {
    let config = |codes: &str| {
        let policy = r#""initialBackoff": "1s", "maxBackoff": "1s", "backoffMultiplier": 2"#;
        format!(
            r#"{{"methodConfig": [{{"name": [{{"service": "a.B"}}], "retryPolicy": {{{policy}, "retryableStatusCodes": {codes}}}}}]}}"#
        )
    };
    for client in Client::ALL {
        let messages = |codes: &str| {
            let report = client.read(config(codes).as_bytes(), &ClientOptions::default(), None, None);
            report.deviations.into_iter().map(|deviation| deviation.message).collect::<Vec<_>>()
        };
        let empty = "retryableStatusCodes names no code";
        assert_eq!(messages("[]"), ["maxAttempts is missing", empty], "{client}");
        assert!(!messages(r#"["NOPE"]"#).contains(&empty.to_owned()), "{client}");
    }
}

#[test]
fn a_listed_code_that_ends_a_call_is_not_said_to_be_unlisted() {
    let config = r#"{"methodConfig": [{"name": [{"service": "a.B"}], "retryPolicy": {"maxAttempts": 4, "initialBackoff": "0.1s",
        "maxBackoff": "1s", "backoffMultiplier": 2, "retryableStatusCodes": ["UNAVAILABLE"]}}]}"#;
    for (script, verdict) in
        [("H14", Verdict::AsWritten), ("H13", Verdict::NoRetries), ("T13", Verdict::NoRetries)]
    {
        let script: Script = script.parse().unwrap();
        for client in Client::ALL {
            let report =
                client.read(config.as_bytes(), &ClientOptions::default(), Some(&script), Some("a.B/Get"));
            assert_eq!(report.verdict, verdict, "{client} {script:?} {:?}", report.reason);
        }
    }
}

/// What the readers here say of other clients, which the rules have to say too.
#[test]
fn sentences_that_name_other_clients_follow_the_rules() {
    let config = |change: (&str, &str)| {
        let base = r#"{"methodConfig": [{"name": [{"service": "a.B"}], "retryPolicy": {"maxAttempts": 4, "initialBackoff": "0.1s", "maxBackoff": "1s", "backoffMultiplier": 2, "retryableStatusCodes": ["UNAVAILABLE"]}}]}"#;
        base.replace(change.0, change.1)
    };
    let throttled = r#"}], "retryThrottling": {"maxTokens": 1001, "tokenRatio": 0.1}}"#;
    let both = r#"}, "hedgingPolicy": {"maxAttempts": 2, "hedgingDelay": "1s"}}]}"#;
    let unnamed_delay =
        r#"{"methodConfig": [{"name": [{"service": "a.B"}], "hedgingPolicy": {"maxAttempts": 2}}]}"#;
    // The sentence names the clients of which that is true.
    for (text, says, takes) in [
        (config(("4", "\"4\"")), "take the string", true),
        (config(("2,", "\"2\",")), "take the string", true),
        (config(("}]}", throttled)), "take more", true),
        (config(("\"UNAVAILABLE\"", "\"unavailable\"")), "reject the whole file", false),
        (config(("}}]}", both)), "ignore the hedging policy", true),
        (config(("\"maxAttempts\"", "\"MaxAttempts\"")), "alone", true),
        ("\u{feff}".to_owned() + &config(("", "")), "refuse", false),
        (unnamed_delay.to_owned(), "rejects the whole file", false),
    ] {
        let said = match RetryTable::reader().dialect(Dialect::Grpc).read(text.as_bytes()) {
            Ok(table) => table.findings().iter().map(ToString::to_string).collect::<String>(),
            Err(error) => error.to_string(),
        };
        assert!(said.contains(says), "{said}");
        for client in Client::ALL {
            let verdict = client.read(text.as_bytes(), &ClientOptions::default(), None, None).verdict;
            let is_taken = verdict < Verdict::RefusedPerCall;
            let is_named = said.contains(client.name());
            assert_eq!(is_named, is_taken == takes, "{client} ({verdict}): {said}");
        }
    }
}

/// What clients of these versions did with more configs: a change of one, the client, and what it made of it.
#[test]
fn further_configs_are_told() {
    use Verdict::{AsWritten, RefusedAtCreation, RefusedPerCall, Unknown};
    let base = r#"{"methodConfig": [{"name": [{"service": "lab.Svc"}], "retryPolicy": {"maxAttempts": 4, "initialBackoff": "0.1s", "maxBackoff": "1s", "backoffMultiplier": 2, "retryableStatusCodes": ["UNAVAILABLE"]}}]}"#;
    let root = |field: &str| format!("}}], {field}}}");
    let balancing = |list: &str| root(&format!("\"loadBalancingConfig\": {list}"));
    let deep = root(&format!("\"x\": {}{}", "[".repeat(255), "]".repeat(255)));
    let (no_object, no_key) =
        (balancing(r#"[{"round_robin": []}]"#), balancing(r#"[{"round_robin": {}}, {}]"#));
    let no_boolean = balancing(r#"[{"pick_first": {"shuffleAddressList": "x"}}]"#);
    let (unknown, no_child) =
        (balancing(r#"[{"zzz": {}}]"#), balancing(r#"[{"outlier_detection_experimental": {}}]"#));
    for (from, to, client, verdict) in [
        (base, "", "grpcio", RefusedPerCall),
        ("}]}", "}]}\u{a0}", "grpc-go", RefusedAtCreation),
        ("}]}", "}]}\u{a0}", "grpcio", RefusedPerCall),
        ("}]}", "}]}\u{a0}", "grpc-js", RefusedAtCreation),
        ("}]}", &deep, "grpc-go", AsWritten),
        ("}]}", &deep, "grpc-java", RefusedAtCreation),
        ("}]}", &deep, "grpcio", RefusedPerCall),
        ("}]}", &deep, "grpc-js", AsWritten),
        ("}]}", &root(r#""serviceConfig": {}"#), "grpc-js", AsWritten),
        (": 4,", r#": "4", "maxAttempts": 4,"#, "grpc-go", Unknown),
        ("0.1s", "+.1s", "grpc-go", RefusedAtCreation),
        ("0.1s", "0.0009s", "grpcio", RefusedPerCall),
        (r#""lab.Svc""#, r#""", "method": """#, "grpc-js", RefusedAtCreation),
        (r#""lab.Svc""#, r#""", "method": """#, "grpcio", AsWritten),
        (r#""lab.Svc""#, r#"null, "method": "Get""#, "grpcio", RefusedPerCall),
        (r#""service": "lab.Svc""#, r#""method": null"#, "grpcio", AsWritten),
        ("}}]", r#"}, "hedgingPolicy": {}}]"#, "grpc-java", RefusedAtCreation),
        ("}}]", r#"}, "maxRequestMessageBytes": -1}]"#, "grpc-go", RefusedPerCall),
        ("}]}", &no_object, "grpc-go", AsWritten),
        ("}]}", &no_object, "grpc-java", RefusedAtCreation),
        ("}]}", &no_object, "grpcio", RefusedPerCall),
        ("}]}", &no_key, "grpc-go", AsWritten),
        ("}]}", &no_key, "grpc-java", RefusedAtCreation),
        ("}]}", &no_key, "grpc-js", RefusedAtCreation),
        ("}]}", &no_boolean, "grpc-go", RefusedAtCreation),
        ("}]}", &no_boolean, "grpc-js", AsWritten),
        ("}]}", &unknown, "grpc-js", AsWritten),
        ("}]}", &no_child, "grpc-java", RefusedAtCreation),
        ("}]}", &no_child, "grpcio", RefusedPerCall),
    ] {
        let client: Client = client.parse().unwrap();
        let text = base.replace(from, to);
        let report = client.read(text.as_bytes(), &ClientOptions::default(), None, Some("lab.Svc/Get"));
        assert_eq!(report.verdict, verdict, "{client}: {text} {:?}", report.reason);
    }
}

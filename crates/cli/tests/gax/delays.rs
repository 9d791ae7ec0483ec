//! Delays that nobody set, and delays that should not be set.
#![expect(clippy::indexing_slicing, reason = "a helper of tests fails the test that calls it")]

use super::{folder, gax, session};
use serde_json::Value;
use std::fs;
use std::path::Path;

const INITIAL: &str = "initial_retry_delay = \"100ms\"\n";
const MULTIPLIER: &str = "retry_delay_multiplier = 1.3\n";
const MAX: &str = "max_retry_delay = \"60s\"\n";

fn json(args: &[&str]) -> Value {
    let output = gax(args.iter().copied());
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn entry(rest: &str) -> String {
    format!("[[entry]]\nfor = [\"a.B/Get\"]\ntimeout = \"60s\"\ncodes = [\"UNAVAILABLE\"]\n{rest}")
}

/// The defaults, each written out or not, in every combination.
fn spellings() -> Vec<String> {
    let spelling = |mask: u8| {
        let lines = [INITIAL, MULTIPLIER, MAX].into_iter().enumerate();
        lines.filter(|(bit, _)| mask & (1 << bit) != 0).map(|(_, line)| line).collect::<String>()
    };
    (0..8).map(spelling).collect()
}

#[test]
fn to_write_a_default_out_changes_neither_the_plan_nor_the_load_of_an_outage() {
    let folder = folder("delays_defaults");
    let path = folder.join("table.toml");
    let table = path.to_str().unwrap();
    let seen: Vec<(Value, Value)> = spellings()
        .iter()
        .map(|spelling| {
            fs::write(&path, entry(spelling)).unwrap();
            let mut explained = json(&["table", "explain", table, "Get", "--format", "json"]);
            // gax-java has other defaults, and gRPC none.
            explained["dialects"].as_array_mut().unwrap().retain(|reader| reader["dialect"] == "as-written");
            let planned = json(&["plan", "--table", table, "--method", "Get", "--format", "json"]);
            (explained, planned)
        })
        .collect();
    for (spelling, other) in spellings().iter().zip(&seen) {
        assert_eq!(*other, seen[0], "{spelling}");
    }
    assert_eq!(seen[0].0["load"], 23.09);
    let starts = seen[0].0["refused"]["attempts"].as_array().unwrap().iter().take(5);
    let starts: Vec<f64> = starts.map(|attempt| attempt["start_ms"].as_f64().unwrap()).collect();
    assert_eq!(starts, [0.0, 100.0, 230.0, 399.0, 618.7]);
}

#[test]
fn to_write_a_default_out_changes_no_plan_of_flags() {
    let flags = ["--initial-retry-delay 100ms", "--retry-delay-multiplier 1.3", "--max-retry-delay 60s"];
    for compat in ["documented", "grpc"] {
        let plan = |given: &str| {
            let line = format!("plan --format json --compat {compat} --total-timeout 9s {given}");
            let outcomes = ["--outcome", "UNAVAILABLE"].repeat(5);
            json(&line.split_whitespace().chain(outcomes).collect::<Vec<_>>())
        };
        let none = plan("");
        for flag in flags {
            assert_eq!(plan(flag), none, "{compat}: {flag}");
        }
        assert_eq!(plan(&flags.join(" ")), none, "{compat}");
        assert_ne!(plan("--retry-delay-multiplier 1"), none, "{compat}");
    }
}

#[test]
fn a_delay_of_1_ms_is_a_delay_and_a_count_that_was_ended_is_no_measurement() {
    let folder = folder("delays_short_explained");
    let path = folder.join("table.toml");
    let table = path.to_str().unwrap();
    fs::write(&path, entry("initial_retry_delay = \"1ms\"\nretry_delay_multiplier = 1\n")).unwrap();
    let text = session(&format!("table explain {table} Get"));
    let said = "The number of attempts has no limit, and delays are short (1 ms, jittered): they hardly slow the attempts \
                down. In 100 simulated outages the busiest call made at least 10,000 attempts.";
    assert!(text.contains(said), "{text}");
    assert!(text.contains("it gets at least 10000 times its usual load, on average."), "{text}");
    let explained = json(&["table", "explain", table, "Get", "--format", "json"]);
    assert_eq!((&explained["load"], &explained["load_capped"]), (&10_000.0.into(), &true.into()));
    let shown = json(&["table", "show", table, "--load", "--format", "json"]);
    assert_eq!(shown["methods"][0]["load_capped"], true);
    fs::write(&path, entry("initial_retry_delay = \"0s\"\n")).unwrap();
    let text = session(&format!("table explain {table} Get"));
    assert!(text.contains("and there is no delay: nothing slows the attempts down."), "{text}");
    fs::write(&path, entry("max_attempts = 4\n")).unwrap();
    let explained = json(&["table", "explain", table, "Get", "--format", "json"]);
    assert_eq!((&explained["load"], &explained["load_capped"]), (&4.0.into(), &false.into()));
}

#[test]
fn a_hedge_that_the_timeout_leaves_no_room_for_is_no_load() {
    let folder = folder("delays_hedged");
    let path = folder.join("table.toml");
    let said = |delay: &str| {
        let text = format!(
            "[[entry]]\nfor = [\"a.B/Get\"]\ntimeout = \"2s\"\nhedging = {{ max_attempts = 3, delay = \"{delay}\" }}\n"
        );
        fs::write(&path, text).unwrap();
        session(&format!("table explain {} Get", path.display()))
    };
    let (late, early) = (said("2s"), said("900ms"));
    assert!(late.contains("A call makes one attempt."), "{late}");
    assert!(
        early.contains("If the service is too slow to reply, it gets 3 times its usual load."),
        "{early}"
    );
    let some = said("1500ms");
    assert!(some.contains("up to 2 attempts, 1.5 s apart"), "{some}");
    assert!(some.contains("If the service is too slow to reply, it gets 2 times its usual load."), "{some}");
}

/// The rules that find something in that entry, with their severities, and the exit status.
fn lint_in(folder: &Path, rest: &str, args: &str) -> (Vec<String>, i32) {
    let path = folder.join("table.toml");
    fs::write(&path, entry(rest)).unwrap();
    let line = format!("table lint --format json {args} -- {}", path.display());
    let output = gax(line.split_whitespace());
    let log: Value = serde_json::from_slice(&output.stdout).unwrap();
    let found = log["findings"].as_array().unwrap().iter();
    let found = found.map(|finding| format!("{} {}", finding["severity"], finding["rule"]).replace('"', ""));
    (found.filter(|found| found != "note no-max-attempts").collect(), output.status.code().unwrap())
}

#[test]
fn lint_warns_of_retries_that_keep_their_pace_until_the_timeout() {
    let folder = folder("delays_constant");
    let lint = |rest: &str, args: &str| lint_in(&folder, rest, args);
    let constant = format!("{INITIAL}retry_delay_multiplier = 1\n");
    let warned = vec!["warning constant-delay".to_owned()];
    assert_eq!(lint(&constant, "--deny constant-delay"), (vec!["error constant-delay".to_owned()], 1));
    assert_eq!(lint(&constant, "").0, warned);
    assert_eq!(lint(&format!("{INITIAL}max_retry_delay = \"100ms\"\n"), "").0, warned);
    assert_eq!(lint(&format!("{constant}max_attempts = 4\n"), "").0, ["note multiplier-is-1"]);
    for spelling in spellings() {
        let (found, status) = lint(&spelling, "--deny warning");
        assert!(status == 0 && !found.iter().any(|found| found.ends_with("-delay")), "{spelling}: {found:?}");
    }
}

#[test]
fn lint_warns_of_first_delays_below_10_ms() {
    let folder = folder("delays_short");
    let lint = |rest: &str, args: &str| lint_in(&folder, rest, args);
    let short = ["warning short-delay".to_owned()];
    assert_eq!(lint("initial_retry_delay = \"9.999ms\"\n", "").0, short);
    assert_eq!(lint("initial_retry_delay = \"1ms\"\nmax_attempts = 3\n", "").0, short);
    assert_eq!(lint("max_retry_delay = \"5ms\"\nmax_attempts = 3\n", "").0, short);
    assert_eq!(lint("initial_retry_delay = \"10ms\"\n", "").0, [""; 0]);
}

#[test]
fn the_load_of_an_outage_is_a_gate_where_it_is_asked_for() {
    let folder = folder("delays_load");
    let lint = |rest: &str, args: &str| lint_in(&folder, rest, args);
    let error = vec!["error outage-load".to_owned()];
    assert_eq!(lint(INITIAL, ""), (Vec::new(), 0));
    assert_eq!(lint(INITIAL, "--max-load 24"), (Vec::new(), 0));
    assert_eq!(lint(INITIAL, "--max-load 23"), (error.clone(), 1));
    assert_eq!(lint("max_attempts = 5\n", "--max-load 5"), (Vec::new(), 0));
    assert_eq!(lint("max_attempts = 5\n", "--max-load 4.9"), (error, 1));
    let throttled = "[retry_throttling]\nmax_tokens = 10\ntoken_ratio = 0.1\n";
    assert_eq!(lint(&format!("max_attempts = 5\n{throttled}"), "--max-load 2"), (Vec::new(), 0));
    let reported = |most: &str| session(&format!("table lint --max-load {most} hedged.toml"));
    for most in ["0.9", "-1", "NaN", "inf", "many"] {
        let expected = format!(
            "$ gax table lint --max-load {most} hedged.toml\n--- stderr\nerror: --max-load \"{most}\" is not a load; \
             write a number of at least 1, such as 20\n--- exit status 2\n"
        );
        assert_eq!(reported(most), expected);
    }
}

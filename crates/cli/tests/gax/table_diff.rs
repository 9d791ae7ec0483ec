//! Tables compared, as a gate of a build.

use super::{folder, session, session_of, stdout};
use insta::assert_snapshot;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

const LIBRARY: &str = "library_grpc_service_config.json";
const EAGER: &str = "table/eager_grpc_service_config.json";

/// A service config of one policy for these names.
fn table(names: &[&str], timeout: &str, attempts: u32, first: &str, codes: &[&str]) -> String {
    let names: Vec<Value> = names
        .iter()
        .map(|name| match name.split_once('/') {
            Some((service, method)) => serde_json::json!({ "service": service, "method": method }),
            None => serde_json::json!({ "service": name }),
        })
        .collect();
    let policy = serde_json::json!({
        "maxAttempts": attempts, "initialBackoff": first, "maxBackoff": "10s", "backoffMultiplier": 2,
        "retryableStatusCodes": codes,
    });
    let entry = serde_json::json!({ "name": names, "timeout": timeout, "retryPolicy": policy });
    serde_json::to_string_pretty(&serde_json::json!({ "methodConfig": [entry] })).unwrap()
}

fn written(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

fn json(line: &str) -> Value {
    let session = session(&format!("{line} --format json"));
    serde_json::from_str(session.lines().nth(1).unwrap()).unwrap()
}

/// The kinds of the change of the one method that changes.
fn kinds(line: &str) -> Vec<String> {
    let printed = json(line);
    assert_eq!(printed.get("changed"), Some(&1.into()), "{printed}");
    let kinds = printed.pointer("/methods/0/kinds").unwrap().as_array().unwrap();
    kinds.iter().map(|kind| kind.get("kind").unwrap().as_str().unwrap().to_owned()).collect()
}

fn fails(line: &str) -> bool {
    let text = session(line);
    let fails = text.ends_with("--- exit status 1\n");
    assert!(fails || text.ends_with("--- exit status 0\n"), "{text}");
    fails
}

#[test]
fn changes_are_reported_by_what_they_lead_to() {
    let lines = [
        format!("table diff {LIBRARY} {EAGER}"),
        format!("table diff {EAGER} {LIBRARY} --deny more-aggressive"),
        format!("table diff {LIBRARY} {LIBRARY} --deny any"),
        format!("table diff {LIBRARY} {EAGER} --deny more-aggressive --format json"),
        format!("table diff {LIBRARY} {EAGER} --deny slower --format github"),
        format!("table diff {LIBRARY} {EAGER} --deny slower,removed --format sarif"),
    ];
    assert_snapshot!(lines.map(|line| session(&line)).join("\n"));
}

/// Any value that streams run by counts.
#[test]
fn timeouts_of_streams_are_compared() {
    let folder = folder("diff_streams");
    let table = |more: &str| format!("[[entry]]\nfor = [\"a.B/Watch\"]\ntimeout = \"5s\"\n{more}");
    let old = written(&folder, "old.toml", &table("wait_timeout = \"30s\"\n"));
    let new = written(&folder, "new.toml", &table("wait_timeout = \"90s\"\nidle_timeout = \"5m\"\n"));
    let text = session(&format!("table diff {old} {new} --deny any"));
    for line in ["wait timeout of streams", "idle timeout of streams", "exit status 1"] {
        assert!(text.contains(line), "{line} in {text}");
    }
}

#[test]
fn each_change_has_its_kinds() {
    let folder = folder("diff_kinds");
    let old = written(&folder, "old.json", &table(&["a.B/C"], "60s", 5, "0.1s", &["UNAVAILABLE"]));
    for (name, new, expected) in [
        ("codes", table(&["a.B/C"], "60s", 5, "0.1s", &["UNAVAILABLE", "ABORTED"]), "more-aggressive"),
        ("attempts", table(&["a.B/C"], "60s", 3, "0.1s", &["UNAVAILABLE"]), "less-aggressive"),
        ("sooner", table(&["a.B/C"], "60s", 5, "0.05s", &["UNAVAILABLE"]), "more-aggressive"),
        ("later", table(&["a.B/C"], "60s", 5, "0.2s", &["UNAVAILABLE"]), "less-aggressive"),
        ("slower", table(&["a.B/C"], "90s", 5, "0.1s", &["UNAVAILABLE"]), "slower"),
        ("faster", table(&["a.B/C"], "30s", 5, "0.1s", &["UNAVAILABLE"]), "faster"),
        ("other", table(&["a.B/C"], "60s", 5, "0.1s", &["ABORTED"]), "more-aggressive less-aggressive"),
        ("added", table(&["a.B/C", "a.B/D"], "60s", 5, "0.1s", &["UNAVAILABLE"]), "added"),
    ] {
        let new = written(&folder, &format!("{name}.json"), &new);
        let line = format!("table diff {old} {new}");
        assert_eq!(kinds(&line).join(" "), expected, "{name}");
        for kind in ["added", "removed", "more-aggressive", "less-aggressive", "slower", "faster"] {
            let is_of_kind = expected.split(' ').any(|expected| expected == kind);
            assert_eq!(fails(&format!("{line} --deny {kind}")), is_of_kind, "{name} {kind}");
        }
        assert!(fails(&format!("{line} --deny any")) && !fails(&line), "{name}");
        if name == "added" {
            assert_eq!(kinds(&format!("table diff {new} {old}")), ["removed"]);
        }
    }
}

#[test]
fn every_value_that_operations_run_by_is_compared() {
    let folder = folder("diff_values");
    let old = "[[entry]]\nfor = [\"a.B/C\"]\ntotal_timeout = \"600s\"\nmax_attempts = 5\n\
               codes = [\"DEADLINE_EXCEEDED\", \"UNAVAILABLE\"]\ninitial_retry_delay = \"1s\"\n\
               retry_delay_multiplier = 2.0\nmax_retry_delay = \"4s\"\ninitial_rpc_timeout = \"5s\"\n\
               max_rpc_timeout = \"5s\"\nmax_server_delay = \"70s\"\n";
    let first = written(&folder, "old.toml", old);
    for (from, to, expected, row) in [
        (
            "multiplier = 2.0",
            "multiplier = 1.5",
            "more-aggressive faster",
            "delay: 1 s x 2 up to 4 s, jittered -> 1 s x 1.5 up to 4 s, jittered (old.toml:7 -> new.toml:7)",
        ),
        (
            "max_retry_delay = \"4s\"",
            "max_retry_delay = \"9s\"",
            "less-aggressive slower",
            "delay: 1 s x 2 up to 4 s, jittered -> 1 s x 2 up to 9 s, jittered (old.toml:8 -> new.toml:8)",
        ),
        (
            "max_server_delay = \"70s\"",
            "jittered = false",
            "more-aggressive",
            "delay: 1 s x 2 up to 4 s, jittered -> 1 s x 2 up to 4 s (new.toml:11)",
        ),
        (
            "initial_rpc_timeout = \"5s\"",
            "initial_rpc_timeout = \"3s\"\nrpc_timeout_multiplier = 2.0",
            "faster",
            "RPC timeout: 5 s -> 3 s x 2 up to 5 s (old.toml:9 -> new.toml:9)",
        ),
        (
            "initial_rpc_timeout = \"5s\"\nmax_rpc_timeout = \"5s\"",
            "",
            "less-aggressive slower",
            "RPC timeout: 5 s -> what is left of the total (old.toml:9)",
        ),
        (
            "max_server_delay = \"70s\"",
            "max_server_delay = \"80s\"",
            "",
            "longest delay of a server: 70 s -> 80 s (old.toml:11 -> new.toml:11)",
        ),
        (
            "max_server_delay = \"70s\"",
            "max_server_delay = \"70s\"\nonly_with_server_delay = [\"UNAVAILABLE\"]",
            "less-aggressive faster",
            "only with a server's delay: none -> UNAVAILABLE (new.toml:12)",
        ),
    ] {
        let new = written(&folder, "new.toml", &old.replace(from, to));
        let line = format!("table diff {first} {new}");
        assert_eq!(kinds(&line).join(" "), expected, "{to}");
        assert!(stdout(&line).contains(&format!("\n  {row}\n")), "{}", stdout(&line));
        assert!(fails(&format!("{line} --deny any")), "{to}");
    }
    let silent = written(&folder, "silent.toml", &old.replace("\"5s\"", "\"700s\""));
    let text = stdout(&format!("table diff {first} {silent}"));
    assert!(text.contains("a service that doesn't reply gets 1 attempt of a call, not 5"), "{text}");
}

#[test]
fn the_worst_case_is_that_of_attempts_that_fail_at_any_time() {
    let folder = folder("diff_worst");
    // Attempts that use up their timeouts end after 4 s by both: no time is left for the next wait.
    let table = |total: &str| {
        format!(
            "[[entry]]\nfor = [\"a.B/C\"]\ncodes = [\"UNAVAILABLE\"]\ntimeout = \"{total}\"\nmax_attempts = 9\n\
             initial_rpc_timeout = \"1500ms\"\ninitial_retry_delay = \"1s\"\nretry_delay_multiplier = 1\n"
        )
    };
    let [short, long] =
        ["4100ms", "4900ms"].map(|total| written(&folder, &format!("{total}.toml"), &table(total)));
    assert!(stdout(&format!("table explain {short} C")).contains("\nWorst case: 4.1 s.\n"));
    assert!(stdout(&format!("table explain {long} C")).contains("\nWorst case: 4.9 s.\n"));
    assert!(fails(&format!("table diff {short} {long} --deny slower")));
    assert!(!fails(&format!("table diff {long} {short} --deny slower")));
    // A server that asks for delays can use up the total timeout of two attempts as well.
    let two = written(&folder, "two.toml", &table("4900ms").replace("= 9", "= 2"));
    let text = stdout(&format!("table explain {two} C"));
    assert!(text.contains("\nWorst case: 4.9 s, or 4 s if no server asks for a delay.\n"), "{text}");
    let line = format!("table diff {two} {long}");
    assert!(
        stdout(&line).contains("a call may take 4.9 s, not 4 s where no server asks for a delay"),
        "{}",
        stdout(&line)
    );
}

#[test]
fn tables_of_many_policies_are_compared_by_what_differs() {
    let folder = folder("diff_many");
    let entry = |number: u64, timeout: u64| {
        format!(
            r#"{{"name": [{{"service": "a.B", "method": "M{number}"}}], "timeout": "{timeout}s", "retryPolicy": {{"initialBackoff":
                "0.1s", "maxBackoff": "60s", "backoffMultiplier": 1.3, "retryableStatusCodes": ["UNAVAILABLE"]}}}}"#
        )
    };
    let config = |timeout: fn(u64) -> u64| {
        let entries: Vec<String> = (0..300).map(|number| entry(number, timeout(number))).collect();
        format!(r#"{{"methodConfig": [{}]}}"#, entries.join(","))
    };
    let old = written(&folder, "old.json", &config(|number| 60 + number));
    let new = written(&folder, "new.json", &config(|number| if number < 3 { 30 } else { 60 + number }));
    let printed = json(&format!("table diff {old} {new}"));
    assert_eq!((&printed["changed"], &printed["unchanged"]), (&3.into(), &297.into()));
    let loads: Vec<&Value> =
        printed["methods"]
            .as_array()
            .unwrap()
            .iter()
            .map(|method| {
                &method["changes"].as_array().unwrap().iter().find(|c| c["what"] == "load").unwrap()["new"]
            })
            .collect();
    assert!(loads.iter().all(|load| *load == loads[0] && load.as_f64().unwrap() > 10.0), "{loads:?}");
}

#[test]
fn what_has_another_name_is_compared() {
    let folder = folder("diff_rename");
    let old = written(&folder, "v1.json", &table(&["a.v1.B", "a.v1.B/C"], "60s", 5, "0.1s", &["ABORTED"]));
    let new = written(&folder, "v2.json", &table(&["a.v2.B", "a.v2.B/C"], "60s", 4, "0.1s", &["ABORTED"]));
    let plain = json(&format!("table diff {old} {new}"));
    assert_eq!((&plain["counts"]["added"], &plain["counts"]["removed"]), (&2.into(), &2.into()), "{plain}");
    let line = format!("table diff {old} {new} --rename a.v1=a.v2");
    let renamed = json(&line);
    assert_eq!(renamed["counts"]["added"], 0);
    assert_eq!(renamed["counts"]["less-aggressive"], 2);
    assert_eq!(renamed["methods"][1]["method"], "a.v2.B/C");
    assert_eq!(renamed["methods"][1]["old_method"], "a.v1.B/C");
    assert_eq!(renamed["methods"][1]["changes"][0]["old_place"], "v1.json:16");
    assert!(stdout(&line).contains("a.v2.B/C, which was a.v1.B/C\n"), "{}", stdout(&line));
    let refused = session(&format!("table diff {old} {new} --rename a.v1"));
    assert!(
        refused.contains("error: --rename \"a.v1\" has no \"=\"; write what it was and what it is"),
        "{refused}"
    );
}

#[test]
fn a_folder_counts_as_all_tables_in_it() {
    let folder = folder("diff_folders");
    for side in ["old", "new"] {
        let attempts = if side == "old" { 5 } else { 6 };
        let text = table(&["a.B/C"], "60s", attempts, "0.1s", &["ABORTED"]);
        written(&folder, &format!("{side}/a/retry.json"), &text);
        written(&folder, &format!("{side}/b.json"), &table(&["b.B/C"], "60s", 5, "0.1s", &["ABORTED"]));
        written(&folder, &format!("{side}/package.json"), "{ \"name\": \"no table\" }");
        written(&folder, &format!("{side}/.hidden/c.json"), "{ \"methodConfig\": 7 }");
    }
    let line = format!("table diff {0}/old {0}/new", folder.display());
    assert_eq!(kinds(&line), ["more-aggressive"]);
    assert_eq!(json(&line)["unchanged"], 1);
    let empty = folder.join("new/.hidden");
    let refused = session(&format!("table diff {} {0}", empty.display()));
    assert!(refused.contains("methodConfig"), "{refused}");
    std::fs::remove_file(empty.join("c.json")).unwrap();
    let refused = session(&format!("table diff {} {0}", empty.display()));
    assert!(refused.contains("error: no retry table is in ") && refused.ends_with("status 2\n"), "{refused}");
}

fn git(folder: &Path, args: &[&str]) {
    let ran = Command::new("git")
        .args(["-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"])
        .args(args)
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn a_revision_is_a_side() {
    let folder = folder("diff_git");
    written(&folder, "tables/retry.json", &table(&["a.B/C"], "60s", 5, "0.1s", &["ABORTED"]));
    written(&folder, "tables/other.json", &table(&["b.B/C"], "60s", 5, "0.1s", &["ABORTED"]));
    git(&folder, &["init", "-q"]);
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "-q", "-m", "tables"]);
    written(&folder, "tables/retry.json", &table(&["a.B/C"], "60s", 7, "0.1s", &["ABORTED"]));
    let run = |line: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_gax"))
            .args(line.split_whitespace())
            .current_dir(&folder)
            .output()
            .unwrap();
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        (text, output.status.code().unwrap())
    };
    let deny = "--deny more-aggressive --format github";
    let expected = "::error file=tables/retry.json,line=3,col=5,title=more-aggressive::\
                    a.B/C: an outage makes 7.0 times the usual load, not 5.0 times\n";
    for sides in [
        "HEAD:tables/retry.json tables/retry.json",
        "HEAD:./tables/retry.json tables/retry.json",
        "HEAD:tables tables",
        "HEAD:tables/ tables",
    ] {
        assert_eq!(run(&format!("table diff {sides} {deny}")), (expected.to_owned(), 1), "{sides}");
    }
    assert_eq!(
        run("table diff HEAD:tables HEAD:tables --deny any"),
        ("0 changed, 2 as before\n".to_owned(), 0)
    );
    for (side, problem) in [
        ("HEAD:missing.json", "can't read HEAD:missing.json ("),
        ("nope:retry.json", "can't read nope:retry.json ("),
    ] {
        let (text, status) = run(&format!("table diff {side} tables"));
        assert_eq!(status, 2, "{text}");
        assert!(text.starts_with(&format!("error: {problem}")), "{text}");
        assert!(text.contains("); give a file, a folder, or REV:path with a revision"), "{text}");
    }
}

#[test]
fn a_throttle_is_compared() {
    let folder = folder("diff_throttle");
    let with = |throttle: &str| {
        format!(
            "{{ \"methodConfig\": [], \"retryThrottling\": {{ \"maxTokens\": {throttle}, \"tokenRatio\": 0.1 }} }}"
        )
    };
    let old = written(&folder, "old.json", &with("10"));
    let new = written(&folder, "new.json", &with("100"));
    let none = written(&folder, "none.json", "{ \"methodConfig\": [] }");
    assert_eq!(kinds(&format!("table diff {old} {new}")), ["more-aggressive"]);
    assert_eq!(kinds(&format!("table diff {new} {old}")), ["less-aggressive"]);
    assert_eq!(kinds(&format!("table diff {old} {none}")), ["more-aggressive"]);
    let text = stdout(&format!("table diff {old} {new}"));
    assert!(
        text.starts_with("*\n  retry throttling: 10 tokens, 0.1 back a success -> 100 tokens, "),
        "{text}"
    );
}

/// Methods that are mixed in count on both sides.
#[test]
fn a_service_yaml_goes_with_both_sides() {
    let data = "../../../../../codegen/tests/data/mixed";
    let table = format!("{data}/library_grpc_service_config.json");
    let folder = folder("diff_mixed");
    let eager = std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../codegen/tests/data/mixed/library_grpc_service_config.json"),
    )
    .unwrap()
    .replace("\"timeout\": \"", "\"timeout\": \"1");
    let eager = written(&folder, "slow_grpc_service_config.json", &eager);
    let line = format!(
        "table diff {table} {eager} --format json --proto-path {data} --proto mixed/v1/library.proto \
         google/cloud/location/locations.proto google/longrunning/operations.proto --service-yaml {data}/library_v1.yaml"
    );
    let text = session_of(&line, line.split_whitespace());
    assert!(text.contains("\"method\":\"mixed.v1.Library/GetLocation\""), "{text}");
}

#[test]
fn values_of_a_table_are_not_rounded() {
    let folder = folder("diff_exact");
    let [old, new] = ["5000s", "5001s"].map(|timeout| {
        let text = table(&["a.B/Get"], timeout, 2, "1s", &["UNAVAILABLE"]);
        written(&folder, &format!("{timeout}.json"), &text)
    });
    let text = stdout(&format!("table diff {old} {new}"));
    assert!(text.contains("total timeout: 1 h 23 min 20 s -> 1 h 23 min 21 s"), "{text}");
}

//! Which tables are linted, and what is left out.
#![expect(clippy::indexing_slicing, reason = "a helper of tests fails the test that calls it")]

use super::{folder, gax};
use std::fs;
use std::path::Path;

const SHORT: &str = r#"{"methodConfig": [
  {"name": [{"service": "a.B", "method": "Get"}], "timeout": "2s"},
  {"name": [{"service": "a.B", "method": "List"}, {"service": "a.C"}], "timeout": "7200s"}
]}"#;
const BAD: &str = r#"{"methodConfig": [{"name": [{"service": "a.v1"}], "timeout": "60s"}]}"#;

/// Runs the linter in a folder: the rules with their lines, and the exit status.
fn lint(folder: &Path, args: &str) -> (Vec<String>, i32) {
    let output = run(folder, &format!("table lint --format json {args}"));
    let text = String::from_utf8(output.stdout).unwrap();
    let log: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let line = |finding: &serde_json::Value| {
        let file = finding["file"].as_str().unwrap_or("-").rsplit('/').next().unwrap().to_owned();
        format!("{file}:{} {}", finding["line"], finding["rule"].as_str().unwrap())
    };
    let findings = log["findings"].as_array().into_iter().flatten().map(line).collect();
    (findings, output.status.code().unwrap())
}

fn run(folder: &Path, line: &str) -> std::process::Output {
    let program = env!("CARGO_BIN_EXE_gax");
    std::process::Command::new(program).args(line.split_whitespace()).current_dir(folder).output().unwrap()
}

fn stdout(folder: &Path, line: &str) -> String {
    String::from_utf8(run(folder, line).stdout).unwrap()
}

fn stderr(folder: &Path, line: &str) -> String {
    String::from_utf8(run(folder, line).stderr).unwrap()
}

/// A folder that no `gax.toml` above counts for, with two tables.
fn tables(name: &str) -> std::path::PathBuf {
    let folder = folder(name);
    fs::create_dir_all(folder.join(".git")).unwrap();
    fs::create_dir_all(folder.join("tables/deep")).unwrap();
    fs::write(folder.join("tables/short.json"), SHORT).unwrap();
    fs::write(folder.join("tables/deep/bad.json"), BAD).unwrap();
    folder
}

const ALL: [&str; 3] =
    ["bad.json:1 malformed-name", "short.json:2 short-timeout", "short.json:3 long-unary-timeout"];

fn owned(rules: &[&str]) -> Vec<String> {
    rules.iter().map(|rule| (*rule).to_owned()).collect()
}

#[test]
fn folders_hold_tables_and_other_files() {
    let folder = tables("lint_folders");
    fs::create_dir(folder.join("tables/.hidden")).unwrap();
    fs::write(folder.join("tables/.hidden/bad.json"), BAD).unwrap();
    fs::write(folder.join("tables/package.json"), "{\"name\": 1}").unwrap();
    fs::write(folder.join("tables/Cargo.toml"), "[package]\n").unwrap();
    assert_eq!(lint(&folder, "tables"), (owned(&ALL), 1));
    fs::remove_file(folder.join("tables/deep/bad.json")).unwrap();
    assert_eq!(
        stderr(&folder, "table lint tables/deep"),
        "error: no retry table is in tables/deep; name the file, or let its name end with one of service_config.json, \
         client_config.json, _gapic.yaml, retry_table.toml, retry.toml\n"
    );
    assert_eq!(lint(&folder, "tables/deep").1, 2);
}

#[test]
fn the_others_are_linted_where_a_file_is_missing() {
    let folder = tables("lint_missing");
    let (findings, status) = lint(&folder, "gone.json tables/short.json");
    assert_eq!((findings.as_slice(), status), (owned(&ALL[1..]).as_slice(), 2));
    let reported = stderr(&folder, "table lint gone.json tables/short.json");
    assert!(reported.starts_with("error: can't read gone.json ("), "{reported}");
    assert_eq!(lint(&folder, "gone.json"), (Vec::new(), 2));
}

#[test]
fn rules_are_listed_with_commas() {
    let folder = tables("lint_commas");
    let table = "tables/short.json";
    assert_eq!(lint(&folder, &format!("{table} --allow short-timeout,long-unary-timeout")), (Vec::new(), 0));
    assert_eq!(lint(&folder, &format!("{table} --deny short-timeout,warning")).1, 1);
    let reported = stderr(&folder, &format!("table lint {table} --deny warning,shrt-timeout"));
    let expected =
        "error: --deny \"shrt-timeout\" is neither a rule nor a severity; did you mean short-timeout?\n";
    assert_eq!(reported, expected);
}

#[test]
fn quiet_prints_errors_only() {
    let folder = tables("lint_quiet");
    assert_eq!(stdout(&folder, "table lint tables/short.json --quiet"), "");
    let printed = stdout(&folder, "table lint tables -q");
    assert!(printed.contains("malformed-name") && !printed.contains("short-timeout"), "{printed}");
}

#[test]
fn a_gax_toml_denies_allows_and_ignores() {
    let folder = tables("lint_config");
    let config = |text: &str| fs::write(folder.join("gax.toml"), text).unwrap();
    config("[lint]\ndeny = ['short-timeout']\nallow = ['long-unary-timeout', 'error']\n");
    assert_eq!(lint(&folder, "tables"), (owned(&ALL[1..2]), 1));
    // The nearest one counts, alone.
    fs::write(folder.join("tables/deep/gax.toml"), "").unwrap();
    assert_eq!(lint(&folder, "tables"), (owned(&ALL[..2]), 1));
    fs::remove_file(folder.join("tables/deep/gax.toml")).unwrap();
    let ignore = |fields: &str| {
        config(&format!("[[lint.ignore]]\nreason = 'meant'\n{fields}\n"));
        lint(&folder, "tables").0
    };
    assert_eq!(ignore("rule = 'short-timeout'"), [ALL[0], ALL[2]]);
    assert_eq!(ignore("rule = 'short-timeout'\nfile = 'tables/short.json'"), [ALL[0], ALL[2]]);
    assert_eq!(ignore("rule = 'note'\nfile = 'tables/*.json'"), [ALL[0]]);
    assert_eq!(ignore("rule = 'error'\nfile = '*.json'"), ALL);
    assert_eq!(ignore("rule = 'error'\nfile = '**/*.json'"), ALL[1..]);
    assert_eq!(ignore("rule = 'short-timeout'\nname = 'a.B/Get'"), [ALL[0], ALL[2]]);
    assert_eq!(ignore("rule = 'short-timeout'\nname = 'a.B/List'"), ALL);
    // Of a finding about an entry each of its names will do, and a service stands for its methods.
    assert_eq!(ignore("rule = 'long-unary-timeout'\nname = 'a.C'"), ALL[..2]);
    assert_eq!(ignore("rule = 'note'\nname = 'a.B'"), ALL[..1]);
    assert!(
        stdout(&folder, "table lint tables")
            .ends_with("1 error, 0 warnings, 0 notes in 2 tables; 2 ignored by gax.toml\n")
    );
}

#[test]
fn what_a_gax_toml_ignores_for_nothing_is_reported() {
    let folder = tables("lint_unused");
    let text = "[[lint.ignore]]\nrule = 'no-timeout'\nfile = 'tables/short.json'\nreason = 'meant'\n\n\
                [[lint.ignore]]\nrule = 'retry-on-create'\nfile = 'tables/short.json'\nreason = 'needs protos'\n\n\
                [[lint.ignore]]\nrule = 'no-codes'\nreason = 'in whichever file'\n";
    fs::write(folder.join("gax.toml"), text).unwrap();
    let printed = stdout(&folder, "table lint tables --format json");
    let log: serde_json::Value = serde_json::from_str(&printed).unwrap();
    let unused: Vec<&str> = log["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|finding| finding["rule"] == "unused-allow")
        .map(|finding| finding["message"].as_str().unwrap())
        .collect();
    let place = folder.join("gax.toml").display().to_string();
    assert_eq!(unused, [format!("{place}:2 ignores no-timeout in tables/short.json, where it is not found")]);
}

/// One file is linted, and what is said of other files that exist is none of its business.
#[test]
fn what_a_gax_toml_ignores_nowhere_is_reported_with_a_suggestion() {
    let folder = tables("lint_nowhere");
    let text = "[[lint.ignore]]\nrule = 'no-timeout'\nfile = 'tables/shrt.json'\nreason = 'meant'\n\n\
                [[lint.ignore]]\nrule = 'no-timeout'\nfile = 'tables/deep/*.json'\nreason = 'elsewhere'\n\n\
                [[lint.ignore]]\nrule = 'no-timeout'\nfile = 'nowhere/**/*.json'\nreason = 'gone'\n\n\
                [[lint.ignore]]\nrule = 'no-codes'\nname = 'a.B/Gett'\nreason = 'meant'\n\n\
                [[lint.ignore]]\nrule = 'no-codes'\nname = 'of.Another/Table'\nreason = 'meant'\n";
    fs::write(folder.join("gax.toml"), text).unwrap();
    let printed = stdout(&folder, "table lint tables/short.json");
    let printed = printed.replace(&format!("{}/", folder.display()), "");
    for (line, message, help) in [
        (2, "no-timeout in tables/shrt.json, which is no file", "did you mean \"tables/short.json\"?"),
        (12, "no-timeout in nowhere/**/*.json, which is no file", "remove it from gax.toml"),
        (17, "no-codes for a.B/Gett, which no table names", "did you mean \"a.B/Get\"?"),
    ] {
        let expected =
            format!("warning[unused-allow]: gax.toml:{line} ignores {message}\n  = help: {help}\n");
        assert!(printed.contains(&expected), "{expected}{printed}");
    }
    assert!(printed.contains("3 warning[unused-allow]\n"), "{printed}");
}

#[test]
fn a_gax_toml_that_makes_no_sense_is_refused_with_its_line() {
    let folder = tables("lint_bad_config");
    let reported = |text: &str| {
        fs::write(folder.join("gax.toml"), text).unwrap();
        let reported = stderr(&folder, "table lint tables/short.json");
        assert_eq!(lint(&folder, "tables/short.json").1, 2);
        reported.replace(&folder.display().to_string(), "..")
    };
    assert_eq!(
        reported("[lint]\ndeny = [\n  'shrt-timeout'\n]\n"),
        "error: ../gax.toml:3: \"shrt-timeout\" is neither a rule nor a severity; did you mean short-timeout?\n"
    );
    assert_eq!(
        reported("[[lint.ignore]]\nrule = 'no-codes'\nreason = ' '\n"),
        "error: ../gax.toml:3: the reason is empty; say why the finding is meant\n"
    );
    assert_eq!(
        reported("[[lint.ignore]]\nrule = 'no-codes'\n"),
        "error: ../gax.toml:1: missing field `reason`\n"
    );
    assert!(reported("[lint]\nallw = []\n").contains("gax.toml:2: unknown field `allw`"));
    assert!(reported("[lint\n").contains("gax.toml:1: "));
}

#[test]
fn a_baseline_leaves_only_what_is_new() {
    let folder = tables("lint_baseline");
    let printed = stdout(&folder, "table lint tables --write-baseline known.json");
    assert_eq!(printed, "3 findings are written to known.json\n");
    let text = fs::read_to_string(folder.join("known.json")).unwrap();
    assert!(
        text.contains("\"file\": \"tables/short.json\"") && text.contains("\"name\": \"a.B/Get\""),
        "{text}"
    );
    assert_eq!(lint(&folder, "tables --baseline known.json"), (Vec::new(), 0));
    // Lines may move, and so may the one who asks.
    fs::write(folder.join("tables/short.json"), format!("\n\n{SHORT}")).unwrap();
    assert_eq!(lint(&folder.join("tables"), "short.json --baseline ../known.json"), (Vec::new(), 0));
    let worse = SHORT.replace("{\"service\": \"a.C\"}", "{\"service\": \"a.C \"}");
    fs::write(folder.join("tables/short.json"), worse).unwrap();
    assert_eq!(lint(&folder, "tables --baseline known.json"), (owned(&["short.json:3 malformed-name"]), 1));
    fs::write(folder.join("tables/short.json"), SHORT.replace("\"2s\"", "\"20s\"")).unwrap();
    let printed = stdout(&folder, "table lint tables --baseline known.json");
    assert_eq!(
        printed,
        "0 errors, 0 warnings, 0 notes in 2 tables; 2 known by the baseline; \
         1 of the baseline no longer exist: write it again\n"
    );
    let reported = stderr(&folder, "table lint tables --baseline tables/short.json");
    assert!(
        reported
            .starts_with("error: --baseline: tables/short.json is not a baseline (missing field `findings`"),
        "{reported}"
    );
}

#[test]
fn findings_that_say_the_same_are_shown_once() {
    let folder = folder("lint_groups");
    let entries: Vec<String> = (0..16)
        .map(|n| {
            format!(
                "{{\"name\": [{{\"service\": \"a.B{n}\"}}], \"timeout\": \"{}s\",\n  \"retryPolicy\": {{\n    \
                 \"initialBackoff\": \"1s\", \"maxBackoff\": \"10s\", \"backoffMultiplier\": 2,\n    \
                 \"retryableStatusCodes\": [\"UNAVAILABLE\"]}}}}",
                60 + n
            )
        })
        .collect();
    fs::write(folder.join("t.json"), format!("{{\"methodConfig\": [{}]}}", entries.join(",\n"))).unwrap();
    insta::assert_snapshot!(stdout(&folder, "table lint t.json --allow refused-by-grpc"));
}

/// The counts of docs/contributing/lint-examples.md, over the published tables.
#[test]
fn the_counts_in_the_examples_are_those_of_the_command() {
    let Some(shared) = super::table_show::shared() else { return };
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/contributing/lint-examples.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, section) = page.split_once("\n## How often").unwrap();
    let rows = section.split("\n## ").next().unwrap().lines().filter_map(|line| line.strip_prefix("| `"));
    let mut reported: Vec<(String, usize, usize)> = rows
        .map(|row| {
            let cells: Vec<&str> = row.split('|').collect();
            let number = |cell: &str| cell.trim().parse().unwrap();
            (cells[0].split('`').next().unwrap().to_owned(), number(cells[1]), number(cells[2]))
        })
        .collect();
    let corpus = shared.join("retry-tables/corpus").display().to_string();
    let output = gax(["table", "lint", "--format", "json", &corpus]);
    let log: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut counts = std::collections::BTreeMap::<&str, (usize, std::collections::BTreeSet<&str>)>::new();
    for finding in log["findings"].as_array().unwrap() {
        let (count, files) = counts.entry(finding["rule"].as_str().unwrap()).or_default();
        *count += 1;
        files.insert(finding["file"].as_str().unwrap());
    }
    let counts: Vec<(String, usize, usize)> =
        counts.into_iter().map(|(rule, (count, files))| (rule.to_owned(), count, files.len())).collect();
    reported.sort();
    assert_eq!(reported, counts);
}

#[test]
fn tables_that_count_together_are_linted_as_one() {
    let folder = tables("lint_with");
    let proto = "syntax = \"proto3\";\npackage a;\nmessage M {}\n\
                 service S { rpc Get(M) returns (M); rpc Put(M) returns (M); }\n";
    let table = |method: &str, timeout: &str| {
        format!("[[entry]]\nfor = [\"a.S/{method}\"]\ntimeout = \"{timeout}\"\n")
    };
    fs::write(folder.join("a.proto"), proto).unwrap();
    fs::write(folder.join("get.toml"), table("Get", "60s")).unwrap();
    fs::write(folder.join("put.toml"), table("Put", "60s")).unwrap();
    fs::write(folder.join("other.toml"), table("Get", "30s")).unwrap();
    let lint =
        |args: &str| lint(&folder, &format!("{args} --proto a.proto --allow note,renamed-definitions")).0;
    assert_eq!(lint("get.toml"), owned(&["get.toml:2 method-without-entry"]));
    assert_eq!(lint("get.toml --with put.toml"), [""; 0]);
    let found = lint("get.toml --with put.toml --with other.toml");
    assert_eq!(found, owned(&["other.toml:2 merge-conflict"]));
}

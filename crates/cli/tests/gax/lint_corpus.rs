//! Tables with one problem each, and tables with none: the first are found, the others left alone, and whoever does as
//! a finding says is rid of it.
//!
//! In `fixtures/lint` a table has its title, then what it is for (`@ rpcs` names a service and its RPCs: `>` streams
//! responses, `<` requests, `!` starts an operation) and in which dialect it is read, then each finding with what it
//! advises, and then the table, as a diff to the one that follows the advice.
#![expect(clippy::panic, clippy::indexing_slicing, reason = "a helper of tests fails the test that calls it")]

use super::{folder, gax};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

struct Example {
    title: String,
    dialect: Option<String>,
    services: Vec<String>,
    /// Rules with their advice.
    findings: Vec<String>,
    before: String,
    after: String,
}

fn examples(name: &str) -> Vec<Example> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gax/fixtures/lint").join(name);
    let text = fs::read_to_string(path).unwrap();
    let text = format!("\n{text}");
    text.split("\n# ").skip(1).map(example).collect()
}

fn example(text: &str) -> Example {
    let (title, rest) = text.split_once('\n').unwrap();
    let mut example = Example {
        title: title.to_owned(),
        dialect: None,
        services: Vec::new(),
        findings: Vec::new(),
        before: String::new(),
        after: String::new(),
    };
    for line in rest.lines() {
        let (mark, line) = line.split_at_checked(1).unwrap_or((" ", ""));
        match mark {
            "@" => match line.trim().split_once(' ').unwrap() {
                ("dialect", name) => example.dialect = Some(name.to_owned()),
                ("rpcs", service) => example.services.push(service.to_owned()),
                _ => panic!("{title}: {line}"),
            },
            "?" => example.findings.push(line.trim().to_owned()),
            "-" => writeln!(example.before, "{line}").unwrap(),
            "+" => writeln!(example.after, "{line}").unwrap(),
            " " => {
                writeln!(example.before, "{line}").unwrap();
                writeln!(example.after, "{line}").unwrap();
            }
            _ => panic!("{title}: {mark}{line}"),
        }
    }
    example
}

/// The services as a proto, all in one package.
fn proto(services: &[String]) -> String {
    let mut text = "syntax = \"proto3\";\n".to_owned();
    for (index, service) in services.iter().enumerate() {
        let mut words = service.split(' ');
        let (package, name) = words.next().unwrap().rsplit_once('.').unwrap();
        if index == 0 {
            let import = "import \"google/longrunning/operations.proto\";";
            writeln!(text, "package {package};\n{import}\nmessage M {{}}").unwrap();
        }
        writeln!(text, "service {name} {{").unwrap();
        for word in words {
            let method = word.trim_matches(['<', '>', '!']);
            let [requests, responses] =
                ['<', '>'].map(|mark| if word.starts_with(mark) { "stream " } else { "" });
            let reply = if word.ends_with('!') { "google.longrunning.Operation" } else { "M" };
            writeln!(text, "  rpc {method}({requests}M) returns ({responses}{reply});").unwrap();
        }
        text.push_str("}\n");
    }
    text
}

/// Each finding as `rule: help`.
fn lint(folder: &Path, example: &Example, table: &str) -> Vec<String> {
    let path = folder.join("table");
    fs::write(&path, table).unwrap();
    let mut args = vec!["table".to_owned(), "lint".to_owned(), "--format=json".to_owned()];
    args.extend(example.dialect.iter().map(|dialect| format!("--dialect={dialect}")));
    if !example.services.is_empty() {
        fs::write(folder.join("a.proto"), proto(&example.services)).unwrap();
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
        args.push(format!("--proto-path={}", folder.display()));
        args.push(format!("--proto-path={}", repository.join("proto").display()));
        args.push("--proto=a.proto".to_owned());
    }
    args.push("--".to_owned());
    args.push(path.display().to_string());
    let output = gax(args.iter().map(String::as_str));
    let log: serde_json::Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}: {}", example.title, String::from_utf8_lossy(&output.stderr)));
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    for finding in log["findings"].as_array().unwrap() {
        let rule = gax_table::lint::rules().find(|rule| finding["rule"] == rule.id()).unwrap();
        assert_eq!(finding["severity"], rule.severity().to_string(), "{}: {}", example.title, rule.id());
    }
    let finding =
        |finding: &serde_json::Value| format!("{}: {}", text(&finding["rule"]), text(&finding["help"]));
    let mut found: Vec<String> = log["findings"].as_array().unwrap().iter().map(finding).collect();
    found.sort();
    found.dedup();
    found
}

fn problems() -> Vec<Example> {
    ["numbers.txt", "names.txt", "unsafe.txt"].into_iter().flat_map(examples).collect()
}

#[test]
fn tables_with_a_problem_are_found_and_whoever_follows_the_advice_is_rid_of_it() {
    let folder = folder("lint_corpus_problems");
    let problems = problems();
    assert!(problems.len() >= 60, "{}", problems.len());
    let mut wrong = Vec::new();
    for example in &problems {
        let (before, after) =
            (lint(&folder, example, &example.before), lint(&folder, example, &example.after));
        if before.is_empty() || before != example.findings {
            wrong.push(format!("{}: {before:#?}", example.title));
        }
        if !after.is_empty() {
            wrong.push(format!("{}, after the advice: {after:#?}", example.title));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn tables_without_a_problem_are_left_alone() {
    let folder = folder("lint_corpus_fine");
    let fine = examples("fine.txt");
    assert!(fine.len() >= 30, "{}", fine.len());
    let found = fine.iter().map(|example| (&example.title, lint(&folder, example, &example.before)));
    let found: Vec<_> = found.filter(|(_, found)| !found.is_empty()).collect();
    assert!(found.is_empty(), "{found:#?}");
}

//! The examples of the guide's pages on lint rules: whoever follows a rule's advice is rid of its finding, and gets no other.
#![expect(clippy::panic, clippy::indexing_slicing, reason = "a helper of tests fails the test that calls it")]

use super::{folder, gax};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The tables of a rule's section, before and after its advice was followed, and how they are linted.
struct Example<'a> {
    rule: &'a str,
    /// The words after the syntax, such as `proto=library`.
    words: Vec<&'a str>,
    /// The ending of the files.
    syntax: &'a str,
    before: Vec<String>,
    after: Vec<String>,
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

/// The fenced blocks of a text: the words after the fence, and the lines.
fn blocks(text: &str) -> Vec<(&str, Vec<&str>)> {
    let mut lines = text.lines();
    let mut blocks = Vec::new();
    while let Some(line) = lines.next() {
        if let Some(info) = line.strip_prefix("```") {
            blocks.push((info, lines.by_ref().take_while(|line| *line != "```").collect()));
        }
    }
    blocks
}

/// The pages with rules.
pub(super) const PAGES: [&str; 4] =
    ["lint.md", "reference/lint-tables.md", "reference/lint-numbers.md", "reference/lint-safety.md"];

pub(super) fn read(page: &str) -> String {
    fs::read_to_string(repository().join("docs/src").join(page)).unwrap()
}

/// The sections of a page whose headings are names of rules.
fn sections(page: &str) -> impl Iterator<Item = &str> {
    page.split("\n## ")
        .flat_map(|section| section.split("\n### "))
        .filter_map(|section| section.strip_prefix('`'))
}

/// The rules that have a section on a page.
pub(super) fn rules(page: &str) -> Vec<String> {
    sections(page).filter_map(|section| Some(section.split_once("`\n")?.0.to_owned())).collect()
}

/// The table of an example that shows only what differs from the one in lint-tables.md: fields in place of those of its one entry.
fn whole(syntax: &str, all: &[&str], side: &str) -> String {
    match syntax {
        "toml" if !side.starts_with('[') => format!("{TOML_ENTRY}{side}"),
        "json"
            if !side.trim_start().starts_with(['{', '['])
                && all.iter().all(|line| line.get(1..2) == Some("\"")) =>
        {
            let name = |line: &str| line.split('"').nth(1).unwrap().to_owned();
            let mut entry = serde_json::json!({
                "name": [{ "service": "example.v1.Library", "method": "GetBook" }], "timeout": "60s"
            });
            let mut policy = serde_json::json!({
                "maxAttempts": 5, "initialBackoff": "0.1s", "maxBackoff": "10s", "backoffMultiplier": 1.3,
                "retryableStatusCodes": ["UNAVAILABLE"]
            });
            let of_policy = |name: &str| policy.get(name).is_some() || name.contains('_');
            let fields: Vec<_> = all.iter().map(|line| (name(line), of_policy(&name(line)))).collect();
            for (name, is_of_policy) in &fields {
                let object = if *is_of_policy { &mut policy } else { &mut entry };
                object.as_object_mut().unwrap().remove(name);
            }
            for line in side.lines() {
                let (_, value) = line.split_once("\": ").unwrap();
                let (name, value) = (name(line), serde_json::from_str(value).unwrap());
                let is_of_policy = fields.iter().any(|field| *field == (name.clone(), true));
                let object = if is_of_policy { &mut policy } else { &mut entry };
                object.as_object_mut().unwrap().insert(name, value);
            }
            entry["retryPolicy"] = policy;
            format!("{:#}", serde_json::json!({ "methodConfig": [entry] }))
        }
        _ => side.to_owned(),
    }
}

/// The entry of examples in TOML.
const TOML_ENTRY: &str =
    "[[entry]]\nfor = [\"example.v1.Library/GetBook\"]\ntimeout = \"60s\"\ncodes = [\"UNAVAILABLE\"]\n";

fn examples(page: &str) -> Vec<Example<'_>> {
    let mut examples: Vec<Example<'_>> = Vec::new();
    for section in sections(page) {
        let (rule, _) = section.split_once("`\n").unwrap();
        let side = |lines: &[&str], sign: char| {
            let lines = lines.iter().filter(|line| line.starts_with([' ', sign]));
            lines.map(|line| line.get(1..).unwrap().to_owned() + "\n").collect::<String>()
        };
        for (info, lines) in blocks(section) {
            let mut words = info.split(' ');
            assert_eq!(words.next(), Some("diff"), "{rule}");
            let syntax = words.next().unwrap();
            if examples.last().is_none_or(|example| example.rule != rule) {
                let (before, after) = (Vec::new(), Vec::new());
                examples.push(Example { rule, words: words.collect(), syntax, before, after });
            }
            let example = examples.last_mut().unwrap();
            example.before.push(whole(syntax, &lines, &side(&lines, '-')));
            example.after.push(whole(syntax, &lines, &side(&lines, '+')));
        }
    }
    examples
}

/// The rules that find something in these tables, in the order of their names, as often as they do.
fn found(example: &Example<'_>, tables: &[String], folder: &Path) -> Vec<String> {
    let mut args: Vec<String> = vec!["table".to_owned(), "lint".to_owned()];
    for word in &example.words {
        match word.split_once('=') {
            Some(("proto", name)) => args.extend([
                format!("--proto-path={}", folder.parent().unwrap().display()),
                format!("--proto-path={}", repository().join("proto").display()),
                format!("--proto={name}.proto"),
            ]),
            Some(("to", form)) => {
                args = vec!["table".to_owned(), "convert".to_owned(), format!("--to={form}")];
            }
            Some(("max-load", most)) => args.push(format!("--max-load={most}")),
            Some(("client", name)) => args.push(format!("--client={name}")),
            Some(("dialect", name)) => args.push(format!("--dialect={name}")),
            None if *word == "merged" => {
                args = vec!["table".to_owned(), "convert".to_owned(), "--to=toml".to_owned()];
            }
            _ => panic!("{}: {word}", example.rule),
        }
    }
    let is_lint = args[1] == "lint";
    if is_lint {
        args.push("--format=json".to_owned());
        // A reader that refuses the file has a finding of its own only where that is denied.
        if ["refused-by-grpc", "dropped-file", "refused-by-gax-java"].contains(&example.rule) {
            args.push(format!("--deny={}", example.rule));
        }
    }
    args.push("--".to_owned());
    for (number, table) in tables.iter().enumerate() {
        let path = folder.join(format!("{number}.{}", example.syntax));
        fs::write(&path, table).unwrap();
        args.push(path.display().to_string());
    }
    let output = gax(args.iter().map(String::as_str));
    let mut rules: Vec<String> = if is_lint {
        let text = String::from_utf8(output.stdout).unwrap();
        let log: serde_json::Value = serde_json::from_str(&text).unwrap_or_else(|error| {
            panic!("{}: {error}: {}", example.rule, String::from_utf8_lossy(&output.stderr))
        });
        let findings = log["findings"].as_array().unwrap().iter();
        findings.map(|finding| finding["rule"].as_str().unwrap().to_owned()).collect()
    } else {
        assert!(output.status.success(), "{}: {}", example.rule, String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stderr).unwrap();
        let rule = |line: &str| Some(line.split_once('[')?.1.split_once("]: ")?.0.to_owned());
        text.lines().filter_map(rule).collect()
    };
    rules.sort();
    rules
}

#[test]
fn a_rule_is_as_severe_as_its_page_says() {
    let pages = PAGES.map(read);
    let sections: Vec<&str> = pages.iter().flat_map(|page| sections(page)).collect();
    for rule in gax_table::lint::rules() {
        let section =
            sections.iter().find_map(|section| section.strip_prefix(rule.id())?.strip_prefix("`\n*"));
        let said: Option<String> =
            section.map(|section| section.chars().take_while(|c| c.is_alphabetic()).collect());
        assert_eq!(said.map(|said| said.to_lowercase()), Some(rule.severity().to_string()), "{}", rule.id());
    }
}

#[test]
fn to_follow_a_rules_advice_ends_its_finding_and_makes_no_other() {
    let page = PAGES.map(read).join("\n") + &read("../contributing/lint-examples.md");
    let root = folder("lint_page");
    for (info, lines) in blocks(&page) {
        if let Some(name) = info.strip_prefix("proto ") {
            fs::write(root.join(format!("{name}.proto")), lines.join("\n")).unwrap();
        }
    }
    let examples = examples(&page);
    let mut wrong = Vec::new();
    for example in &examples {
        let rule = example.rule;
        let folder = root.join(rule);
        fs::create_dir(&folder).unwrap();
        let mut before = found(example, &example.before, &folder);
        let after = found(example, &example.after, &folder);
        if !before.iter().any(|found| found == rule) {
            wrong.push(format!("{rule} is not found: {before:?}"));
        }
        before.retain(|found| found != rule);
        let mut left = before.iter();
        // Both are sorted: what comes after has to be among what came before.
        if after.iter().any(|found| !left.any(|left| left == found)) {
            wrong.push(format!("{rule}: after {before:?} comes {after:?}"));
        }
    }
    assert_eq!(wrong, [""; 0]);
    let shown: BTreeSet<&str> = examples.iter().map(|example| example.rule).collect();
    let all = gax_table::lint::rules().map(gax_table::lint::Rule::id);
    let without: Vec<&str> = all.filter(|rule| !shown.contains(rule)).collect();
    assert_eq!(without, ["too-many-findings"]);
}

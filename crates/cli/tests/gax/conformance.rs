use super::{folder, gax, session};
use insta::assert_snapshot;
use std::fs;
use std::path::{Path, PathBuf};
use tonic_gax_optional_data::shared_with;

#[test]
fn cases_that_agree() {
    assert_snapshot!(
        [session("conformance cases.jsonl"), session("conformance cases.jsonl --format json")].join("\n")
    );
}

#[test]
fn a_changed_number_fails() {
    let cases = fs::read_to_string(fixture("cases.jsonl")).unwrap();
    let changed = cases.replacen("\"end_us\":1500000", "\"end_us\":1500001", 1);
    assert_ne!(cases, changed);
    let folder = folder("conformance-changed");
    fs::write(folder.join("changed.jsonl"), changed).unwrap();
    let text = in_folder(&folder, "conformance changed.jsonl");
    assert!(text.contains("is 1500001 in the record, but 1500000 here"), "{text}");
    assert!(text.contains("3 cases passed, 1 failed"), "{text}");
    assert!(text.ends_with("--- exit status 1\n"), "{text}");
}

#[test]
fn every_number_that_is_changed_fails() {
    let cases = fs::read_to_string(fixture("cases.jsonl")).unwrap();
    let folder = folder("conformance-numbers");
    let mut changed = 0;
    for (at, _) in cases.match_indices("_us\":").filter(|(at, _)| outcome(&cases, *at)) {
        let digits = at + "_us\":".len();
        let end = cases[digits..].find(|c: char| !c.is_ascii_digit()).unwrap() + digits;
        let Ok(number) = cases[digits..end].parse::<u64>() else { continue };
        let text = format!("{}{}{}", &cases[..digits], number + 1, &cases[end..]);
        fs::write(folder.join("changed.jsonl"), text).unwrap();
        let text = in_folder(&folder, "conformance changed.jsonl");
        assert!(text.ends_with("--- exit status 1\n"), "{}: {text}", &cases[at - 20..end]);
        changed += 1;
    }
    assert!(changed > 20, "{changed}");
}

/// Returns whether the place belongs to what is expected, not to the settings or the script.
fn outcome(cases: &str, at: usize) -> bool {
    let line = cases[..at].rfind('\n').map_or(0, |end| end + 1);
    cases[line..at].contains("\"expected\":")
}

#[test]
fn what_can_t_be_run_is_counted() {
    let folder = folder("conformance-unknown");
    let lines = [
        r#"{"id":"a","kind":"quantum","category":"odd"}"#,
        r#"{"id":"b","kind":"validate","category":"odd","settings":{},"ok":true,"error":null}"#,
    ];
    fs::write(folder.join("odd.jsonl"), lines.join("\n")).unwrap();
    assert_snapshot!(in_folder(&folder, "conformance odd.jsonl"));
}

#[test]
fn files_of_another_shape_are_refused() {
    let folder = folder("conformance-shape");
    for (name, text) in [
        ("empty.jsonl", "\n\n"),
        ("array.jsonl", "[1, 2]"),
        ("kindless.jsonl", "{\"id\":\"a\"}"),
        ("text.jsonl", "attempt 1"),
    ] {
        fs::write(folder.join(name), text).unwrap();
    }
    fs::write(folder.join("binary.jsonl"), [0xff, 0xfe, 0x00]).unwrap();
    let names = ["empty", "array", "kindless", "text", "binary", "absent"];
    let sessions = names.map(|name| in_folder(&folder, &format!("conformance {name}.jsonl")));
    assert_snapshot!(sessions.join("\n"));
}

#[test]
fn all_recorded_cases_of_gax_java() {
    let cases = "goldens/gax_java_algorithm.jsonl";
    let Some(shared) = shared_with(cases) else { return };
    let file = shared.join(cases);
    let output = gax(["conformance", file.to_str().unwrap()]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    assert!(text.contains("997 cases passed, 0 failed; 1738 recorded outcomes compared."), "{text}");
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gax/fixtures").join(name)
}

fn in_folder(folder: &Path, line: &str) -> String {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_gax"))
        .args(line.split_whitespace())
        .current_dir(folder)
        .output()
        .unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    format!("$ gax {line}\n{out}{err}--- exit status {}\n", output.status.code().unwrap())
}

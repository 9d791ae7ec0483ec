//! Where the output goes, and what that does to the exit status.

use super::folder;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::{fs, io};

const OLD: &str = r#"{"methodConfig": [{"name": [{"service": "a.B"}], "timeout": "7200s"}]}"#;
const NEW: &str = r#"{"methodConfig": [{"name": [{"service": "a.B"}], "timeout": "7300s"}]}"#;
const SOUND: &str = r#"{"methodConfig": [{"name": [{"service": "a.B"}], "timeout": "60s"}]}"#;
const CASE: &str = r#"{"id":"x","kind":"nothing","category":"none"}"#;
const PROTO: &str = "syntax = \"proto3\";\npackage a;\nmessage M {}\nservice B { rpc Get(M) returns (M); }\n";

fn run(folder: &Path, line: &str, out: impl Into<Stdio>) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gax"))
        .args(line.split_whitespace())
        .current_dir(folder)
        .stdout(out)
        .output()
        .unwrap()
}

fn tables(name: &str) -> std::path::PathBuf {
    let folder = folder(name);
    fs::create_dir(folder.join(".git")).unwrap();
    for (file, text) in [
        ("old.json", OLD),
        ("new.json", NEW),
        ("sound.json", SOUND),
        ("case.jsonl", CASE),
        ("a.proto", PROTO),
    ] {
        fs::write(folder.join(file), text).unwrap();
    }
    folder
}

/// A pipe that nobody reads: every write to it fails.
fn closed_pipe() -> Stdio {
    let (reader, writer) = io::pipe().unwrap();
    drop(reader);
    writer.into()
}

#[test]
fn a_gate_that_failed_stays_failed_if_nobody_reads_its_output() {
    let folder = tables("output_gates");
    for (line, status) in [
        ("table lint --deny note old.json", 1),
        ("table lint --deny note --format json old.json", 1),
        ("table lint --deny note --format sarif old.json", 1),
        ("table lint --deny note --format github old.json", 1),
        ("table lint --deny note --write-baseline known.json old.json missing.json", 2),
        ("table lint --deny note sound.json", 0),
        ("table diff --deny any old.json new.json", 1),
        ("table diff --deny any --format json old.json new.json", 1),
        ("table diff --deny any --format sarif old.json new.json", 1),
        ("table diff --deny any old.json old.json", 0),
        ("conformance case.jsonl", 1),
        ("conformance --format json case.jsonl", 1),
        ("generate --check --out out --proto-path . --proto a.proto --table sound.json", 1),
        ("generate --check --format json --out out --proto-path . --proto a.proto --table sound.json", 1),
        ("table show old.json", 0),
        ("--help", 0),
    ] {
        let output = run(&folder, line, closed_pipe());
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(status), "{line}: {stderr}");
        assert!(!stderr.contains("standard output"), "{line}: {stderr}");
    }
}

#[test]
fn each_command_has_its_exit_statuses() {
    let folder = tables("output_statuses");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = format!("serve --listen {}", taken.local_addr().unwrap());
    for (line, status) in [
        ("", 0),
        ("--version", 0),
        ("nothing", 2),
        ("plan --max-attempts 1", 0),
        ("plan --max-attempts 0", 2),
        (&taken, 1),
        ("serve --listen localhost", 2),
        ("generate --out out --proto-path . --proto a.proto --table sound.json", 0),
        ("generate --check --out out --proto-path . --proto a.proto --table sound.json", 0),
        ("generate --check --out other --proto-path . --proto a.proto --table sound.json", 1),
        ("generate --out out --proto-path . --proto missing.proto --table sound.json", 2),
        ("table", 0),
        ("table nothing", 2),
        ("table show sound.json", 0),
        ("table show missing.json", 2),
        ("table show --preset storage", 0),
        ("table show --preset nothing", 2),
        ("table explain sound.json a.B/Get", 0),
        ("table explain sound.json c.D/Get", 2),
        ("table lint sound.json", 0),
        ("table lint --deny note old.json", 1),
        ("table lint missing.json", 2),
        ("table convert --to toml sound.json", 0),
        ("table convert --to nothing sound.json", 2),
        ("table diff old.json new.json", 0),
        ("table diff --deny any old.json new.json", 1),
        ("table diff old.json missing.json", 2),
        ("conformance case.jsonl", 1),
        ("conformance a.proto", 2),
        ("completions bash", 0),
        ("completions nothing", 2),
        ("man", 0),
        ("man nothing", 2),
    ] {
        let output = run(&folder, line, Stdio::piped());
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(status), "{line}: {stderr}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_can_t_be_written_is_neither_a_finding_nor_a_success() {
    let folder = tables("output_full");
    for line in
        ["table lint sound.json", "table lint --deny note old.json", "plan --max-attempts 1", "--help"]
    {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let output = run(&folder, line, full);
        assert_eq!(
            (String::from_utf8(output.stderr).unwrap().as_str(), output.status.code()),
            (
                "error: standard output can't be written to (No space left on device (os error 28)); write to \
                 another file or device\n",
                Some(2)
            ),
            "{line}"
        );
    }
}

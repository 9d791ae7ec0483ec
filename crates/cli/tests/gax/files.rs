//! Files, pipes and standard input are read up to a limit.

use super::{folder, gax, session};
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

const LIBRARY: &str = "library_grpc_service_config.json";

fn library() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gax/fixtures").join(LIBRARY))
        .unwrap()
}

/// Both streams of a run of `gax` that reads that text from standard input.
fn fed(line: &str, text: &[u8]) -> (String, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_gax"))
        .args(line.split_whitespace())
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gax/fixtures"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The command stops reading at its limit.
    let _closed = child.stdin.take().unwrap().write_all(text);
    let output = child.wait_with_output().unwrap();
    (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_dash_is_standard_input() {
    let text = library();
    for line in [
        "table show FILE",
        "table lint FILE",
        "table lint FILE --format json",
        "table explain FILE example.library.v1.Library/ListBooks",
        "table convert FILE --to toml",
        "table diff FILE table/eager_grpc_service_config.json",
        "plan --table FILE --method ListBooks",
    ] {
        let from_file = gax(line.replace("FILE", LIBRARY).split_whitespace());
        let (out, err) = fed(&line.replace("FILE", "-"), text.as_bytes());
        // A table is named by its path, or by the last part of it.
        let expected = String::from_utf8(from_file.stdout).unwrap().replace(LIBRARY, "<stdin>");
        let [out, expected] = [out, expected]
            .map(|text| text.split_whitespace().collect::<Vec<_>>().join(" ").replace('-', ""));
        assert_eq!(out, expected, "{line}: {err}");
        assert!(!out.is_empty());
    }
}

#[test]
fn every_command_that_reads_a_file_reads_a_pipe() {
    let cases =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gax/fixtures/cases.jsonl"));
    let (out, err) = fed("conformance -", cases.unwrap().as_bytes());
    assert!(out.contains("4 cases passed, 0 failed"), "{out}{err}");
    let out = folder("files_generate");
    let line = format!("generate --table - --proto-path generate --proto echo.proto --out {}", out.display());
    let table = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gax/fixtures/generate/echo.toml"));
    let (_, err) = fed(&line, &table.unwrap());
    assert_eq!(err, "");
    assert!(fs::read_to_string(out.join("test.echo.rs")).unwrap().contains("<stdin>:"));
    let (_, err) = fed(
        "table show --proto-path generate --proto echo.proto --service-yaml - -- generate/echo.toml",
        b"[]",
    );
    assert_eq!(
        err,
        "error: --service-yaml: <stdin>:1:1: [] is not a service YAML; write apis and http below it\n"
    );
    let (_, err) = fed("table show --gapic-yaml - generate/echo.toml", b"interfaces: 1");
    assert!(err.starts_with("error: <stdin>:1:13: 1 is a number"), "{err}");
}

#[test]
fn standard_input_is_read_once() {
    let (_, err) = fed("table diff - -", library().as_bytes());
    assert_eq!(
        err,
        "error: can't read <stdin> (it was given for another file too); give the path of a retry table\n"
    );
}

#[cfg(unix)]
#[test]
fn a_named_pipe_is_read_once() {
    let pipe = folder("files_pipe").join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for line in ["table explain PIPE ListBooks", "table lint PIPE", "plan --table PIPE --method ListBooks"] {
        let path = pipe.clone();
        let writer = std::thread::spawn(move || {
            OpenOptions::new().write(true).open(path).unwrap().write_all(library().as_bytes()).unwrap();
        });
        let piped = session(&line.replace("PIPE", &pipe.display().to_string()));
        writer.join().unwrap();
        assert!(piped.ends_with("--- exit status 0\n"), "{piped}");
    }
}

#[cfg(unix)]
#[test]
fn no_more_than_the_limit_is_read() {
    let tables = ["table show", "table lint", "table convert --to toml", "plan --method A --table"];
    let pairs = ["table diff", "table diff library_grpc_service_config.json"];
    for command in tables.into_iter().chain(pairs).chain(["table explain /dev/zero --"]) {
        let rest = if command == "table diff" { " library_grpc_service_config.json" } else { "" };
        let file = if command.ends_with("--") { "ListBooks" } else { "/dev/zero" };
        let printed = session(&format!("{command} {file}{rest}"));
        let expected = "--- stderr\nerror: can't read /dev/zero (it is longer than 16 MiB); \
                        give the path of a retry table\n--- exit status 2\n";
        assert!(printed.ends_with(expected), "{printed}");
    }
    for (line, what) in [
        ("conformance /dev/zero", "a file of recorded cases"),
        ("table show library_grpc_service_config.json --gapic-yaml /dev/zero", "a GAPIC YAML"),
        (
            "table show --proto-path generate --proto echo.proto --service-yaml /dev/zero -- generate/echo.toml",
            "a service YAML",
        ),
    ] {
        let printed = session(line);
        let expected =
            format!("error: can't read /dev/zero (it is longer than 16 MiB); give the path of {what}\n");
        assert!(printed.contains(&expected), "{printed}");
    }
    let out = folder("files_endless");
    let printed = session(&format!(
        "generate --table /dev/zero --proto-path generate --proto echo.proto --out {}",
        out.display()
    ));
    assert!(printed.contains("error: can't read /dev/zero (it is longer than 16 MiB)"), "{printed}");
    let (_, err) = fed("table show -", &vec![b' '; (16 << 20) + 1]);
    assert_eq!(err, "error: can't read <stdin> (it is longer than 16 MiB); give the path of a retry table\n");
}

#[test]
fn a_directory_is_refused() {
    let printed = session("table explain table GetBook");
    assert!(printed.contains("error: can't read table ("), "{printed}");
    assert!(printed.ends_with("; give the path of a retry table\n--- exit status 2\n"), "{printed}");
}

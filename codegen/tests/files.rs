//! The error for a build script that names something else than an ordinary file of an ordinary length.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use tonic_gax_build::{configure, describe_protos};

const PROTO: &str = "syntax = \"proto3\"; package files; message M {}";

/// A folder of its own for a test with a proto, `echo.proto`, and another one, `odd.proto`, that the function
/// makes.
fn folder(name: &str, odd: impl FnOnce(&Path)) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::remove_dir_all(&folder).ok();
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("echo.proto"), PROTO).unwrap();
    fs::write(folder.join("imports.proto"), "syntax = \"proto3\"; import \"odd.proto\";").unwrap();
    odd(&folder.join("odd.proto"));
    folder
}

/// Checks what is said of `odd.proto` as a table, as a proto, and as an import.
fn refused(folder: &Path, why: &str) {
    let odd = folder.join("odd.proto");
    let as_table = configure().retry_table(&odd).generate(&["echo.proto"], &[folder]).unwrap_err();
    assert_eq!(as_table.to_string(), format!("can't read the retry table {}: {why}", odd.display()));
    for proto in ["odd.proto", "imports.proto"] {
        let expected = format!("can't read the proto {}: {why}", odd.display());
        let as_proto = configure().generate(&[proto], &[folder]).unwrap_err();
        assert!(as_proto.is_protos());
        assert_eq!(as_proto.to_string(), expected);
        assert_eq!(describe_protos(&[proto], &[folder]).unwrap_err().to_string(), expected);
    }
}

#[test]
fn a_device_without_end_is_not_read() {
    let folder = folder("a-device", |odd| symlink("/dev/zero", odd).unwrap());
    refused(&folder, "it is not a regular file");
}

#[test]
fn a_pipe_that_nobody_writes_to_is_not_waited_for() {
    let folder = folder("a-pipe", |odd| {
        assert!(Command::new("mkfifo").arg(odd).status().unwrap().success());
        let path = odd.to_path_buf();
        // Writes as soon as somebody reads, so that a reader that does open the pipe has a table and a proto.
        std::thread::spawn(move || {
            for text in [r#"{"methodConfig": []}"#, PROTO, PROTO, PROTO, PROTO] {
                OpenOptions::new().write(true).open(&path).unwrap().write_all(text.as_bytes()).unwrap();
            }
        });
    });
    refused(&folder, "it is not a regular file");
}

#[test]
fn a_directory_is_named_as_one() {
    refused(&folder("a-directory", |odd| fs::create_dir(odd).unwrap()), "it is a directory");
}

#[test]
fn a_file_is_read_up_to_sixteen_mebibytes() {
    let spaces = |count: usize| " ".repeat((16 << 20) - count);
    let folder = folder("a-long-file", |odd| fs::write(odd, spaces(PROTO.len()) + PROTO).unwrap());
    assert!(configure().generate(&["imports.proto"], &[&folder]).is_ok());
    fs::write(folder.join("odd.proto"), spaces(PROTO.len() - 1) + PROTO).unwrap();
    refused(&folder, "it is longer than 16 MiB");
}

#[test]
fn what_is_to_be_written_over_is_not_read_to_its_end() {
    let folder = folder("an-endless-output", |odd| fs::write(odd, PROTO).unwrap());
    symlink("/dev/zero", folder.join("files.rs")).unwrap();
    configure()
        .out_dir(&folder)
        .emit_rerun_if_changed(false)
        .compile_protos(&["echo.proto"], &[&folder])
        .unwrap();
}

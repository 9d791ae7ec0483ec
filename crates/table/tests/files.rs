//! The error for a program that names something else than an ordinary file of an ordinary length.

#![cfg(all(unix, feature = "yaml"))]
#![expect(clippy::unwrap_used, reason = "a helper of tests fails the test that calls it")]

use gax_table::{RetryTable, ServiceYaml};
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder of its own for a test, empty.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::remove_dir_all(&folder).ok();
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// The error of both readers about the file; it is the same.
fn refusal(path: &Path) -> String {
    let table = RetryTable::from_path(path).unwrap_err();
    let yaml = ServiceYaml::from_path(path).unwrap_err();
    assert!(std::error::Error::source(&table).is_some());
    assert_eq!(table.to_string(), yaml.to_string());
    table.to_string().replace(&path.display().to_string(), "FILE")
}

#[test]
fn a_device_without_end_is_not_read() {
    assert_eq!(refusal(Path::new("/dev/zero")), "can't read FILE: it is not a regular file");
}

#[test]
fn a_pipe_that_nobody_writes_to_is_not_waited_for() {
    let pipe = folder("a-pipe").join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let path = pipe.clone();
    // Writes a table as soon as somebody reads, so that a reader that does open the pipe has one.
    std::thread::spawn(move || {
        OpenOptions::new().write(true).open(path).unwrap().write_all(br#"{"methodConfig": []}"#)
    });
    assert_eq!(refusal(&pipe), "can't read FILE: it is not a regular file");
}

#[test]
fn a_directory_is_named_as_one() {
    assert_eq!(refusal(&folder("a-directory")), "can't read FILE: it is a directory");
}

#[test]
fn a_file_is_read_up_to_sixteen_mebibytes() {
    let file = folder("a-long-file").join("table.json");
    let text = r#"{"methodConfig": []}"#;
    fs::write(&file, format!("{text}{}", " ".repeat((16 << 20) - text.len()))).unwrap();
    assert!(RetryTable::from_path(&file).is_ok());
    File::options().append(true).open(&file).unwrap().write_all(b" ").unwrap();
    assert_eq!(refusal(&file), "can't read FILE: it is longer than 16 MiB");
}

//! Folders with tables in them, with tables that are broken, and with other files.

use super::folder;
use std::fs;
use std::path::{Path, PathBuf};

const GOOD: &str = "{\"methodConfig\": [{\"name\": [{\"service\": \"a.B\"}], \"timeout\": \"60s\"}]}";

/// A folder with one good table, one that its name alone gives away, and files that are none.
fn mixed(name: &str, file: &str, content: &str) -> PathBuf {
    let folder = folder(name);
    fs::create_dir_all(folder.join(".git")).unwrap();
    fs::create_dir_all(folder.join("all")).unwrap();
    fs::write(folder.join("all/good.json"), GOOD).unwrap();
    fs::write(folder.join("all/package.json"), "{\"name\": 1}").unwrap();
    fs::write(folder.join("all").join(file), content).unwrap();
    folder
}

fn run(folder: &Path, line: &str) -> (String, String, i32) {
    let program = env!("CARGO_BIN_EXE_gax");
    let output = std::process::Command::new(program)
        .args(line.split_whitespace())
        .current_dir(folder)
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code().unwrap())
}

#[test]
fn a_file_that_is_named_as_a_table_counts_whatever_it_holds() {
    for (file, content, finding) in [
        ("a_grpc_service_config.json", "{\"methodConfg\": [", "unreadable-table"),
        ("a_grpc_service_config.json", "not a table", "unreadable-table"),
        ("a_grpc_service_config.json", "", "unreadable-table"),
        ("a_grpc_service_config.json", "{}", "empty-table"),
        ("a_client_config.json", "{\"interfaces\": {}}", "empty-table"),
        ("a_gapic.yaml", "config_schema_version: 1.0.0\ninterfces: [\n", "unreadable-table"),
        ("retry.toml", "[entry]\nfor = [\"a.B\"]\n", "unreadable-table"),
        ("a_retry_table.toml", "", "empty-table"),
        ("a_retry_table.toml", "# later\n", "empty-table"),
    ] {
        let folder = mixed("folders_named", file, content);
        let (printed, stderr, status) = run(&folder, "table lint --deny warning --format json all");
        assert!(printed.contains(&format!("\"rule\":\"{finding}\"")), "{file} {content}: {printed}{stderr}");
        assert_eq!(status, 1, "{file} {content}");
        let read = run(&folder, "table show all");
        assert_eq!(read.2, if finding == "unreadable-table" { 2 } else { 0 }, "{file} {content}: {}", read.1);
    }
}

#[test]
fn show_and_convert_take_the_tables_of_a_folder_together() {
    let other = GOOD.replace("a.B", "c.D");
    let folder = mixed("folders_read", "other.json", &other);
    let (shown, _, status) = run(&folder, "table show all");
    assert!(shown.contains("a.B") && shown.contains("c.D"), "{shown}");
    assert_eq!(status, 0);
    let (converted, _, status) = run(&folder, "table convert --to toml all");
    assert_eq!(
        (converted.as_str(), status),
        (
            "[[entry]]\nfor = [\"a.B\"]\ntimeout = \"60s\"\n\n[[entry]]\nfor = [\"c.D\"]\ntimeout = \"60s\"\n",
            0
        )
    );
}

#[test]
fn a_folder_without_tables_is_refused() {
    let folder = folder("folders_without");
    fs::write(folder.join("package.json"), "{\"name\": 1}").unwrap();
    let reported = "error: no retry table is in .; name the file, or let its name end with one of service_config.json, \
                client_config.json, _gapic.yaml, retry_table.toml, retry.toml\n";
    for line in ["table lint .", "table show .", "table convert --to toml .", "table diff . ."] {
        assert_eq!(run(&folder, line), (String::new(), reported.to_owned(), 2), "{line}");
    }
}

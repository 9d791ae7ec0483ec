//! The files in which `.ci/mutants` changes a place at a time.

use crate::{NOTHING, crates, repository};
use std::fs;
use std::path::Path;

/// Those of the script's globs that match none of the files.
fn globs_without_files(script: &str, files: &[String]) -> Vec<String> {
    let matches = |glob: &str| {
        let (folder, name) = glob.rsplit_once('/').unwrap();
        let mut names = files.iter().filter_map(|file| file.strip_prefix(folder)?.strip_prefix('/'));
        names.any(|file| file == name || name == "*.rs" && !file.contains('/'))
    };
    let lists = script.split("code=(").nth(1).unwrap().split("\nstages=").next().unwrap();
    let globs = lists
        .lines()
        .map(str::trim)
        .filter(|line| Path::new(line).extension().is_some_and(|extension| extension == "rs"));
    globs.filter(|glob| !matches(glob)).map(str::to_owned).collect()
}

/// Those rows of the page whose files don't exist.
fn rows_without_files(page: &str, files: &[String]) -> Vec<String> {
    let rows = page.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next());
    let rows = rows.filter(|row| row.contains('/'));
    rows.filter(|row| !files.iter().any(|file| file == row)).map(str::to_owned).collect()
}

#[test]
fn the_files_that_have_mutants_exist() {
    let files: Vec<_> =
        crates().into_iter().flat_map(|(_, modules)| modules).map(|module| module.file).collect();
    let read = |name: &str| fs::read_to_string(repository().join(name)).unwrap();
    assert_eq!(globs_without_files(&read(".ci/mutants"), &files), NOTHING);
    assert_eq!(rows_without_files(&read("docs/contributing/mutants.md"), &files), NOTHING);
}

#[test]
fn files_that_are_gone_are_found() {
    let files = ["crates/driver/src/operation/driver.rs", "src/grpc/protocol/attempt.rs"].map(str::to_owned);
    let script = "code=(\n    src/driver.rs\n    src/grpc/protocol/*.rs\n)\ncode+=(\n    src/grpc/*.rs\n)\nstages=unit\n";
    assert_eq!(globs_without_files(script, &files), ["src/driver.rs", "src/grpc/*.rs"]);
    let page =
        "| file | text |\n| --- | --- |\n| src/grpc/protocol/attempt.rs | 0123 |\n| src/gone.rs | 4567 |\n";
    assert_eq!(rows_without_files(page, &files), ["src/gone.rs"]);
}

//! The files in which `.ci/mutants` changes a place at a time.

use crate::{NOTHING, crates, repository};
use std::fs;

/// Those globs of a configuration of cargo-mutants that match none of the files.
fn without_files(config: &str, files: &[String]) -> Vec<String> {
    let globs = config.split_once("examine_globs = [").and_then(|(_, rest)| rest.split_once(']')).unwrap().0;
    let matches = |glob: &str| {
        let (folder, name) = glob.rsplit_once('/').unwrap();
        let mut names = files.iter().filter_map(|file| file.strip_prefix(folder)?.strip_prefix('/'));
        names.any(|file| file == name || name == "*.rs" && !file.contains('/'))
    };
    globs.split('"').skip(1).step_by(2).filter(|glob| !matches(glob)).map(str::to_owned).collect()
}

#[test]
fn the_files_that_have_mutants_exist() {
    let files: Vec<_> =
        crates().into_iter().flat_map(|(_, modules)| modules).map(|module| module.file).collect();
    for config in [".cargo/mutants.toml", ".cargo/mutants-transport.toml"] {
        let text = fs::read_to_string(repository().join(config)).unwrap();
        assert_eq!(without_files(&text, &files), NOTHING, "{config} names files that are gone");
    }
}

#[test]
fn files_that_are_gone_are_found() {
    let files = ["crates/driver/src/operation/driver.rs", "src/grpc/protocol/attempt.rs"].map(str::to_owned);
    let config = "examine_globs = [\n    \"crates/driver/src/operation/driver.rs\",\n    \"src/grpc/protocol/*.rs\",\n]\nexclude_re = [\"x\"]\n";
    assert_eq!(without_files(config, &files), NOTHING);
    let config =
        "examine_globs = [\"src/driver.rs\", \"crates/driver/src/operation/*.rs\", \"src/grpc/*.rs\"]";
    assert_eq!(without_files(config, &files), ["src/driver.rs", "src/grpc/*.rs"]);
}

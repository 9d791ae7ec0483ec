//! The files that a company with many services copies from `examples/forty_services`: they run as they stand there.

use crate::folder;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn read(file: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/forty_services");
    fs::read_to_string(folder.join(file)).unwrap()
}

/// The command of the workflow that begins so.
fn step(start: &str) -> String {
    let workflow = read(".github/workflows/retries.yml");
    let mut steps = workflow.lines().filter_map(|line| line.trim().strip_prefix("run: "));
    steps.find(|step| step.starts_with(start)).unwrap().to_owned()
}

/// A repository whose main branch has the example's table, and whose working tree has another.
fn repository(name: &str, table: &str) -> PathBuf {
    let folder = folder(name);
    let git = |args: &[&str]| {
        let user = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
        let output = Command::new("git").args(user).args(args).current_dir(&folder).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    };
    fs::create_dir(folder.join("retries")).unwrap();
    for file in ["retries/retry.toml", "retries/gax.toml"] {
        fs::write(folder.join(file), read(file)).unwrap();
    }
    git(&["init", "-q"]);
    git(&["add", "-A"]);
    git(&["commit", "-qm", "add the table"]);
    git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
    fs::write(folder.join("retries/retry.toml"), table).unwrap();
    folder
}

/// Runs a step of the workflow as its shell does, with this command as `gax`.
fn run(step: &str, folder: &Path) -> Output {
    let gax = env!("CARGO_BIN_EXE_gax");
    let args = step.strip_prefix("gax ").unwrap().split_whitespace().take_while(|word| *word != ">");
    Command::new(gax).args(args).current_dir(folder).output().unwrap()
}

#[test]
fn the_workflow_lets_the_example_pass() {
    let folder = repository("forty-same", &read("retries/retry.toml"));
    for start in ["gax table lint", "gax table diff"] {
        let output = run(&step(start), &folder);
        assert!(output.status.success(), "{start}: {output:?}");
    }
}

#[test]
fn the_workflow_refuses_a_change_that_adds_load_and_a_finding() {
    let table = read("retries/retry.toml").replace("max_attempts = 3", "max_attempts = 6");
    let folder = repository("forty-more", &table);
    let output = run(&step("gax table diff"), &folder);
    assert_eq!(output.status.code(), Some(1));
    let line = "shop.search.v1.Search/*: an outage makes 6.0 times the usual load, not 3.0 times; a service that doesn't reply gets 4 \
                attempts of a call, not 3";
    assert!(String::from_utf8_lossy(&output.stdout).contains(line), "{output:?}");
    let page = include_str!("../../../../docs/src/forty-services.md");
    assert!(page.contains(line));
    let table = read("retries/retry.toml").replace("max_attempts = 3", "max_attempt = 3");
    let folder = repository("forty-misspelt", &table);
    assert_eq!(run(&step("gax table lint"), &folder).status.code(), Some(1));
}

#[test]
fn the_config_map_has_the_table() {
    let map = read("kubernetes.yaml");
    let (_, table) = map.split_once("  retry.toml: |\n").unwrap();
    let (table, _) = table.split_once("---\n").unwrap();
    let table: String =
        table.lines().flat_map(|line| [line.strip_prefix("    ").unwrap_or(line), "\n"]).collect();
    assert_eq!(table, read("retries/retry.toml"));
}

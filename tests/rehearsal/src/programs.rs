//! Programs of people who take the crates from the registry.

use crate::Failure;
use crate::machine::{Machine, output};
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How our crates are depended on until they are released.
const UNRELEASED: &str = "{ git = \"https://github.com/tonic-gax/tonic-gax\" }";

/// The README of a package, as it was packed.
fn readme(machine: &Machine, name: &str) -> Result<String, Failure> {
    for folder in fs::read_dir(machine.folder("packages"))? {
        let folder = folder?.path();
        let manifest = folder.join("Cargo.toml");
        if manifest.exists() && fs::read_to_string(manifest)?.contains(&format!("\nname = \"{name}\"\n")) {
            return Ok(fs::read_to_string(folder.join("README.md"))?);
        }
    }
    Err(format!("no package {name}").into())
}

/// The first block of that language.
fn block<'page>(page: &'page str, language: &str) -> Result<&'page str, Failure> {
    let blocks = page.split("\n```").skip(1).step_by(2);
    let block =
        blocks.filter_map(|block| block.split_once('\n')).find(|(info, _)| info.starts_with(language));
    Ok(block.ok_or_else(|| format!("no block of {language}"))?.1)
}

/// A project with the README's dependencies and this program.
fn project(machine: &Machine, name: &str, readme: &str, program: &str) -> Result<PathBuf, Failure> {
    let project = machine.folder(name);
    fs::create_dir_all(project.join("src"))?;
    // The core is 0.1, the rest 0.0.1.
    let dependencies = block(readme, "toml")?.replace(UNRELEASED, "\">=0.0.1\"");
    fs::write(
        project.join("Cargo.toml"),
        format!("[package]\nname = \"{name}\"\nedition = \"2024\"\n\n{dependencies}\n"),
    )?;
    fs::write(project.join("src/main.rs"), program)?;
    Ok(project)
}

fn run(machine: &Machine, project: &Path) -> Result<String, Failure> {
    output(machine.cargo(project).arg("run"))
}

/// The program of tonic-gax's README makes three attempts.
pub(crate) fn first(machine: &Machine) -> Result<String, Failure> {
    let readme = readme(machine, "tonic-gax")?;
    let unused = TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string();
    let program = block(&readme, "rust")?.replace("127.0.0.1:50051", &unused);
    let printed = run(machine, &project(machine, "first", &readme, &program)?)?;
    line_with(&printed, "failed after 3 attempts")
}

/// The program of gax-http's README, which checks itself.
pub(crate) fn first_over_http(machine: &Machine) -> Result<String, Failure> {
    let readme = readme(machine, "gax-http")?;
    run(machine, &project(machine, "first-over-http", &readme, block(&readme, "rust")?)?)
}

/// The command, installed, prints the plan of a method of a table.
pub(crate) fn install(machine: &Machine) -> Result<String, Failure> {
    let root = machine.folder("installed");
    output(
        machine.cargo(&machine.folder("packages")).args(["install", "gax", "--debug", "--root"]).arg(&root),
    )?;
    let table = machine.folder("table.json");
    fs::write(&table, TABLE)?;
    let mut plan = Command::new(root.join("bin/gax"));
    let printed =
        output(plan.args(["plan", "--method", "library.v1.LibraryService/GetBook", "--table"]).arg(table))?;
    line_with(&printed, "1.5 s")
}

/// A retry table.
const TABLE: &str = r#"{ "methodConfig": [{
    "name": [{ "service": "library.v1.LibraryService" }],
    "timeout": "1.5s",
    "retryPolicy": {
        "maxAttempts": 3, "initialBackoff": "0.2s", "maxBackoff": "3s", "backoffMultiplier": 2,
        "retryableStatusCodes": ["UNAVAILABLE"]
    }
}] }"#;

/// The line of a text that has these words.
fn line_with(text: &str, words: &str) -> Result<String, Failure> {
    let line = text.lines().find(|line| line.contains(words));
    Ok(line.ok_or_else(|| format!("\"{words}\" is not in:\n{text}"))?.to_owned())
}

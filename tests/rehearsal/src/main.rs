//! A release, without the world: publishes all crates into a registry on this machine, in an empty environment, and
//! uses them from there as a stranger does. docs/contributing/rigs.md has the command.
#![expect(clippy::indexing_slicing, reason = "fields of JSON values, which are null where they are missing")]

mod machine;
#[cfg(test)]
mod order;
mod packages;
mod programs;
mod registry;

use machine::{Machine, step};
use registry::{Registry, Upstream};
use std::collections::BTreeSet;
use std::process::ExitCode;

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> ExitCode {
    if let Some(rustdoc) = std::env::var_os(packages::RUSTDOC) {
        return packages::rustdoc(&rustdoc);
    }
    match rehearse() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

fn rehearse() -> Result<(), Failure> {
    let workspace = machine::workspace()?;
    let names: BTreeSet<_> = workspace.published.keys().cloned().collect();
    let registry = Registry::start(Upstream::of_this_machine()?, names.clone())?;
    let machine = Machine::new(workspace, &registry.config())?;
    step("publish every crate", || {
        let mut publish = machine.cargo(&machine.workspace.root);
        // Each package is compiled below, with all features and without the workspace.
        publish.args([
            "publish",
            "--workspace",
            "--registry",
            "rehearsal",
            "--locked",
            "--allow-dirty",
            "--no-verify",
        ]);
        machine::output(&mut publish)?;
        let packages = registry.packages();
        let published: BTreeSet<_> = packages.iter().map(|package| package.name.clone()).collect();
        if published != names {
            return Err(format!("published were only {published:?}").into());
        }
        let order: Vec<_> = packages.iter().map(|package| &*package.name).collect();
        Ok(order.join(", "))
    })?;
    let mut folders = Vec::new();
    step("files of the packages", || {
        for package in registry.packages() {
            folders.push(packages::unpack(&machine, &package)?);
        }
        packages::only_what_users_need(&folders)
    })?;
    step("first program of tonic-gax", || programs::first(&machine))?;
    step("first program of gax-http", || programs::first_over_http(&machine))?;
    step("cargo install gax", || programs::install(&machine))?;
    let mut failures = Vec::new();
    for folder in &folders {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        failures.extend(
            step(&format!("{name}: all features and tests"), || packages::check(&machine, folder)).err(),
        );
        failures.extend(
            step(&format!("{name}: as docs.rs builds it"), || packages::document(&machine, folder)).err(),
        );
    }
    if failures.is_empty() {
        return machine.clean();
    }
    let failures: Vec<_> = failures.iter().map(ToString::to_string).collect();
    Err(failures.join("\n").into())
}

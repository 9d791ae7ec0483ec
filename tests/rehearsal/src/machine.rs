//! An empty environment: cargo's home, its target directory and a folder for projects, without anything that is here already.

use crate::Failure;
use crate::registry::Upstream;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// The workspace, by `cargo metadata`.
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    target: PathBuf,
    /// The packages that are published, each with those of them that it depends on.
    pub(crate) published: BTreeMap<String, BTreeSet<String>>,
}

/// The workspace that this program belongs to.
pub(crate) fn workspace() -> Result<Workspace, Failure> {
    let mut metadata = Command::new(cargo());
    metadata.args(["metadata", "--no-deps", "--format-version", "1"]).current_dir(env!("CARGO_MANIFEST_DIR"));
    let metadata: Value = serde_json::from_str(&output(&mut metadata)?)?;
    let path = |name: &str| metadata[name].as_str().map(PathBuf::from).ok_or_else(|| format!("no {name}"));
    let mut published = BTreeMap::new();
    for package in
        metadata["packages"].as_array().into_iter().flatten().filter(|package| package["publish"].is_null())
    {
        let dependencies = package["dependencies"].as_array().into_iter().flatten();
        // Dependencies without a version, by path alone, are left out of a package.
        let packed =
            dependencies.filter(|dependency| dependency["path"].is_string() && dependency["req"] != "*");
        let names = packed.filter_map(|dependency| dependency["name"].as_str().map(str::to_owned));
        published.insert(package["name"].as_str().unwrap_or_default().to_owned(), names.collect());
    }
    Ok(Workspace { root: path("workspace_root")?, target: path("target_directory")?, published })
}

fn cargo() -> String {
    std::env::var("CARGO").unwrap_or_else(|_| "cargo".into())
}

/// cargo's home of the user.
fn home() -> PathBuf {
    let default = || std::env::home_dir().unwrap_or_default().join(".cargo");
    std::env::var_os("CARGO_HOME").map_or_else(default, PathBuf::from)
}

/// The user's configuration of cargo, section by section.
fn configuration() -> Vec<String> {
    let files = ["config.toml", "config"].map(|name| fs::read_to_string(home().join(name)));
    let text = files.into_iter().find_map(Result::ok).unwrap_or_default();
    format!("\n{text}").split("\n[").skip(1).map(|section| format!("[{section}\n")).collect()
}

impl Upstream {
    /// crates.io, or the mirror that `REHEARSAL_INDEX` and `REHEARSAL_DOWNLOADS` name.
    pub(crate) fn of_this_machine() -> Result<Self, Failure> {
        let index = std::env::var("REHEARSAL_INDEX").ok();
        if index.is_none() && configuration().iter().any(|section| section.contains("replace-with")) {
            return Err("your cargo takes crates from elsewhere than crates.io: name the address of that index in \
                        REHEARSAL_INDEX (without \"sparse+\"), and the `dl` of its config.json in REHEARSAL_DOWNLOADS"
                .into());
        }
        let index = index.unwrap_or_else(|| "https://index.crates.io".into());
        let downloads = std::env::var("REHEARSAL_DOWNLOADS").ok().or_else(downloads_of_the_index);
        let downloads = downloads.unwrap_or_else(|| "https://static.crates.io/crates".into());
        Ok(Self { index: index.trim_end_matches('/').to_owned(), downloads })
    }
}

/// The place of packages that the index of crates.io named when cargo compiled this program: behind a proxy, it is another one.
fn downloads_of_the_index() -> Option<String> {
    let indices = fs::read_dir(home().join("registry/index")).ok()?.flatten();
    let index = indices
        .into_iter()
        .find(|index| index.file_name().to_string_lossy().starts_with("index.crates.io-"))?;
    let config: Value = serde_json::from_slice(&fs::read(index.path().join("config.json")).ok()?).ok()?;
    config["dl"].as_str().map(str::to_owned)
}

pub(crate) struct Machine {
    pub(crate) workspace: Workspace,
    /// Outside the workspace.
    folder: PathBuf,
    target: PathBuf,
}

impl Machine {
    pub(crate) fn new(workspace: Workspace, config: &str) -> Result<Self, Failure> {
        let folder = std::env::temp_dir().join(format!("tonic-gax-rehearsal-{}", std::process::id()));
        let target = workspace.target.join("rehearsal");
        if target.exists() {
            fs::remove_dir_all(&target)?;
        }
        fs::create_dir_all(folder.join("home"))?;
        // How cargo reaches the network from here is the same.
        let network = configuration()
            .into_iter()
            .filter(|section| section.starts_with("[http") || section.starts_with("[net"));
        fs::write(folder.join("home/config.toml"), format!("{config}{}", network.collect::<String>()))?;
        Ok(Self { workspace, folder, target })
    }

    /// A folder outside the workspace.
    pub(crate) fn folder(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// cargo in a folder, in the empty environment. Its token is good for nothing: what is published goes to this machine's registry.
    pub(crate) fn cargo(&self, folder: &Path) -> Command {
        let mut command = Command::new(cargo());
        command
            .current_dir(folder)
            .env("CARGO_HOME", self.folder("home"))
            .env("CARGO_TARGET_DIR", &self.target);
        command.env_remove("CARGO_REGISTRY_TOKEN").env("CARGO_REGISTRIES_REHEARSAL_TOKEN", "none");
        // Debug information and incremental compilation would only take time here.
        command.env("CARGO_PROFILE_DEV_DEBUG", "false").env("CARGO_INCREMENTAL", "0");
        command
    }

    /// Removes the environment. After a failure it stays, to be looked at.
    pub(crate) fn clean(self) -> Result<(), Failure> {
        fs::remove_dir_all(self.folder)?;
        Ok(fs::remove_dir_all(self.target)?)
    }
}

/// The text that a command prints on stdout, if it succeeds.
pub(crate) fn output(command: &mut Command) -> Result<String, Failure> {
    let output = command.output()?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{command:?} fails:\n{}{errors}", String::from_utf8_lossy(&output.stdout)).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Does a step, and prints its name, how long it took and what came of it.
#[expect(clippy::disallowed_methods, reason = "people read how long it took")]
pub(crate) fn step(name: &str, work: impl FnOnce() -> Result<String, Failure>) -> Result<(), Failure> {
    let start = Instant::now();
    let result = work().map_err(|failure| format!("{name}: FAILED\n{failure}"))?;
    println!("{name:48} {:4} s  {result}", start.elapsed().as_secs());
    Ok(())
}

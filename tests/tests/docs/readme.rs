//! The first programs of the README and of *Getting started* as a newcomer takes them: each is copied into an empty package,
//! exactly as it stands there, and runs against `gax serve`.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "what fails here fails a test")]

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};
use serde_json::Value;
use std::ffi::OsString;
use std::fs;
use std::io::{BufRead as _, BufReader, Lines};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

/// A block of code: the heading above it, its language, its text.
struct Block {
    section: String,
    language: String,
    text: String,
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn blocks(page: &str) -> Vec<Block> {
    let page = fs::read_to_string(repository().join(page)).unwrap();
    let (mut blocks, mut section, mut is_heading): (Vec<Block>, _, _) = (Vec::new(), String::new(), false);
    let mut block: Option<Block> = None;
    for event in Parser::new(&page) {
        match event {
            Event::Start(Tag::Heading { .. }) => {
                section.clear();
                is_heading = true;
            }
            Event::End(TagEnd::Heading(_)) => is_heading = false,
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                let language = info.split(',').next().unwrap_or_default().to_owned();
                block = Some(Block { section: section.clone(), language, text: String::new() });
            }
            Event::End(TagEnd::CodeBlock) => blocks.extend(block.take()),
            Event::Text(text) => match &mut block {
                Some(block) => block.text.push_str(&text),
                None if is_heading => section.push_str(&text),
                None => {}
            },
            _ => {}
        }
    }
    blocks
}

/// The blocks of that language under a heading of a page.
fn texts(page: &str, section: &str, language: &str) -> Vec<String> {
    let blocks = blocks(page).into_iter().filter(|block| block.section == section);
    blocks.filter(|block| block.language == language).map(|block| block.text).collect()
}

/// How our crates are depended on until 0.1 is released.
const UNRELEASED: &str = "{ git = \"https://github.com/tonic-gax/tonic-gax\" }";

/// An empty package of that name with these dependencies, ours from this repository.
fn package(name: &str, dependencies: &str) -> PathBuf {
    let package = Path::new(env!("CARGO_TARGET_TMPDIR")).join("readme").join(name);
    if package.exists() {
        fs::remove_dir_all(&package).unwrap();
    }
    fs::create_dir_all(package.join("src")).unwrap();
    let dependencies = dependencies.replace(UNRELEASED, "\"0.1\"");
    let mut manifest =
        format!("[package]\nname = \"{name}\"\nedition = \"2024\"\n\n{dependencies}\n[workspace]\n\n");
    // As in the workspace, so that what both have is compiled once.
    manifest.push_str("[profile.dev]\ndebug = false\n\n[patch.crates-io]\n");
    for (crate_name, folder) in [
        ("gax-text", "crates/text"),
        ("gax-retry", "crates/retry"),
        ("gax-table", "crates/table"),
        ("gax-client", "crates/client"),
        ("tonic-gax", ""),
        ("tonic-gax-build", "codegen"),
    ] {
        let path = repository().join(folder);
        manifest.extend([crate_name, &format!(" = {{ path = {:?} }}\n", path.to_str().unwrap())]);
    }
    fs::write(package.join("Cargo.toml"), manifest).unwrap();
    fs::copy(repository().join("Cargo.lock"), package.join("Cargo.lock")).unwrap();
    package
}

/// cargo in that folder, without a network, which compiles into the folder that the workspace's own builds use.
fn cargo(folder: &Path, words: &[&str]) -> Command {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let (verb, rest) = words.split_first().unwrap();
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args([verb, "--quiet", "--offline", "--target-dir"]).arg(target).args(rest);
    command.current_dir(folder).env_remove("RUSTFLAGS");
    command
}

/// Compiles a package or runs it; returns its output.
fn succeed(package: &Path, verb: &str) -> String {
    let output = cargo(package, &[verb]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "cargo {verb} fails for the README's recipe in {}:\n{text}",
        package.display()
    );
    String::from_utf8(output.stdout).unwrap()
}

#[test]
#[ignore = "other tests run it, each in a process of its own"]
fn the_server() {
    let _status = gax::run(["gax", "serve", "--listen", "127.0.0.1:0"].map(OsString::from));
}

/// The server, which ends with this.
struct Service {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    address: String,
}

impl Service {
    /// Starts it on a free port, by the command that is linked here: another build of it takes longer than all the rest.
    fn start() -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "readme::the_server", "--ignored", "--nocapture"]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let address = lines
            .by_ref()
            .map(Result::unwrap)
            .find_map(|line| line.split(' ').find(|word| word.starts_with("127.0.0.1:")).map(str::to_owned));
        Self { child, lines, address: address.unwrap() }
    }

    /// The program, with the address of this service in place of its own.
    fn called_by(&self, program: &str) -> String {
        assert!(program.contains(PORT), "{program}");
        program.replace(PORT, &self.address)
    }

    /// The lines that it prints of the next three attempts.
    fn arrivals(&mut self) -> Vec<String> {
        let lines = self.lines.by_ref().map(Result::unwrap);
        lines.filter(|line| line.contains(", attempt ")).take(3).collect()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _status = self.child.wait();
    }
}

/// Where the recipes have the service.
const PORT: &str = "127.0.0.1:50051";

/// The programs that `cargo run` chooses from in the repository.
fn programs() -> Vec<String> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["metadata", "--quiet", "--offline", "--no-deps", "--format-version", "1"]);
    let output = command.current_dir(repository()).output().unwrap();
    let workspace: Value = serde_json::from_slice(&output.stdout).unwrap();
    let members = workspace["workspace_default_members"].as_array().unwrap();
    let packages = workspace["packages"].as_array().unwrap();
    let targets = packages.iter().filter(|package| members.contains(&package["id"]));
    let targets = targets.flat_map(|package| package["targets"].as_array().unwrap());
    let programs = targets.filter(|target| target["kind"][0] == "bin");
    programs.map(|program| program["name"].as_str().unwrap().to_owned()).collect()
}

/// Text in which each run of digits and points is one `#`: times, counts and ports.
fn masked(text: &str) -> String {
    let mut masked = String::new();
    for letter in text.chars() {
        match letter {
            '0'..='9' | '.' if masked.ends_with('#') => {}
            '0'..='9' => masked.push('#'),
            _ => masked.push(letter),
        }
    }
    masked
}

/// The words of each line, without numbers, their units and the lines between the rows of a table: what two runs have in common.
fn shape(text: &str) -> Vec<String> {
    let is_word = |word: &&str| !["#", "ms", "s", "us"].contains(word) && !word.contains("--");
    let lines = masked(text);
    lines.lines().map(|line| line.split_whitespace().filter(is_word).collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn the_first_program_shows_a_failed_call() {
    let section = |language: &str| texts("README.md", "A first program", language);
    let ([dependencies], [program], [output]) =
        (&section("toml")[..], &section("rust")[..], &section("text")[..])
    else {
        unreachable!("a list of dependencies, a program and its output")
    };
    let body = program.lines().filter(|line| line.starts_with("    ")).count();
    assert!(body <= 10, "the first program has {body} lines");
    assert_eq!(programs(), ["gax"]);
    let package = package("first", dependencies);
    let unused = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    fs::write(package.join("src/main.rs"), program.replace(PORT, &unused)).unwrap();
    let printed = succeed(&package, "run");
    assert_eq!(shape(&printed), shape(output), "{printed}");
    assert!(printed.contains("failed after 3 attempts"), "{printed}");
}

/// The program around the README's settings of a generated client.
const OVERRIDES: &str = "
#[expect(dead_code, reason = \"it has to compile\")]
fn overrides(channel: tonic::transport::Channel) -> Result<AssetServiceClient<tonic::transport::Channel>, Box<dyn std::error::Error>> {
    use google::cloud::asset::v1::{AssetServiceSettings, AssetServiceStubSettings};
    use std::time::Duration;
    use tonic_gax::{Code, RetrySettings};
    /* the README's lines */
    Ok(client)
}
";

#[test]
fn the_generated_client_retries_in_an_empty_package() {
    let section =
        |language: &str| texts("docs/src/introduction.md", "A generated client in ten minutes", language);
    let ([dependencies], [build, program]) = (&section("toml")[..], &section("rust")[..]) else {
        unreachable!("one list of dependencies, one build script and one program")
    };
    let package = package("generated", dependencies);
    copy(&repository().join("proto"), &package.join("proto"));
    let mut service = Service::start();
    fs::write(package.join("build.rs"), build).unwrap();
    let [overrides] = &texts("README.md", "A generated client", "rust")[..] else {
        unreachable!("the settings of a generated client")
    };
    let overrides = OVERRIDES.replace("/* the README's lines */", overrides);
    let program = service.called_by(program) + &overrides;
    fs::write(package.join("src/main.rs"), program).unwrap();
    let printed = succeed(&package, "run");
    assert!(printed.contains("ListAssetsResponse"), "{printed}");
    let arrived = service.arrivals().join("\n");
    assert!(arrived.contains("attempt 3 of google.cloud.asset.v1.AssetService/ListAssets"), "{arrived}");
}

#[test]
fn the_readme_is_short() {
    let readme = fs::read_to_string(repository().join("README.md")).unwrap();
    assert!(readme.lines().count() <= 120, "{} lines", readme.lines().count());
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let from = entry.unwrap().path();
        let to = to.join(from.file_name().unwrap());
        if from.is_dir() {
            copy(&from, &to);
        } else {
            fs::copy(&from, &to).unwrap();
        }
    }
}

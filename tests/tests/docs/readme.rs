//! The README as a newcomer takes it: each recipe is copied into an empty package, exactly as it stands there, and has
//! to compile. The first program runs, against the service that it is shown with.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A block of code: the heading above it, its language, its text.
struct Block {
    section: String,
    language: String,
    text: String,
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn blocks() -> Vec<Block> {
    let readme = fs::read_to_string(repository().join("README.md")).unwrap();
    let (mut blocks, mut section, mut is_heading): (Vec<Block>, _, _) = (Vec::new(), String::new(), false);
    let mut block: Option<Block> = None;
    for event in Parser::new(&readme) {
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

/// The blocks of that language under these headings.
fn texts(sections: &[&str], language: &str) -> Vec<String> {
    let blocks = blocks().into_iter().filter(|block| block.language == language);
    let texts = blocks.filter(|block| sections.contains(&&*block.section)).map(|block| block.text);
    // What rustdoc hides, a reader doesn't copy.
    let shown = |text: String| {
        let lines: Vec<_> = text.split_inclusive('\n').filter(|line| !line.starts_with("# ")).collect();
        lines.concat()
    };
    texts.map(shown).collect()
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
    manifest.push_str("[patch.crates-io]\n");
    for (crate_name, folder) in
        [("gax-retry", "retry"), ("gax-table", "table"), ("tonic-gax", ""), ("tonic-gax-build", "codegen")]
    {
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

/// The demo's service, which ends with this.
struct Service(Child);

impl Drop for Service {
    fn drop(&mut self) {
        let _gone = self.0.kill();
        let _status = self.0.wait();
    }
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

#[test]
fn the_first_program_shows_a_retry() {
    let section = ["A first retry"];
    let [toml, json, rust, text] = ["toml", "json", "rust", "text"].map(|language| texts(&section, language));
    let ([dependencies], [table], [program], [output]) = (&toml[..], &json[..], &rust[..], &text[..]) else {
        unreachable!("one block of each language")
    };
    let body = program.lines().filter(|line| line.starts_with("    ")).count();
    assert!(body <= 10, "the shortest path has {body} lines");

    let commands = texts(&section, "sh").concat();
    let port = "127.0.0.1:50051";
    assert!(commands.contains(&format!("\ncargo run -- demo --listen {port}\n")), "{commands}");
    let mut service = cargo(&repository(), &["run", "--", "demo", "--listen", "127.0.0.1:0"])
        .stdout(Stdio::piped())
        .spawn()
        .map(Service)
        .unwrap();
    let mut lines = BufReader::new(service.0.stdout.take().unwrap()).lines().map(Result::unwrap);
    let first = lines.next().unwrap();
    let address = first.split(' ').find(|word| word.starts_with("127.0.0.1:")).unwrap();

    let package = package("first", dependencies);
    fs::write(package.join("retries.json"), table).unwrap();
    assert!(program.contains(port));
    fs::write(package.join("src/main.rs"), program.replace(port, address)).unwrap();
    let printed = succeed(&package, "run");
    assert_eq!(masked(&printed), masked(output), "{printed}");
    let arrived: Vec<String> = lines.by_ref().filter(|line| line.contains("arrives")).take(3).collect();
    for (line, (attempt, reply)) in
        arrived.iter().zip([(1, "UNAVAILABLE at once"), (2, "UNAVAILABLE at once"), (3, "OK after 400 ms")])
    {
        assert!(line.contains(&format!("attempt {attempt} arrives")) && line.ends_with(reply), "{line}");
    }
}

#[test]
fn the_generated_client_compiles_in_an_empty_package() {
    let [dependencies] = &texts(&["A generated client"], "toml")[..] else {
        unreachable!("one list of dependencies")
    };
    let package = package("generated", dependencies);
    copy(&repository().join("proto"), &package.join("proto"));
    let sections = ["A generated client", "Overriding the table", "Finding out what happened"];
    let (build, program): (Vec<_>, Vec<_>) =
        texts(&sections, "rust").into_iter().partition(|text| text.contains("tonic_gax_build"));
    assert_eq!((build.len(), program.len()), (1, 4));
    fs::write(package.join("build.rs"), build.concat()).unwrap();
    fs::write(package.join("src/main.rs"), program.concat()).unwrap();
    succeed(&package, "check");
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

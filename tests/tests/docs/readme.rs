//! The README as a newcomer takes it: each recipe is copied into an empty package, exactly as it stands there, and has
//! to compile; the first steps are two commands.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

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

/// An empty package of that name with these dependencies, ours from this repository.
fn package(name: &str, dependencies: &str) -> PathBuf {
    let package = Path::new(env!("CARGO_TARGET_TMPDIR")).join("readme").join(name);
    if package.exists() {
        fs::remove_dir_all(&package).unwrap();
    }
    fs::create_dir_all(package.join("src")).unwrap();
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

/// Compiles a package, without a network, into the folder that the workspace's own builds use.
fn check(package: &Path) {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["check", "--quiet", "--offline", "--target-dir"])
        .arg(target)
        .current_dir(package)
        .env_remove("RUSTFLAGS")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "the README's recipe does not compile in {}:\n{text}",
        package.display()
    );
}

#[test]
fn the_first_steps_are_two_commands() {
    let commands: Vec<_> = texts(&["Try it"], "sh").concat().lines().map(str::to_owned).collect();
    assert_eq!(commands, ["cargo run -- demo", "cargo test --workspace"]);
}

#[test]
fn the_layer_compiles_in_an_empty_package() {
    let section = ["Under the client you have"];
    let [dependencies] = &texts(&section, "toml")[..] else { unreachable!("one list of dependencies") };
    let package = package("layered", dependencies);
    let [program] = &texts(&section, "rust")[..] else { unreachable!("one program") };
    let body = program.lines().filter(|line| line.starts_with("    ")).count();
    assert!(body <= 10, "the shortest path has {body} lines");
    fs::write(package.join("src/main.rs"), program).unwrap();
    check(&package);
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
    check(&package);
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

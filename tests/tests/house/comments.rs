//! How comments begin: with their subject.

use crate::NOTHING;
use crate::texts::texts;

/// Every folder with Rust in it.
pub(crate) const FOLDERS: [&str; 7] =
    ["benches", "codegen", "crates", "examples", "fuzz/src", "src", "tests"];
/// Beginnings that make a reader look for the subject.
const VAGUE: [&str; 2] = ["What", "The same"];

/// The comment in a line, without its slashes.
fn comment(line: &str) -> Option<&str> {
    let whole = line.trim_start().strip_prefix("//");
    let text = whole.or_else(|| line.split_once(" // ").map(|(_, behind)| behind))?;
    Some(text.trim_start_matches(['/', '!']).trim_start())
}

/// The lines with a comment that begins vaguely.
fn vague(file: &str, text: &str) -> Vec<String> {
    let begins = |comment: &str| {
        let mut rest = VAGUE.iter().filter_map(|word| comment.strip_prefix(word));
        rest.any(|rest| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_'))
    };
    let lines = text.lines().enumerate();
    let found =
        lines.filter_map(|(number, line)| Some((number + 1, comment(line).filter(|text| begins(text))?)));
    found.map(|(number, text)| format!("{file}:{number}: {text}")).collect()
}

#[test]
fn comments_begin_with_their_subject() {
    let files = FOLDERS.iter().flat_map(|folder| texts(folder, &[".rs"]));
    let found: Vec<_> = files.flat_map(|(file, text)| vague(&file, &text)).collect();
    assert_eq!(found, NOTHING, "say of whom: \"The headers of ..\", \"Like `x`, but ..\", \"Whether ..\"");
}

#[test]
fn a_vague_beginning_is_found() {
    let text = [
        "#! What is it?",
        "#/ Whatever.",
        "fn f() {} # The same",
        "  # The sameness",
        "let x = \"What\"; #! no",
    ];
    let text = text.join("\n").replace('#', "//");
    assert_eq!(vague("a.rs", &text), ["a.rs:1: What is it?", "a.rs:3: The same"]);
}

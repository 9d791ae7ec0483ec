//! One word for one thing: what has a name in the glossary goes by no other.

use crate::{NOTHING, repository};
use std::fs;
use std::path::Path;

/// What nobody says, in lower case, and what is said in its place.
const RULED_OUT: [(&str, &str); 16] = [
    ("stock", "tonic's own client"),
    ("answer", "response, reply"),
    ("answers", "responses, replies"),
    ("verdict", "classification, result"),
    ("judge", "classify"),
    ("judged", "classified"),
    ("judges", "classifies"),
    ("forgive", "reset_backoff"),
    ("held back", "buffered"),
    ("holds back", "buffers"),
    ("may be sent twice", "is safe to retry"),
    ("server's word", "pushback, server delay"),
    ("time budget", "total timeout"),
    ("left of the budget", "left of the total timeout"),
    ("end of the budget", "end of the total timeout"),
    ("within the budget", "within the total timeout, or retry budget"),
];

/// The repository's folders with text that people read.
const FOLDERS: [&str; 9] =
    ["benches", "cli", "codegen", "docs", "examples", "retry", "src", "table", "tests"];
/// Its pages at the top. Those on what has changed name what was.
const PAGES: [&str; 4] = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "build.rs"];

/// Recorded cases have the words of those who recorded them.
fn is_own(path: &str) -> bool {
    !path.contains("/tests/data/")
        && !path.contains("conformance")
        && !path.ends_with("house/words.rs")
        && [".rs", ".md", ".snap", ".proto", ".toml", ".json"].iter().any(|end| path.ends_with(end))
}

fn files(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else {
            let name = path.to_str().unwrap();
            found.extend(is_own(name).then(|| name.to_owned()));
        }
    }
}

/// The lines that have a word which is ruled out, as a word of its own.
fn lines(file: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.to_lowercase();
        for (word, better) in RULED_OUT {
            let is_there = line.match_indices(word).any(|(start, _)| {
                let is_letter = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
                let before = line.get(..start).and_then(|before| before.chars().next_back());
                let after = line.get(start + word.len()..).and_then(|after| after.chars().next());
                !is_letter(before) && !is_letter(after)
            });
            if is_there {
                found.push(format!("{file}:{}: \"{word}\", say {better}", number + 1));
            }
        }
    }
    found
}

#[test]
fn one_word_for_one_thing() {
    let mut names: Vec<String> =
        PAGES.iter().map(|page| repository().join(page).display().to_string()).collect();
    for folder in FOLDERS {
        files(&repository().join(folder), &mut names);
    }
    assert!(names.len() > 700, "only {} files", names.len());
    let read = |name: &String| fs::read_to_string(name).unwrap_or_default();
    let found: Vec<_> = names.iter().flat_map(|name| lines(name, &read(name))).collect();
    assert_eq!(found, NOTHING, "the words are in docs/src/glossary.md");
}

#[test]
fn words_are_found_as_words() {
    let found =
        lines("a.md", "A reply.\nIt is judged by is_stock, held\nback, and livestock\nThe Server's Word");
    assert_eq!(
        found,
        [
            "a.md:2: \"stock\", say tonic's own client",
            "a.md:2: \"judged\", say classified",
            "a.md:4: \"server's word\", say pushback, server delay",
        ]
    );
}

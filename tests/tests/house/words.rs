//! One word for one thing: what has a name in the glossary goes by no other.

use crate::comments::FOLDERS;
use crate::source::Module;
use crate::texts::texts;
use crate::{NOTHING, repository};
use std::fs;

/// Words that are ruled out, in lower case, and the words in their place.
const RULED_OUT: [(&str, &str); 28] = [
    ("stock", "tonic's own client"),
    ("answer", "response, reply"),
    ("answers", "responses, replies"),
    ("judge", "classify"),
    ("judged", "classified"),
    ("judges", "classifies"),
    ("forgive", "reset_backoff"),
    ("forgives", "resets the back-off"),
    ("forgiven", "reset"),
    ("held back", "buffered"),
    ("holds back", "buffers"),
    ("may be sent twice", "is safe to retry"),
    ("server's word", "pushback, server delay"),
    ("server's words", "pushbacks, server delays"),
    ("reached the caller", "is committed"),
    ("total budget", "total timeout"),
    ("told", "notified, recorded, reported"),
    ("tell observers", "notify observers"),
    ("tells observers", "notifies observers"),
    ("tell the operation", "report to the operation"),
    ("tells the operation", "reports to the operation"),
    ("tell the caller", "report to the caller"),
    ("tells the caller", "reports to the caller"),
    ("audience", "recipients"),
    ("time budget", "total timeout"),
    ("left of the budget", "left of the total timeout"),
    ("end of the budget", "end of the total timeout"),
    ("within the budget", "within the total timeout, or retry budget"),
];

/// Phrases that pages for users avoid, in lower case, and what to write.
const UNCLEAR: [(&str, &str); 21] = [
    ("anew", "again, from the beginning"),
    ("beside", "next to, in addition to, compared with"),
    ("nobody", "no caller, no server"),
    ("goes on", "continues"),
    ("of its own", "its own, separate"),
    ("of their own", "their own, separate"),
    ("of yours", "your"),
    ("for ever", "forever"),
    ("heeded", "applied"),
    ("heeds", "applies"),
    ("in vain", "without success"),
    ("not there yet", "what there is, or what to do"),
    ("answered", "replied, with a reply"),
    ("in silence", "silently, without a message"),
    ("knows of", "has, contains"),
    ("brings along", "has"),
    ("whoever", "the caller, the task, the user"),
    ("somebody", "a caller, an operator"),
    ("so long as", "as long as"),
    ("is away", "is missing"),
    ("unless said", "by default"),
];

/// Names of types that are ruled out, and the names in their place.
const REPLACED: [(&str, &str); 12] = [
    ("Several", "Attempts"),
    ("Current", "AttemptContext"),
    ("Surroundings", "DriverWorld"),
    ("Found", "MethodMatch"),
    ("Usual", "ExampleRequest"),
    ("OwnParts", "ExtraHeaders"),
    ("Basis", "ConfigSource"),
    ("Audience", "Recipients"),
    ("MethodPlan", "MethodConfig"),
    ("HttpPlan", "HttpConfig"),
    ("Recipe", "BackoffStrategy"),
    ("ServerWord", "ServerDelay"),
];

/// The repository's pages at the top. Those on what has changed name what was.
const PAGES: [&str; 4] = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "build.rs"];

/// The ends of files that people read.
const ENDS: [&str; 6] = [".rs", ".md", ".snap", ".proto", ".toml", ".json"];

/// Recorded cases have the words of those who recorded them.
fn is_own(file: &str) -> bool {
    !file.contains("/tests/data/") && !file.contains("conformance") && !file.ends_with("house/words.rs")
}

/// The lines that have one of these words.
fn lines(file: &str, text: &str, words: &[(&str, &str)]) -> Vec<String> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.to_lowercase();
        for &(word, better) in words {
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
    let page = |&page: &&str| (page.to_owned(), fs::read_to_string(repository().join(page)).unwrap());
    let mut files: Vec<_> = PAGES.iter().map(page).collect();
    files.extend(
        FOLDERS
            .iter()
            .chain(&["docs"])
            .flat_map(|folder| texts(folder, &ENDS))
            .filter(|(file, _)| is_own(file)),
    );
    assert!(files.len() > 700, "only {} files", files.len());
    let found: Vec<_> = files.iter().flat_map(|(file, text)| lines(file, text, &RULED_OUT)).collect();
    assert_eq!(found, NOTHING, "the words are in docs/src/features.md#glossary");
}

#[test]
fn pages_are_in_plain_english() {
    let pages = ["README.md", "CONTRIBUTING.md"];
    let page = |page: &str| (page.to_owned(), fs::read_to_string(repository().join(page)).unwrap());
    // The benchmarks print the page of performance.
    let guide = texts("docs/src", &[".md"]).into_iter().filter(|(file, _)| !file.ends_with("performance.md"));
    let pages = pages.into_iter().map(page).chain(guide);
    // `Resume::Anew` has its name.
    let pages = pages.map(|(file, text)| (file, text.replace("`Anew(request)`", "")));
    let found: Vec<_> = pages.flat_map(|(file, text)| lines(&file, &text, &UNCLEAR)).collect();
    assert_eq!(found, NOTHING);
}

/// The texts in quotes of a line of code; `is_open`: it begins with the rest of one.
fn quoted(line: &str, is_open: bool) -> String {
    let line = line.replace("\\\"", "'").replace("'\"'", "''");
    line.split('"').skip(usize::from(!is_open)).step_by(2).collect::<Vec<_>>().join(" | ")
}

/// The texts of a file's code, each in its line, without the reasons that lints are given.
fn messages(text: &str) -> String {
    let mut is_open = false;
    let lines = text.lines().map(|line| {
        let is_code = is_open || !line.trim_start().starts_with("//") && !line.contains("reason = \"");
        let quoted = if is_code { quoted(line, is_open) } else { String::new() };
        is_open = is_code && line.ends_with('\\');
        quoted + "\n"
    });
    lines.collect()
}

#[test]
fn messages_are_in_plain_english() {
    let folders =
        FOLDERS.iter().filter(|folder| !["benches", "examples", "fuzz/src", "tests"].contains(folder));
    let files = folders.flat_map(|folder| texts(folder, &[".rs"]));
    let files =
        files.filter(|(file, _)| is_own(file) && !file.contains("tests/") && !file.ends_with("tests.rs"));
    let found: Vec<_> = files.flat_map(|(file, text)| lines(&file, &messages(&text), &UNCLEAR)).collect();
    assert_eq!(found, NOTHING);
}

#[test]
fn texts_are_found_in_code() {
    let text = "// \"anew\"\nlet a = \"b \\\"c\" + \"d \\\n    e\";\n";
    assert_eq!(messages(text), "\nb 'c | d \\\n    e\n");
}

/// The types of a file that have a name which was replaced.
fn types(module: &Module) -> Vec<String> {
    let types = module.tokens.windows(2).filter_map(|window| match window {
        [kind, name] if ["struct", "enum", "trait", "type"].contains(&&*kind.text) => Some(name),
        _ => None,
    });
    let found =
        types.filter_map(|name| REPLACED.iter().find(|(old, _)| *old == name.text).zip(Some(name.line)));
    found.map(|((old, new), line)| format!("{}:{line}: {old}, say {new}", module.file)).collect()
}

#[test]
fn types_have_the_words_of_the_glossary() {
    let files = FOLDERS.iter().flat_map(|folder| texts(folder, &[".rs"]));
    let found: Vec<_> = files.flat_map(|(file, text)| types(&Module::of(&file, &text))).collect();
    assert_eq!(found, NOTHING, "the words are in docs/src/features.md#glossary");
}

#[test]
fn a_type_with_a_name_that_was_replaced_is_found() {
    let text = "struct Founder;\npub(crate) struct Found {\n    usual: Usual,\n}\n// enum Basis\n";
    assert_eq!(types(&Module::of("tests/a.rs", text)), ["tests/a.rs:2: Found, say MethodMatch"]);
}

#[test]
fn words_are_found_as_words() {
    let found = lines(
        "a.md",
        "A reply.\nIt is judged by is_stock, held\nback, and livestock\nThe Server's Word",
        &RULED_OUT,
    );
    assert_eq!(
        found,
        [
            "a.md:2: \"stock\", say tonic's own client",
            "a.md:2: \"judged\", say classified",
            "a.md:4: \"server's word\", say pushback, server delay",
        ]
    );
}

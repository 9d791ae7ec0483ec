//! Pages: the guide, the front pages of the crates, and those that a newcomer looks for.

use crate::links::Page;
use crate::texts::texts;
use crate::{NOTHING, repository};
use std::collections::BTreeSet;
use std::fs;

/// The published crates' folders.
const PUBLISHED: [&str; 17] = [
    "",
    "crates/text/",
    "crates/retry/",
    "crates/table/",
    "crates/driver/",
    "crates/wire/",
    "crates/http/",
    "crates/transfer/",
    "crates/connection/",
    "crates/batching/",
    "crates/testing/",
    "crates/rest/",
    "crates/grpc/",
    "crates/streams/",
    "crates/client/",
    "codegen/",
    "crates/cli/",
];
/// Pages that are read in a clone or on the repository's site, besides those of the guide.
const PAGES: [&str; 6] = [
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "ROADMAP.md",
    "SECURITY.md",
    "crates/grpc/UPSTREAM.md",
    "examples/README.md",
];

/// The text of a file in the repository; an empty one for a folder.
fn read(file: &str) -> Option<String> {
    let path = repository().join(file);
    if path.is_dir() {
        return Some(String::new());
    }
    // Pictures are linked, too.
    fs::read(path).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

fn page(file: &str) -> Page {
    Page::of(file, &read(file).unwrap_or_else(|| panic!("there is no {file}")))
}

/// The files of the guide's pages, except for its table of contents.
fn guide() -> BTreeSet<String> {
    let files = texts("docs/src", &[".md"]).into_iter().map(|(file, _)| file);
    files.filter(|file| file != "docs/src/SUMMARY.md").collect()
}

#[test]
fn links_lead_somewhere() {
    let fronts = PUBLISHED.iter().map(|folder| format!("{folder}README.md"));
    let others = PAGES.iter().map(|&name| name.to_owned()).chain(["docs/src/SUMMARY.md".to_owned()]);
    let contributing = texts("docs/contributing", &[".md"]).into_iter().map(|(file, _)| file);
    let files = guide().into_iter().chain(fronts).chain(others).chain(contributing);
    let pages: Vec<_> = files.map(|file| page(&file)).collect();
    let broken: Vec<_> = pages.iter().flat_map(|page| page.broken(&read)).collect();
    assert_eq!(broken, NOTHING);
}

#[test]
fn the_guide_lists_each_page() {
    let listed: BTreeSet<_> = page("docs/src/SUMMARY.md").targets().collect();
    for file in guide() {
        assert!(listed.contains(&file), "docs/src/SUMMARY.md doesn't list {file}");
    }
}

#[test]
fn front_pages_work_where_there_is_no_clone() {
    // The first is read in a clone, or where it is published, which resolves its links. rustdoc shows the others.
    let shown = PUBLISHED.iter().filter(|folder| !folder.is_empty());
    let relative: Vec<_> = shown.flat_map(|folder| page(&format!("{folder}README.md")).relative()).collect();
    assert_eq!(relative, NOTHING, "docs.rs shows this page: link to the repository's site");
}

#[test]
fn what_people_copy_has_no_hidden_lines() {
    for name in guide().into_iter().chain(PUBLISHED.iter().map(|folder| format!("{folder}README.md"))) {
        let text = read(&name).unwrap();
        let (mut is_rust, mut hidden) = (false, Vec::new());
        for line in text.lines() {
            if let Some(info) = line.strip_prefix("```") {
                is_rust = info.starts_with("rust");
            } else if is_rust && (line == "#" || line.starts_with("# ")) {
                hidden.push(line);
            }
        }
        assert_eq!(hidden, [""; 0], "{name}: write `<!-- setup: CODE -->` before the block");
    }
}

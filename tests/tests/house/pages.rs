//! Pages: the guide, the front pages of the crates, and those that a newcomer looks for.

use crate::links::Page;
use crate::texts::texts;
use crate::{NOTHING, repository};
use std::collections::BTreeSet;
use std::fs;

/// The published crates' folders.
const PUBLISHED: [&str; 15] = [
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
    "codegen/",
    "crates/cli/",
];
/// Pages that are read in a clone or on the repository's site, besides those of the guide.
const PAGES: [&str; 12] = [
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "ROADMAP.md",
    "SECURITY.md",
    "crates/grpc/UPSTREAM.md",
    "docs/contributing/architecture.md",
    "docs/contributing/google-retry-documents.md",
    "docs/contributing/lint-examples.md",
    "docs/contributing/misbehaviours.md",
    "docs/contributing/mutants.md",
    "docs/contributing/tables.md",
    "examples/README.md",
];

/// The text of a file in the repository; an empty one for a folder.
fn read(file: &str) -> Option<String> {
    let path = repository().join(file);
    if path.is_dir() { Some(String::new()) } else { fs::read_to_string(path).ok() }
}

fn page(file: &str) -> Page {
    Page::of(file, &read(file).unwrap_or_else(|| panic!("there is no {file}")))
}

/// The guide's pages, but for its table of contents.
fn guide() -> BTreeSet<String> {
    let entries = fs::read_dir(repository().join("docs/src")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let pages = paths.filter(|path| path.extension().is_some_and(|end| end == "md"));
    let names = pages.map(|path| path.file_name().unwrap().to_str().unwrap().to_owned());
    names.filter(|name| name != "SUMMARY.md").collect()
}

#[test]
fn links_lead_somewhere() {
    let guide = guide().into_iter().map(|name| format!("docs/src/{name}"));
    let fronts = PUBLISHED.iter().map(|folder| format!("{folder}README.md"));
    let others = PAGES.iter().map(|&name| name.to_owned());
    let files = guide.chain(fronts).chain(others).chain(["docs/src/SUMMARY.md".to_owned()]);
    let pages: Vec<_> = files.map(|file| page(&file)).collect();
    let broken: Vec<_> = pages.iter().flat_map(|page| page.broken(&read)).collect();
    assert_eq!(broken, NOTHING);
    let twice: Vec<_> = pages.iter().flat_map(Page::twice).collect();
    assert!(twice.is_empty(), "{twice:?}");
}

#[test]
fn the_guide_lists_each_page() {
    let listed: BTreeSet<_> = page("docs/src/SUMMARY.md").targets().collect();
    for name in guide() {
        assert!(listed.contains(&format!("docs/src/{name}")), "docs/src/SUMMARY.md doesn't list {name}");
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
fn docs_rs_builds_each_crate_with_all_features_and_shows_them() {
    for folder in PUBLISHED {
        let manifest = read(&format!("{folder}Cargo.toml")).unwrap();
        let metadata =
            "[package.metadata.docs.rs]\nall-features = true\nrustdoc-args = [\"--cfg\", \"docsrs\"]\n";
        assert!(manifest.contains(metadata), "{folder}Cargo.toml says nothing to docs.rs");
        assert!(manifest.contains("readme = \"README.md\""), "{folder}Cargo.toml has no front page");
        let Some(root) = read(&format!("{folder}src/lib.rs")) else { continue };
        assert!(
            root.contains("#![cfg_attr(docsrs, feature(doc_cfg))]"),
            "{folder}src/lib.rs shows no features"
        );
        let front = if folder.is_empty() { "//! " } else { "#![doc = include_str!(\"../README.md\")]" };
        assert!(root.starts_with(front), "{folder}src/lib.rs has no front page");
    }
}

#[test]
fn the_guide_s_style_names_the_columns_of_the_comparison() {
    let (page, style) = (read("docs/src/comparison.md").unwrap(), read("docs/book.css").unwrap());
    let heads: BTreeSet<_> = page.lines().filter(|line| line.starts_with("| | gax-java")).collect();
    let [head] = Vec::from_iter(heads)[..] else { unreachable!("its tables have one head") };
    let names =
        head.split('|').skip(2).map(|name| name.trim().replace('`', "")).filter(|name| !name.is_empty());
    let names: Vec<_> = names.collect();
    let styled =
        style.lines().filter_map(|line| line.split_once("::before { content: \"")?.1.split_once('"'));
    assert_eq!(names, styled.map(|(name, _)| name).collect::<Vec<_>>());
}

#[test]
fn the_guide_s_pictures_are_its_own() {
    for name in guide() {
        let text = read(&format!("docs/src/{name}")).unwrap();
        let images =
            text.match_indices("![").filter_map(|(at, _)| text[at..].split_once("](")?.1.split_once(')'));
        for (image, _) in images {
            assert!(
                image.starts_with("pictures/"),
                "docs/src/{name} shows {image}, which a reader without a network misses"
            );
        }
    }
}

/// The lines of a page whose row has fewer or more cells than its table, or stands in no table.
fn torn_rows(file: &str, text: &str) -> Vec<String> {
    let cells = |line: &str| line.replace("\\|", "").matches('|').count();
    let is_rule = |line: &&str| line.starts_with('|') && line.chars().all(|letter| "|-: ".contains(letter));
    let (mut found, mut width, mut is_code) = (Vec::new(), None, false);
    let mut lines = text.lines().enumerate().peekable();
    while let Some((number, line)) = lines.next() {
        is_code ^= line.trim_start().starts_with("```");
        if is_code || !line.starts_with('|') {
            width = None;
            continue;
        }
        let has_rule = lines.peek().is_some_and(|(_, next)| is_rule(next));
        let is_whole = width.map_or(has_rule, |width| cells(line) == width);
        width.get_or_insert(cells(line));
        if !is_whole {
            found.push(format!("{file}:{}: {line}", number + 1));
        }
    }
    found
}

#[test]
fn each_row_of_a_table_has_the_cells_of_its_head() {
    let guide = guide().into_iter().map(|name| format!("docs/src/{name}"));
    let fronts = PUBLISHED.iter().map(|folder| format!("{folder}README.md"));
    let files = guide.chain(fronts).chain(PAGES.map(str::to_owned));
    let torn: Vec<_> = files.flat_map(|file| torn_rows(&file, &read(&file).unwrap())).collect();
    assert_eq!(torn, NOTHING);
}

#[test]
fn a_row_that_is_torn_off_its_table_is_found() {
    let text = "| a | b |\n| --- | --- |\n| 1 | `x \\| y` |\n| 1 | 2 | 3 |\n\n| 4 | 5 |\n| 6 | 7 |\n\n```\n| 1 |\n```\n";
    let lines = ["a.md:4: | 1 | 2 | 3 |", "a.md:6: | 4 | 5 |"];
    assert_eq!(torn_rows("a.md", text), lines);
}

/// The numbers of a text, such as R-001-3 and R-001-4 of `R-001-3..4`.
fn numbers(text: &str) -> Vec<String> {
    let words =
        text.split(|c: char| c.is_whitespace() || ",;|".contains(c)).map(|word| word.trim_end_matches('.'));
    let numbers = words.filter(|word| word.starts_with("R-")).flat_map(|word| {
        let (document, range) = word.rsplit_once('-').unwrap();
        let (first, last) = range.split_once("..").unwrap_or((range, range));
        let range = first.parse::<u32>().unwrap()..=last.parse().unwrap();
        range.map(move |number| format!("{document}-{number}"))
    });
    numbers.collect()
}

/// The tests that a cell of a table names.
fn tests(row: &str) -> Vec<&str> {
    let cell = row.trim_end_matches([' ', '|']).rsplit(" | ").next().unwrap();
    cell.split('`').skip(1).step_by(2).collect()
}

#[test]
fn each_rule_of_googles_documents_has_a_row_and_its_tests_exist() {
    let text = read("docs/contributing/google-retry-documents.md").unwrap();
    let rows: Vec<_> = text.lines().filter(|line| line.starts_with("| R-")).collect();
    let (_, listed) = text.split_once("\nThe statements are numbered").unwrap();
    let listed = numbers(listed.split_once("\n\n").unwrap().0);
    assert_eq!(rows.iter().flat_map(|row| numbers(&row[..14])).collect::<Vec<_>>(), listed);
    assert_eq!(listed.len(), 120);
    let mut known = String::new();
    for folder in ["crates/retry/src", "crates/table/src", "tests/tests"] {
        for (_, code) in texts(folder, &[".rs"]) {
            known.push_str(&code);
        }
    }
    for row in rows {
        let named = tests(row);
        let is_outside = row.ends_with("| *client* |") || row.ends_with("| *outside* |");
        assert_eq!(is_outside, named.is_empty(), "{row}");
        let gone: Vec<_> = named.iter().filter(|name| !known.contains(&format!("fn {name}() {{"))).collect();
        assert!(gone.is_empty(), "{row}: there is no test {gone:?}");
    }
}

#[test]
fn what_people_copy_has_no_hidden_lines() {
    let guide = guide().into_iter().map(|name| format!("docs/src/{name}"));
    for name in guide.chain(PUBLISHED.iter().map(|folder| format!("{folder}README.md"))) {
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

/// The actions of a workflow that aren't named by a whole commit hash, with their version in a comment.
fn movable_actions(file: &str, text: &str) -> Vec<String> {
    let uses =
        text.lines().filter_map(|line| line.trim_start().trim_start_matches("- ").strip_prefix("uses: "));
    let is_pinned = |action: &str| {
        let (reference, version) = action.split_once(" # v").unwrap_or((action, ""));
        let hash = reference.split_once('@').map_or("", |(_, hash)| hash);
        hash.len() == 40 && hash.chars().all(|digit| digit.is_ascii_hexdigit()) && !version.is_empty()
    };
    uses.filter(|action| !is_pinned(action)).map(|action| format!("{file}: {action}")).collect()
}

#[test]
fn actions_are_pinned_to_commits() {
    let workflows = texts(".github/workflows", &[".yml", ".yaml"]);
    assert!(workflows.len() >= 3, "only {} workflows", workflows.len());
    let found: Vec<_> = workflows.iter().flat_map(|(file, text)| movable_actions(file, text)).collect();
    assert_eq!(found, NOTHING, "a tag can be moved: name the commit, and the version in a comment");
}

#[test]
fn an_action_that_is_named_by_a_tag_is_found() {
    let hash = "0123456789abcdef0123456789abcdef01234567";
    let text = format!("steps:\n  - uses: a/b@{hash} # v1.2\n  - uses: a/b@v1\n    uses: a/b@{hash}\n");
    assert_eq!(movable_actions("a.yml", &text), ["a.yml: a/b@v1".to_owned(), format!("a.yml: a/b@{hash}")]);
}

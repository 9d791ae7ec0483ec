//! Folders have few rooms, and their `mod.rs` declares and re-exports them.

use crate::comments::FOLDERS;
use crate::source::Module;
use crate::texts::texts;
use crate::{NOTHING, crates, repository};
use std::fs;
use std::path::Path;

/// The most files and folders in a folder.
const MOST: usize = 12;

/// The first thing in a file that is neither a module nor an import.
fn defined(module: &Module) -> Option<String> {
    let mut rest = &*module.tokens;
    while let Some((first, after)) = rest.split_first() {
        let until = |end: &str| {
            let end = after.iter().position(|token| token.text == end);
            end.and_then(|end| after.get(end + 1..)).unwrap_or_default()
        };
        rest = match (&*first.text, after) {
            ("#", _) => until("]"),
            ("pub", [open, ..]) if open.text == "(" => until(")"),
            ("pub", _) => after,
            ("use", _) => until(";"),
            ("mod", [_, end, after @ ..]) if end.text == ";" => after,
            _ => return Some(format!("{}:{}: {}", module.file, first.line, first.text)),
        };
    }
    None
}

#[test]
fn mod_rs_declares_and_re_exports() {
    let files = FOLDERS.iter().flat_map(|folder| texts(folder, &["/mod.rs"]));
    let found: Vec<_> = files.filter_map(|(file, text)| defined(&Module::of(&file, &text))).collect();
    assert_eq!(found, NOTHING, "move it into a file of its own, beside the others");
}

#[test]
fn a_definition_in_mod_rs_is_found() {
    let of = |text: &str| defined(&Module::of("src/a/mod.rs", text));
    assert_eq!(
        of(
            "//! A.\n#[cfg(feature = \"x\")]\nmod b;\npub(crate) use b::{C, D};\npub use e::*;\n#[cfg(test)]\nmod tests;\n"
        ),
        None
    );
    assert_eq!(of("mod b;\npub struct A;\n").as_deref(), Some("src/a/mod.rs:2: struct"));
    assert_eq!(of("mod b {\n}\n").as_deref(), Some("src/a/mod.rs:1: mod"));
}

/// A file of less than 25 lines, or a folder with too many files and folders.
fn misshapen(module: &Module) -> Option<String> {
    let (rooms, is_folder) = (module.children().count(), module.file.ends_with("/mod.rs"));
    if rooms > MOST {
        return Some(format!("{} has {rooms} rooms", module.file));
    }
    (module.lines < 25 && !is_folder).then(|| format!("{} has {} lines", module.file, module.lines))
}

#[test]
fn the_rooms_of_gax_table_are_few_and_none_is_tiny() {
    let crates = crates();
    let (_, modules) = crates.iter().find(|(folder, _)| *folder == "crates/table/src/").unwrap();
    let found: Vec<_> = modules.iter().filter_map(misshapen).collect();
    assert_eq!(found, NOTHING, "join files, or make a folder of some");
}

/// Whether a file declares its folder's rooms, and is none itself.
fn is_root(file: &Path) -> bool {
    file.file_name().is_some_and(|name| name == "main.rs" || name == "mod.rs")
}

/// Mistakes in a folder of tests: a file beside the groups, or a folder with too many rooms.
fn ungrouped(folder: &Path) -> Vec<String> {
    let (mut wrong, mut rooms) = (Vec::new(), 0);
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            let (files, group) = (fs::read_dir(&path).unwrap(), path.display());
            let inner = files.filter(|file| !is_root(&file.as_ref().unwrap().path())).count();
            if inner > MOST {
                wrong.push(format!("{group} has {inner} rooms"));
            }
            rooms += 1;
        } else if !is_root(&path) {
            wrong.push(format!("{} stands beside the groups", path.display()));
        }
    }
    if rooms > MOST {
        wrong.push(format!("{} has {rooms} rooms", folder.display()));
    }
    wrong
}

#[test]
fn end_to_end_tests_stand_in_folders_of_a_dozen_at_most() {
    assert_eq!(ungrouped(&repository().join("tests/tests")), NOTHING, "a new file goes where it fits");
    assert!(!ungrouped(&repository().join("tests/src")).is_empty(), "it has files, and they are found");
}

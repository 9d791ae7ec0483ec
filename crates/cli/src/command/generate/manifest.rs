//! The list of the files that a run made, which lies next to them.

use crate::failure::{Failure, usage};
use std::collections::BTreeSet;
use std::path::{Component, Path};

/// The list's name.
pub(super) const NAME: &str = ".gax-generated";

const HEAD: &str = "# Written by gax generate: the files here that it made, and may replace or remove.\n";

/// The list of these files.
pub(super) fn write<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let sorted: BTreeSet<&str> = names.into_iter().collect();
    sorted.into_iter().fold(HEAD.to_owned(), |text, name| text + name + "\n")
}

/// The names in a list. They lead nowhere else, since what they name may be removed.
pub(super) fn read(path: &Path, content: &[u8]) -> Result<BTreeSet<String>, Failure> {
    let text = String::from_utf8_lossy(content);
    let lines = text.lines().map(str::trim).enumerate();
    let names = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')).map(|(index, name)| {
        if is_file_here(name) {
            return Ok(name.to_owned());
        }
        Err(usage!(
            "--out: {}:{}: {name:?} is not a Rust file of this directory; remove the line",
            path.display(),
            index + 1
        ))
    });
    names.collect()
}

fn is_file_here(name: &str) -> bool {
    let path = Path::new(name);
    let mut components = path.components();
    let is_plain = matches!((components.next(), components.next()), (Some(Component::Normal(_)), None));
    is_plain
        && !name.contains(['/', '\\', ':'])
        && path.extension().is_some_and(|extension| extension == "rs")
}

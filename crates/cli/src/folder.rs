//! Retry tables in folders.

use crate::failure::{Failure, usage};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// How the name of a table's file can end.
const ENDINGS: [&str; 4] = ["json", "yaml", "yml", "toml"];

/// How the names of tables end.
const NAMES: [&str; 5] =
    ["service_config.json", "client_config.json", "_gapic.yaml", "retry_table.toml", "retry.toml"];

/// The files in a folder, and in those in it, that may be tables by their names, in order. What is hidden, and what
/// links lead to, is left out.
pub(crate) fn files_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    collect(folder, &mut found)?;
    found.sort();
    Ok(found)
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        if kind.is_dir() {
            collect(&path, found)?;
        } else if kind.is_file() && may_be_table(&path) {
            found.push(path);
        }
    }
    Ok(())
}

/// Returns whether a file may be a table by its name.
pub(crate) fn may_be_table(path: &Path) -> bool {
    ending(path).is_some_and(|ending| ENDINGS.contains(&ending))
}

/// That no table is in a folder.
pub(crate) fn no_table_in(folder: &Path) -> Failure {
    let endings = NAMES.join(", ");
    usage!(
        "no retry table is in {}; name the file, or let its name end with one of {endings}",
        folder.display()
    )
}

/// Returns whether a file is a retry table by its name, whatever it holds, or else by what it holds: other files stand
/// next to tables.
pub(crate) fn is_table(path: &Path, content: &[u8]) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    if NAMES.iter().any(|end| name.ends_with(end)) {
        return true;
    }
    let holds = |text: &str| content.windows(text.len()).any(|part| part == text.as_bytes());
    match ending(path) {
        Some("json") => {
            ["\"methodConfig\"", "\"method_config\"", "\"retry_params_name\""].into_iter().any(holds)
        }
        Some("toml") => ["[[entry]]", "[http]", "[[http.rule]]"].into_iter().any(holds),
        _ => holds("\ninterfaces:") || content.starts_with(b"interfaces:"),
    }
}

fn ending(path: &Path) -> Option<&str> {
    path.extension()?.to_str()
}

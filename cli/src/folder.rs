//! Retry tables in folders.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What a table's file can end with.
const ENDINGS: [&str; 4] = ["json", "yaml", "yml", "toml"];

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

/// Whether a file may be a table by its name.
pub(crate) fn may_be_table(path: &Path) -> bool {
    ending(path).is_some_and(|ending| ENDINGS.contains(&ending))
}

/// Whether a file's content looks like a retry table: other files stand beside them.
pub(crate) fn is_table(path: &Path, content: &[u8]) -> bool {
    let holds = |text: &str| content.windows(text.len()).any(|part| part == text.as_bytes());
    match ending(path) {
        Some("json") => {
            ["\"methodConfig\"", "\"method_config\"", "\"retry_params_name\""].into_iter().any(holds)
        }
        Some("toml") => holds("[[entry]]"),
        _ => holds("\ninterfaces:") || content.starts_with(b"interfaces:"),
    }
}

fn ending(path: &Path) -> Option<&str> {
    path.extension()?.to_str()
}

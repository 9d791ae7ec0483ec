//! The changes that a file needs, as a unified diff.

use super::directory::{File, State};
use similar::TextDiff;
use std::path::Path;

/// The lines around a change.
const CONTEXT: usize = 3;

/// The difference, in the form that `patch` takes; empty for a file that is up to date.
pub(super) fn unified(directory: &Path, file: &File) -> String {
    const NOWHERE: &str = "/dev/null";
    let path = directory.join(&file.name).display().to_string().replace('\\', "/");
    let (old_path, new_path) = match file.state {
        State::Same => return String::new(),
        State::Changed => (path.as_str(), path.as_str()),
        State::Missing => (NOWHERE, path.as_str()),
        State::LeftOver => (path.as_str(), NOWHERE),
    };
    let old = String::from_utf8_lossy(&file.old);
    let diff = TextDiff::from_lines(old.as_ref(), &file.new);
    diff.unified_diff().context_radius(CONTEXT).header(old_path, new_path).to_string()
}

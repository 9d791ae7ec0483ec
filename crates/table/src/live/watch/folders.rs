//! Where the change of a file is seen.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::{fs, io};

/// More links on the way to one file make no sense; the system has the same limit.
const MAX_LINKS: usize = 40;

/// The folders in which something happens when the path leads to another content: the one of the file itself, and those of all links on
/// the way there. Where that one is missing, the closest one above it that is there. A Kubernetes volume, for one, has
/// `table.json -> ..data/table.json` and `..data -> ..2026_11_22`, of which the second is replaced.
pub(super) fn folders(path: &Path) -> io::Result<BTreeSet<PathBuf>> {
    let mut folders = BTreeSet::new();
    let mut resolved = PathBuf::new();
    let mut ahead = parts(&std::path::absolute(path)?);
    let mut links = 0;
    while let Some(part) = ahead.pop() {
        match part {
            Part::Root(root) => resolved = PathBuf::from(root),
            Part::Up => {
                resolved.pop();
            }
            Part::Name(name) => {
                let next = resolved.join(name);
                match fs::read_link(&next) {
                    Ok(target) if links < MAX_LINKS => {
                        links += 1;
                        folders.insert(resolved.clone());
                        ahead.extend(parts(&target));
                    }
                    // No link, or nothing at all.
                    _ => resolved = next,
                }
            }
        }
    }
    // Of a folder that is missing its parent, where it will be made again.
    let folder = resolved.ancestors().skip(1).find(|folder| folder.is_dir());
    folders.extend(folder.map(Path::to_owned));
    Ok(folders)
}

enum Part {
    Root(OsString),
    Up,
    Name(OsString),
}

/// The parts of a path, the last one first.
fn parts(path: &Path) -> Vec<Part> {
    let mut root = OsString::new();
    let mut parts = Vec::new();
    for component in path.components() {
        match component {
            Component::Prefix(prefix) => root.push(prefix.as_os_str()),
            Component::RootDir => {
                root.push(component.as_os_str());
                parts.push(Part::Root(root.clone()));
            }
            Component::CurDir => {}
            Component::ParentDir => parts.push(Part::Up),
            Component::Normal(name) => parts.push(Part::Name(name.to_owned())),
        }
    }
    parts.reverse();
    parts
}

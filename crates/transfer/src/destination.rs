//! The places of the files that transfers write.

use crate::checksum::{Checksums, Hasher};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The most links that lead to a file.
const MAX_LINKS: u32 = 40;
/// The longest name of a file, in bytes, on most file systems.
const MAX_NAME: usize = 255;
/// The length to which a longer one is cut.
const KEPT: usize = 180;

/// The file that is written for that path: where its links lead, even if nothing is there yet.
///
/// # Errors
///
/// The path isn't that of a regular file, or can't be looked at.
pub(super) fn destination(path: &Path) -> io::Result<PathBuf> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => return Err(io::Error::other("it is the name of a folder")),
        Ok(metadata) if !metadata.is_file() => return Err(io::Error::other("it is not a regular file")),
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ if path.file_name().is_none() => return Err(io::Error::other("it is the name of a folder")),
        _ => {}
    }
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        if !fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_symlink()) {
            return Ok(path);
        }
        let target = fs::read_link(&path)?;
        path = path.parent().map(|folder| folder.join(&target)).unwrap_or(target);
    }
    Err(io::Error::other("too many links lead on from it"))
}

/// The path with that at its end. A name that would be too long is cut, and gets a checksum of the whole.
pub(super) fn beside(path: &Path, end: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default();
    if name.len() + end.len() <= MAX_NAME {
        let mut name = name.to_owned();
        name.push(end);
        return path.with_file_name(name);
    }
    path.with_file_name(format!("{}{end}", shortened(name)))
}

fn shortened(name: &OsStr) -> String {
    let mut hasher = Hasher::new(Checksums::MD5);
    hasher.update(name.as_encoded_bytes());
    let sum = u128::from_be_bytes(hasher.sums().md5.unwrap_or_default());
    let kept = name.to_string_lossy();
    let kept = kept.char_indices().take_while(|(place, letter)| place + letter.len_utf8() <= KEPT);
    format!("{}-{sum:032x}", kept.map(|(_, letter)| letter).collect::<String>())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::tests::Folder;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_lead_to_the_file_that_is_written() {
        let folder = Folder::new();
        let file = |name: &str| folder.file(name);
        fs::create_dir(file("d")).unwrap();
        symlink("b", file("a")).unwrap();
        symlink(file("d/c"), file("b")).unwrap();
        symlink("../e", file("d/c")).unwrap();
        let found = |name: &str| destination(&file(name)).map_err(|error| error.to_string());
        for is_there in [false, true] {
            for name in ["a", "b", "d/c"] {
                let end = found(name).unwrap();
                assert_eq!((end.file_name(), end.exists()), (Some(OsStr::new("e")), is_there), "{name}");
            }
            fs::write(file("d/../e"), "").unwrap();
        }
        symlink("loop", file("loop")).unwrap();
        symlink("d", file("to-folder")).unwrap();
        symlink("/dev/null", file("null")).unwrap();
        assert!(found("loop").is_err() && found("e/below").is_err() && found(&"x".repeat(256)).is_err());
        for name in ["d", "to-folder", "", "d/.."] {
            assert_eq!(found(name).unwrap_err(), "it is the name of a folder", "{name}");
        }
        assert_eq!(found("null").unwrap_err(), "it is not a regular file");
        assert_eq!(destination(Path::new("/dev/null")).unwrap_err().to_string(), "it is not a regular file");
        assert_eq!(found("d/new").unwrap(), file("d/new"));
    }

    #[test]
    fn names_that_are_too_long_are_cut() {
        let name = |length: usize| "\u{fc}".repeat(length / 2);
        let of = |name: &str, end: &str| beside(Path::new("f").join(name).as_path(), end);
        assert_eq!(of(&name(246), ".gax-part"), Path::new("f").join(format!("{}.gax-part", name(246))));
        for length in [248, 254] {
            let state = of(&name(length), ".gax-state");
            for path in [of(&name(length), ".gax-part"), beside(&state, ".gax-new"), state] {
                let name = path.file_name().unwrap().to_str().unwrap();
                assert!(path.starts_with("f") && name.len() <= 255 && name.contains(".gax-"), "{name}");
            }
        }
        assert_ne!(of(&format!("{}a", name(252)), ".gax-part"), of(&format!("{}b", name(252)), ".gax-part"));
    }
}

//! Files that one download at a time writes to.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::path::Path;

/// How often a file may get another name while it is opened.
const MAX_TRIES: u32 = 16;

/// Opens a file to read and write, and makes it if it isn't there. As long as the result is open, this function returns the file to no
/// other caller, neither in this process nor in another one. `None`: another caller has it.
///
/// If the system or the file system has no locks, every caller gets it.
///
/// # Errors
///
/// It can't be opened, or is not a regular file.
pub(super) fn open_alone(path: &Path) -> io::Result<Option<File>> {
    for _ in 0..MAX_TRIES {
        if fs::symlink_metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
            return Err(io::Error::other("it is not a regular file"));
        }
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        if !lock(&file)? {
            return Ok(None);
        }
        // Whoever had it until now may have given it another name.
        if is_at(&file, path)? {
            return Ok(Some(file));
        }
    }
    Ok(None)
}

/// Locks a file; false: another caller has locked it.
#[cfg_attr(not(unix), expect(clippy::unnecessary_wraps, unused_variables, reason = "only Unix locks files"))]
fn lock(file: &File) -> io::Result<bool> {
    #[cfg(unix)]
    {
        use rustix::fs::{FlockOperation, flock};
        use rustix::io::Errno;
        match flock(file, FlockOperation::NonBlockingLockExclusive) {
            // Or the file system has no locks.
            Ok(()) | Err(Errno::NOLCK | Errno::NOTSUP | Errno::NOSYS | Errno::INVAL) => {}
            Err(Errno::WOULDBLOCK) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(true)
}

/// Gives a file back at once. Closing it is not enough while a process is being started, which has it open too.
#[cfg_attr(not(unix), expect(unused_variables, reason = "only Unix locks files"))]
pub(super) fn unlock(file: &File) {
    // The caller closes it next. Nothing else can be done about a lock that stays.
    #[cfg(unix)]
    let _closed = rustix::fs::flock(file, rustix::fs::FlockOperation::Unlock);
}

/// Opens a file of which that is known again, to read and write.
///
/// # Errors
///
/// It can't be opened, or that path names another file by now.
pub(super) fn open_again(known: &Metadata, path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    if !is_same(known, &file.metadata()?) {
        return Err(io::Error::other("another program has replaced it"));
    }
    Ok(file)
}

/// Returns whether that path is the name of the file, and this is a regular one.
pub(super) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(named) => Ok(named.is_file() && is_same(&named, &file.metadata()?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(unix)]
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn is_same(_: &Metadata, _: &Metadata) -> bool {
    true
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_given_to_one_at_a_time() {
        let folder = std::env::temp_dir().join(format!("gax-exclusive-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let (path, other) = (folder.join("a"), folder.join("b"));
        let first = open_alone(&path).unwrap().unwrap();
        assert!(open_alone(&path).unwrap().is_none());
        // By another name it is still the first one's, and the old name is free.
        fs::rename(&path, &other).unwrap();
        assert!(open_alone(&other).unwrap().is_none());
        let second = open_alone(&path).unwrap().unwrap();
        drop(first);
        drop(open_alone(&other).unwrap().unwrap());
        assert!(!is_at(&second, &other).unwrap());
        drop(second);
        std::os::unix::fs::symlink(&other, folder.join("link")).unwrap();
        for no_file in ["link", ""] {
            assert_eq!(
                open_alone(&folder.join(no_file)).unwrap_err().to_string(),
                "it is not a regular file"
            );
        }
        assert_eq!(open_alone(&folder.join("none/a")).unwrap_err().kind(), io::ErrorKind::NotFound);
        // A file that has no name any more is not at that path, and one whose path can't be looked at may be.
        let third = open_alone(&path).unwrap().unwrap();
        assert!(!is_at(&third, &folder.join("none")).unwrap());
        assert!(is_at(&third, &path.join("below")).is_err());
        fs::remove_dir_all(folder).unwrap();
    }
}

//! The file that a download is written to until it is whole.

use crate::destination::{beside, destination};
use crate::download::exclusive::{is_at, open_again, open_alone, unlock};
use crate::error::{Failure, TransferErrorKind};
use crate::state_file::StateFile;
use gax_text::Escaped;
use std::fs::{self, Metadata, Permissions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::fs::File;

/// A file with a temporary name next to the one that it gets in the end. Dropped before it is whole it is removed, unless the download
/// is resumable and there is something to resume.
#[derive(Debug)]
pub(super) struct PartialFile {
    path: PathBuf,
    pub(super) part: Arc<Part>,
    /// As long as this is open, no other download writes the file. Work that outlives a dropped download must not hold it.
    lock: fs::File,
    /// Those of the file that it replaces.
    permissions: Option<Permissions>,
    is_removed: bool,
    is_finished: bool,
}

/// The temporary file, by its path and what tells it from another one there.
#[derive(Debug)]
pub(super) struct Part {
    path: PathBuf,
    known: Metadata,
}

impl Part {
    /// Opens it to read and write.
    pub(super) async fn open(self: &Arc<Self>) -> Result<File, Failure> {
        let part = Arc::clone(self);
        let opened = tokio::task::spawn_blocking(move || open_again(&part.known, &part.path)).await;
        let opened = opened.unwrap_or_else(|error| Err(io::Error::other(error)));
        opened.map(File::from_std).map_err(|error| self.failure(error))
    }

    pub(super) fn failure(&self, error: io::Error) -> Failure {
        failure(&self.path, error)
    }
}

impl PartialFile {
    /// Opens the temporary file, or makes it.
    pub(super) async fn open(path: &Path, is_resumable: bool) -> Result<Self, Failure> {
        let target = path.to_owned();
        // If the caller has stopped waiting, its drop removes what it has made.
        let opening = tokio::task::spawn_blocking(move || Self::open_now(&target, is_resumable));
        opening.await.unwrap_or_else(|error| Err(failure(path, io::Error::other(error))))
    }

    fn open_now(path: &Path, is_resumable: bool) -> Result<Self, Failure> {
        let path = destination(path).map_err(|error| failure(path, error))?;
        let part = beside(&path, ".gax-part");
        let lock = match open_alone(&part) {
            Ok(Some(lock)) => lock,
            Ok(None) => return Err(failure(&part, io::Error::other("another download is writing it"))),
            Err(error) => return Err(failure(&part, error)),
        };
        let permissions = fs::metadata(&path).ok().map(|metadata| metadata.permissions());
        let known = lock.metadata().map_err(|error| failure(&part, error))?;
        let part = Arc::new(Part { path: part, known });
        let file = Self { path, part, lock, permissions, is_removed: !is_resumable, is_finished: false };
        file.prepare(is_resumable).map_err(|error| file.part.failure(error))?;
        Ok(file)
    }

    /// The bytes are as private as those that they replace, and no state of another download is about them.
    fn prepare(&self, is_resumable: bool) -> io::Result<()> {
        #[cfg(unix)]
        if let Some(permissions) = &self.permissions {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = permissions.mode() & 0o7777 | 0o600;
            self.lock.set_permissions(Permissions::from_mode(mode))?;
        }
        if is_resumable {
            return Ok(());
        }
        match fs::remove_file(beside(&self.path, STATE)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    gax_text::getters! { self:
        /// The state file next to it.
        pub(super) state: StateFile = StateFile::new(beside(&self.path, STATE));

        /// How many bytes it has.
        pub(super) length: u64 = self.lock.metadata().map_or(0, |metadata| metadata.len());
    }

    /// Gives the file its name, now that it is whole and has that length.
    pub(super) async fn finish(mut self, length: u64) -> Result<(), Failure> {
        let file = self.part.open().await?;
        let named = async {
            // A download that was dropped may have been writing still when this one began.
            file.set_len(length).await?;
            if let Some(permissions) = self.permissions.take() {
                file.set_permissions(permissions).await?;
            }
            file.sync_all().await?;
            if tokio::fs::metadata(&self.path).await.is_ok_and(|metadata| !metadata.is_file()) {
                return Err(io::Error::other("it is not a regular file any longer"));
            }
            tokio::fs::rename(&self.part.path, &self.path).await
        };
        named.await.map_err(|error| failure(&self.path, error))?;
        self.is_finished = true;
        Ok(())
    }

    /// Its bytes are of no use.
    pub(super) fn discard(&mut self) {
        self.is_removed = true;
    }
}

const STATE: &str = ".gax-state";

fn failure(path: &Path, error: io::Error) -> Failure {
    Failure::new(TransferErrorKind::Sink, format!("{} can't be written", Escaped(&path.display())))
        .with_source(error)
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        let is_useless = !self.is_finished && (self.is_removed || self.length() == 0);
        // By now, another download may have a file of that name.
        if is_useless && is_at(&self.lock, &self.part.path).unwrap_or(false) {
            // Nothing can be done about a file that stays.
            drop(fs::remove_file(&self.part.path));
        }
        unlock(&self.lock);
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::tests::Folder;

    #[tokio::test]
    async fn a_file_is_free_while_a_process_that_has_it_open_is_being_started() {
        let path = std::env::temp_dir().join(format!("gax-file-{}", std::process::id()));
        let file = PartialFile::open(&path, true).await.unwrap();
        file.lock.set_len(1).unwrap();
        let inherited = file.lock.try_clone().unwrap();
        let failure = PartialFile::open(&path, true).await.unwrap_err();
        assert_eq!(failure.kind, TransferErrorKind::Sink);
        drop(file);
        drop(PartialFile::open(&path, false).await.unwrap());
        drop(inherited);
    }

    #[tokio::test]
    async fn a_file_that_is_replaced_keeps_its_permissions() {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
        let folder = Folder::new();
        let (path, part) = (folder.file("a"), folder.file("a.gax-part"));
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o440)).unwrap();
        let file = PartialFile::open(&path, false).await.unwrap();
        // Its owner can write it until then.
        assert_eq!(mode(&part), 0o640);
        file.finish(0).await.unwrap();
        assert_eq!((mode(&path), folder.names()), (0o440, vec!["a".to_owned()]));
    }

    #[tokio::test]
    async fn what_is_in_the_way_of_a_file() {
        let folder = Folder::new();
        let path = folder.file("a");
        let parent = path.parent().unwrap();
        for no_file in [parent, Path::new("/")] {
            let failure = PartialFile::open(no_file, true).await.unwrap_err();
            assert_eq!(failure.source.unwrap().to_string(), "it is the name of a folder");
        }
        // A state that can't be removed would be taken for that of the next download.
        fs::create_dir(folder.file("a.gax-state")).unwrap();
        assert_eq!(PartialFile::open(&path, false).await.unwrap_err().kind, TransferErrorKind::Sink);
        fs::remove_dir(folder.file("a.gax-state")).unwrap();
        fs::write(folder.file("a.gax-state"), "{}").unwrap();
        drop(PartialFile::open(&path, true).await.unwrap());
        assert_eq!(folder.names(), ["a.gax-state"]);
        drop(PartialFile::open(&path, false).await.unwrap());
        assert!(folder.names().is_empty());
    }
}

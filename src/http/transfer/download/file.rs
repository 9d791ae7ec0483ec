//! The file that a download is written to until it is whole.

use crate::http::transfer::download::exclusive::open_alone;
use crate::http::transfer::download::options::DownloadOptions;
use crate::http::transfer::download::received::DownloadState;
use crate::http::transfer::error::{Failure, TransferErrorKind};
use crate::http::transfer::state_file::{StateFile, beside};
use gax_text::Escaped;
use std::io;
use std::path::{Path, PathBuf};
use tokio::fs::{self, File};

/// A file with a temporary name beside the one that it is to have, which no other download writes meanwhile. Dropped before it is
/// whole it is removed, unless the download is to go on and there is something to go on from.
#[derive(Debug)]
pub(super) struct PartialFile {
    path: PathBuf,
    part: PathBuf,
    is_removed: bool,
    /// As long as this is open, nobody else writes the file. `None`: it has got its name.
    lock: Option<std::fs::File>,
}

impl PartialFile {
    /// Opens the temporary file, or makes it.
    pub(super) async fn open(path: &Path, is_resumable: bool) -> Result<Self, Failure> {
        let target = path.to_owned();
        // If nobody waits for it any more, its drop removes what it has made.
        let opening = tokio::task::spawn_blocking(move || Self::open_now(target, is_resumable));
        opening.await.unwrap_or_else(|error| Err(failure(path, io::Error::other(error))))
    }

    fn open_now(path: PathBuf, is_resumable: bool) -> Result<Self, Failure> {
        if path.file_name().is_none() || path.is_dir() {
            return Err(failure(&path, io::Error::other("it is the name of a folder")));
        }
        let part = beside(&path, ".gax-part");
        match open_alone(&part) {
            Ok(Some(lock)) => Ok(Self { path, part, is_removed: !is_resumable, lock: Some(lock) }),
            Ok(None) => Err(failure(&part, io::Error::other("another download writes it"))),
            Err(error) => Err(failure(&part, error)),
        }
    }

    /// The path of the state file beside it.
    pub(super) fn state(path: &Path) -> StateFile {
        StateFile::new(beside(path, ".gax-state"))
    }

    pub(super) fn part(&self) -> &Path {
        &self.part
    }

    /// The state that an earlier process has left, and how many bytes of the file count.
    pub(super) async fn left(
        &self,
        options: &DownloadOptions,
    ) -> Result<Option<(DownloadState, u64)>, Failure> {
        let Some(state) = &options.state else { return Ok(None) };
        let Some(stored) = state.load::<DownloadState>().await? else { return Ok(None) };
        if stored.request != options.request.uri.to_string() {
            return Err(state.of_another());
        }
        let Ok(metadata) = fs::metadata(&self.part).await else { return Ok(None) };
        let length = metadata.len().min(stored.total.unwrap_or(u64::MAX));
        Ok((stored.version().is_resumable() && metadata.is_file()).then_some((stored, length)))
    }

    /// Gives the file its name, now that it is whole and has that length.
    pub(super) async fn finish(mut self, file: Option<File>, length: u64) -> Result<(), Failure> {
        let named = async {
            let file = match file {
                Some(file) => file,
                None => File::options().write(true).open(&self.part).await?,
            };
            // A download that was dropped may have been writing still when this one began.
            file.set_len(length).await?;
            file.sync_all().await?;
            fs::rename(&self.part, &self.path).await
        };
        named.await.map_err(|error| failure(&self.path, error))?;
        self.lock = None;
        Ok(())
    }

    /// Its bytes are of no use.
    pub(super) fn discard(&mut self) {
        self.is_removed = true;
    }
}

fn failure(path: &Path, error: io::Error) -> Failure {
    Failure::new(TransferErrorKind::Sink, format!("{} can't be written", Escaped(&path.display())))
        .with_source(error)
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        let Some(lock) = &self.lock else { return };
        let is_empty = lock.metadata().is_ok_and(|metadata| metadata.len() == 0);
        if self.is_removed || is_empty {
            // Nothing can be done about a file that stays.
            drop(std::fs::remove_file(&self.part));
        }
    }
}

//! The file that a download is written to until it is whole.

use crate::http::transfer::download::options::DownloadOptions;
use crate::http::transfer::download::received::DownloadState;
use crate::http::transfer::error::{Failure, TransferErrorKind};
use crate::http::transfer::state_file::{StateFile, beside};
use gax_text::Escaped;
use std::io;
use std::path::{Path, PathBuf};
use tokio::fs::{self, File};

/// A file with a temporary name beside the one that it is to have. Dropped before it is whole it is removed, unless the download is
/// to go on.
#[derive(Debug)]
pub(super) struct PartialFile {
    path: PathBuf,
    part: PathBuf,
    is_removed: bool,
}

impl PartialFile {
    pub(super) fn new(path: &Path, is_resumable: bool) -> Self {
        Self { path: path.to_owned(), part: beside(path, ".gax-part"), is_removed: !is_resumable }
    }

    /// The path of the state file beside it.
    pub(super) fn state(path: &Path) -> StateFile {
        StateFile::new(beside(path, ".gax-state"))
    }

    pub(super) fn part(&self) -> &Path {
        &self.part
    }

    /// What an earlier process has left, and how many bytes of it count.
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

    /// Gives the file its name, now that it is whole.
    pub(super) async fn finish(mut self, file: Option<File>) -> Result<(), Failure> {
        let named = async {
            match file {
                Some(file) => file.sync_all().await?,
                None => File::open(&self.part).await?.sync_all().await?,
            }
            fs::rename(&self.part, &self.path).await
        };
        named.await.map_err(|error| failure(&self.path, error))?;
        self.is_removed = false;
        Ok(())
    }

    /// What there is of it is of no use.
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
        if self.is_removed {
            // There may be none yet.
            drop(std::fs::remove_file(&self.part));
        }
    }
}

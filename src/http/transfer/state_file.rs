//! Files in which transfers keep what it takes to go on in another process.

use crate::http::transfer::error::{Failure, TransferErrorKind};
use gax_text::Escaped;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use tokio::fs;
use tokio::io::AsyncWriteExt as _;

/// A file with the state of one transfer, as JSON. Only its owner can read it.
#[derive(Debug, Clone)]
pub(super) struct StateFile {
    path: PathBuf,
}

/// The most that such a file has.
const MOST: u64 = 1024 * 1024;

impl StateFile {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// The state in it; `None`: there is no such file.
    pub(super) async fn load<T: DeserializeOwned>(&self) -> Result<Option<T>, Failure> {
        let length = match fs::metadata(&self.path).await {
            Ok(metadata) => metadata.len(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.failure("can't be read", error)),
        };
        if length > MOST {
            return Err(self.failure("is no state of a transfer", "it is too long"));
        }
        let text = fs::read(&self.path).await.map_err(|error| self.failure("can't be read", error))?;
        let state = serde_json::from_slice(&text);
        // The text of its error has parts of the file.
        let state = state.map_err(|error| {
            let place = format!("line {}, column {}", error.line(), error.column());
            self.failure("is no state of a transfer: remove it, or name another one", place)
        })?;
        Ok(Some(state))
    }

    /// Writes the state, all of it or nothing.
    pub(super) async fn save<T: Serialize>(&self, state: &T) -> Result<(), Failure> {
        let text = serde_json::to_vec(state).map_err(|error| self.failure("can't be written", error))?;
        let new = beside(&self.path, ".new");
        let written = async {
            let mut options = fs::OpenOptions::new();
            options.write(true).create(true).truncate(true);
            #[cfg(unix)]
            options.mode(0o600);
            let mut file = options.open(&new).await?;
            file.write_all(&text).await?;
            file.flush().await?;
            file.sync_all().await?;
            fs::rename(&new, &self.path).await
        };
        written.await.map_err(|error| self.failure("can't be written", error))
    }

    /// Removes the file, if there is one.
    pub(super) async fn remove(&self) -> Result<(), Failure> {
        match fs::remove_file(&self.path).await {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(self.failure("can't be removed", error))
            }
            _ => Ok(()),
        }
    }

    /// The path as a terminal may have it.
    fn shown(&self) -> String {
        Escaped(&self.path.display()).to_string()
    }

    /// The file is that of another transfer.
    pub(super) fn of_another(&self) -> Failure {
        let problem =
            format!("the state file {} belongs to another transfer: name another one", self.shown());
        Failure::new(TransferErrorKind::StateFile, problem)
    }

    fn failure(&self, problem: &str, source: impl Into<crate::transport::BoxError>) -> Failure {
        let problem = format!("the state file {} {problem}", self.shown());
        Failure::new(TransferErrorKind::StateFile, problem).with_source(source)
    }
}

/// The path with that at its end.
pub(super) fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(end);
    PathBuf::from(name)
}

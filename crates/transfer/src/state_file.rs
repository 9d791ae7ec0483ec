//! Files in which transfers keep what it takes to continue in another process.

use crate::destination::{beside, destination};
use crate::error::{Failure, TransferErrorKind};
use gax_driver::__private::Locked;
use gax_text::Escaped;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::fs;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// A file with the state of one transfer, as JSON. Only its owner can read it.
#[derive(Clone)]
pub(super) struct StateFile {
    path: PathBuf,
    /// Its text, as this transfer has read or written it last.
    known: Arc<Locked<Option<Vec<u8>>>>,
}

/// The most that such a file has.
const MOST: u64 = 1024 * 1024;
/// How often it is written again if other transfers write the same file meanwhile.
const MAX_TRIES: u32 = 8;
/// The end of the name under which it is written: one that only transfers use.
const NEW: &str = ".gax-new";

impl StateFile {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, known: Arc::default() }
    }

    fn know(&self, text: Option<Vec<u8>>) -> Option<Vec<u8>> {
        std::mem::replace(&mut self.known.lock(), text)
    }

    /// The state in it; `None`: there is no such file.
    pub(super) async fn load<T: DeserializeOwned>(&self) -> Result<Option<T>, Failure> {
        let read = async {
            if !fs::metadata(&self.path).await?.is_file() {
                return Err(io::Error::other("it is not a regular file"));
            }
            let (file, mut text) = (fs::File::open(&self.path).await?, Vec::new());
            file.take(MOST + 1).read_to_end(&mut text).await?;
            Ok(text)
        };
        let text = match read.await {
            Ok(text) => text,
            // Another transfer with the same file may have ended just now.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.failure("can't be read", error)),
        };
        let problem = "is not the state of a transfer: remove it, or name another file";
        if text.len() as u64 > MOST {
            return Err(self.failure(problem, "it is too long"));
        }
        let state = serde_json::from_slice(&text);
        // The text of its error has parts of the file.
        let state = state.map_err(|error| {
            let place = format!("line {}, column {}", error.line(), error.column());
            self.failure(problem, place)
        })?;
        self.know(Some(text));
        Ok(Some(state))
    }

    /// Returns whether only its owner can write the file, as far as the system reports it.
    pub(super) async fn is_private(&self) -> bool {
        #[cfg(unix)]
        if let Ok(metadata) = fs::metadata(&self.path).await {
            use std::os::unix::fs::PermissionsExt as _;
            return metadata.permissions().mode() & 0o022 == 0;
        }
        true
    }

    /// Writes the state, all of it or nothing.
    pub(super) async fn save<T: Serialize>(&self, state: &T) -> Result<(), Failure> {
        let text = serde_json::to_vec(state).map_err(|error| self.failure("can't be written", error))?;
        let taken = [io::ErrorKind::AlreadyExists, io::ErrorKind::NotFound];
        let mut written = self.write(&text).await;
        for _ in 1..MAX_TRIES {
            if written.as_ref().is_err_and(|error| taken.contains(&error.kind())) {
                written = self.write(&text).await;
            }
        }
        written.map_err(|error| self.failure("can't be written", error))?;
        self.know(Some(text));
        Ok(())
    }

    /// The file itself, where links lead to it.
    async fn destination(&self) -> io::Result<PathBuf> {
        let path = self.path.clone();
        let found = tokio::task::spawn_blocking(move || destination(&path)).await;
        found.unwrap_or_else(|error| Err(io::Error::other(error)))
    }

    /// Writes it under another name first. Another transfer with the same file may take that away.
    async fn write(&self, text: &[u8]) -> io::Result<()> {
        let path = self.destination().await?;
        let new = beside(&path, NEW);
        // Left by a process that was killed; or a link, which must not be followed.
        drop(fs::remove_file(&new).await);
        let mut options = fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        options.mode(0o600);
        let mut file = options.open(&new).await?;
        file.write_all(text).await?;
        file.flush().await?;
        file.sync_all().await?;
        fs::rename(&new, path).await
    }

    /// Removes the file, if it is as this transfer has read or written it last. What another one has put there is its own.
    pub(super) async fn remove(&self) -> Result<(), Failure> {
        let Some(known) = self.know(None) else { return Ok(()) };
        let removed = async {
            let path = self.destination().await?;
            if fs::read(&path).await? != known {
                return Ok(());
            }
            drop(fs::remove_file(beside(&path, NEW)).await);
            fs::remove_file(path).await
        };
        match removed.await {
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
        let problem = format!(
            "the state file {} belongs to another transfer: remove it, or name another file",
            self.shown()
        );
        Failure::new(TransferErrorKind::StateFile, problem)
    }

    fn failure(&self, problem: &str, source: impl Into<gax_wire::__private::BoxError>) -> Failure {
        let problem = format!("the state file {} {problem}", self.shown());
        Failure::new(TransferErrorKind::StateFile, problem).with_source(source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_file_that_is_gone_is_no_error_and_one_that_can_not_be_read_or_removed_is() {
        let path = std::env::temp_dir().join(format!("gax-transfer-state-{}", std::process::id()));
        let state = StateFile::new(path.clone());
        assert_eq!(state.load::<String>().await.unwrap(), None);
        for is_gone in [false, true] {
            state.save(&"half").await.unwrap();
            assert_eq!(state.load::<String>().await.unwrap().as_deref(), Some("half"));
            if is_gone {
                std::fs::remove_file(&path).unwrap();
            }
            state.remove().await.unwrap();
            assert!(!path.exists());
        }
        let long = "-".repeat(1024 * 1024 - 2);
        for (text, is_state) in [(&long[..], true), (&format!("-{long}"), false)] {
            state.save(&text).await.unwrap();
            assert_eq!(
                state.load::<String>().await.is_ok_and(|known| known.as_deref() == Some(text)),
                is_state
            );
        }
        // It would be a state without its last byte.
        std::fs::write(&path, format!("\"{long}\"-")).unwrap();
        let problem = state.load::<String>().await.unwrap_err().problem.to_string();
        let place = format!("the state file {} is not the state of a transfer", path.display());
        assert!(problem.starts_with(&place), "{problem}");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            for (mode, is_private) in [(0o600, true), (0o644, true), (0o620, false), (0o602, false)] {
                std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
                assert_eq!(state.is_private().await, is_private);
            }
            assert!(StateFile::new(path.join("below")).load::<String>().await.is_err());
        }
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        assert!(state.load::<String>().await.is_err());
        assert!(state.remove().await.is_err());
        std::fs::remove_dir(path).unwrap();
    }
}

//! Watches a file.

use crate::RetryTable;
use crate::live::watch::folders::folders;
use crate::live::{ReplaceError, SettingsEvent, SettingsHandle};
use gax_driver::__private::WatchState;
use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;
use std::{io, thread};

/// How long nothing has to happen before the file is read: who writes it makes several changes.
const QUIET: Duration = Duration::from_millis(50);
/// How many changes are waited for in all, so that a busy folder delays nothing for long.
const MAX_CHANGES: usize = 100;
/// How often the file is read though nothing was seen to happen: some file systems report nothing.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// Reads the handle's table from a file, now and whenever the file changes, in the dialect of the table that the handle has.
///
/// All ways of replacing the file are detected: writing it in place, renaming another file, or changing a link, as
/// Kubernetes does with config maps. Write it under another name and rename it: a file that is written in place may be
/// read half-written. Such a file, an empty one, and any other that [`SettingsHandle::replace`] rejects leave the settings
/// as they are, and the [listeners](SettingsHandle::on_event) are notified.
///
/// A separate thread receives changes from the operating system, and also reads the file every five seconds, because some
/// network file systems report no changes. If the file or its folders are missing, the settings stay as they are, and the
/// file is read as soon as it is back. [`SettingsHandle::is_watched`] returns whether the watch works, as do the event
/// [`Watching`](SettingsEvent::Watching) and the gauge `gax.client.settings.watched`.
///
/// # Errors
///
/// The file can't be read or is refused, or the system can't watch it. The settings stay as they were.
///
/// # Examples
///
/// ```no_run
/// use gax_table::live;
/// use gax_table::live::SettingsHandle;
/// use gax_table::RetryTable;
/// use tonic_gax::RetryLayer;
///
/// let path = "/etc/retries/table.json";
/// let handle = SettingsHandle::new(RetryTable::from_path(path)?);
/// handle.on_event(|event| eprintln!("{event}"));
/// let watch = live::watch(path, &handle)?;
/// let layer = RetryLayer::live(&handle);
/// # drop((watch, layer));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn watch(path: impl AsRef<Path>, handle: &SettingsHandle) -> Result<Watch, ReplaceError> {
    let path = path.as_ref();
    let cannot = |error| ReplaceError::watch(path, error);
    let (sender, changes) = channel();
    let of_watcher = sender.clone();
    let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
        if event.is_ok_and(|event| is_reading(event.kind)) {
            return;
        }
        // If it isn't received, the thread has ended.
        of_watcher.send(Change::Seen).ok();
    });
    let path = std::path::absolute(path).map_err(|error| cannot(error.into()))?;
    let watcher = watcher.map_err(|error| ReplaceError::watch(&path, error))?;
    let mut file = WatchedFile {
        path,
        handle: handle.clone(),
        watcher,
        folders: BTreeSet::new(),
        content: None,
        working: None,
    };
    file.watch_folders().map_err(|error| ReplaceError::watch(&file.path, error))?;
    file.read()?;
    let shown = file.path.clone();
    let thread = thread::Builder::new().name("gax-watch".to_owned());
    thread.spawn(move || file.follow(&changes)).map_err(|error| ReplaceError::watch(&shown, error.into()))?;
    handle.notify(&SettingsEvent::Watching { version: handle.version(), path: &shown });
    Ok(Watch { path: shown, stop: Some(sender) })
}

/// Returns whether a file was only read, as by this thread, and not changed.
fn is_reading(kind: EventKind) -> bool {
    matches!(kind, EventKind::Access(access) if access != AccessKind::Close(AccessMode::Write))
}

/// A file that is watched; made by [`watch`]. Dropping it ends the watching; the settings stay as they are.
#[must_use = "dropping it ends the watching"]
pub struct Watch {
    path: PathBuf,
    stop: Option<Sender<Change>>,
}

impl Watch {
    /// Watches the file until the process ends.
    pub fn detach(mut self) {
        self.stop = None;
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(stop) = &self.stop {
            // If it isn't received, the thread has ended.
            stop.send(Change::Stop).ok();
        }
    }
}

gax_text::short_debug! { self: Watch { path: self.path } }

enum Change {
    Seen,
    Stop,
}

struct WatchedFile {
    path: PathBuf,
    handle: SettingsHandle,
    watcher: RecommendedWatcher,
    folders: BTreeSet<PathBuf>,
    /// The file's bytes when it was last read; `None`: it never was.
    content: Option<Vec<u8>>,
    /// While the file can be read.
    working: Option<Working>,
}

/// Says that a file is no longer watched, however its thread ends.
struct End {
    path: PathBuf,
    handle: SettingsHandle,
}

impl Drop for End {
    fn drop(&mut self) {
        let version = self.handle.version();
        self.handle.notify(&SettingsEvent::WatchEnded { version, path: &self.path });
    }
}

/// Waits until the file may have changed. `false`: no caller wants to know any longer.
fn wait(changes: &Receiver<Change>) -> bool {
    match changes.recv_timeout(LOOK_AGAIN) {
        Ok(Change::Seen) => {}
        Err(RecvTimeoutError::Timeout) => return true,
        Ok(Change::Stop) | Err(RecvTimeoutError::Disconnected) => return false,
    }
    for _ in 1..MAX_CHANGES {
        match changes.recv_timeout(QUIET) {
            Ok(Change::Seen) => {}
            Err(RecvTimeoutError::Timeout) => break,
            Ok(Change::Stop) | Err(RecvTimeoutError::Disconnected) => return false,
        }
    }
    true
}

impl WatchedFile {
    fn follow(mut self, changes: &Receiver<Change>) {
        let end = End { path: self.path.clone(), handle: self.handle.clone() };
        while wait(changes) {
            // Later changes are seen, and earlier ones are read. A folder that can't be watched now is tried again.
            self.watch_folders().ok();
            // The handle notifies those who listen.
            self.read().ok();
        }
        drop(self);
        drop(end);
    }

    /// Watches the folders that count now. A folder that was made again under its old name is watched again.
    fn watch_folders(&mut self) -> notify::Result<()> {
        let folders = folders(&self.path).map_err(notify::Error::io)?;
        for old in self.folders.difference(&folders) {
            // It may be gone.
            self.watcher.unwatch(old).ok();
        }
        let results = folders.iter().map(|folder| self.watcher.watch(folder, RecursiveMode::NonRecursive));
        let result = results.fold(Ok(()), notify::Result::and);
        self.folders = folders;
        result
    }

    /// Reads the file, if it is another than it was.
    fn read(&mut self) -> Result<(), ReplaceError> {
        let read = || crate::input::read_file(&self.path);
        // Between two links that are pointed elsewhere there may be nothing at their end.
        let again =
            |error: io::Error| if error.kind() == io::ErrorKind::NotFound { read() } else { Err(error) };
        let content = match read().or_else(again) {
            Ok(content) => content,
            // Said once.
            Err(error) => {
                let is_news = self.working.take().is_some();
                return self.refused(is_news, ReplaceError::read(&self.path, error));
            }
        };
        if self.working.is_none() {
            self.working = Some(Working::new(Arc::clone(self.handle.watch_state())));
            // The first time, there is no watch yet.
            if self.content.is_some() {
                let version = self.handle.version();
                self.handle.notify(&SettingsEvent::Watching { version, path: &self.path });
            }
        }
        if self.content.as_ref() == Some(&content) {
            return Ok(());
        }
        let is_empty = content.iter().all(u8::is_ascii_whitespace);
        let reader = RetryTable::reader().dialect(self.handle.table().dialect());
        let table = reader.file_name(self.path.to_string_lossy()).read(&content);
        self.content = Some(content);
        match table {
            _ if is_empty => {
                let sentence = format!("{} is empty; write another file and rename it", self.path.display());
                self.refused(true, ReplaceError::refused(sentence))
            }
            Ok(table) => self.handle.replace(table).map(drop),
            Err(error) => self.refused(true, error.into()),
        }
    }

    fn refused(&self, is_news: bool, error: ReplaceError) -> Result<(), ReplaceError> {
        if is_news {
            self.handle.refuse(&error);
        }
        Err(error)
    }
}

impl ReplaceError {
    fn read(path: &Path, error: io::Error) -> Self {
        Self::file(path, ("read", "put the table back in its place"), error)
    }

    fn watch(path: &Path, error: notify::Error) -> Self {
        Self::file(path, ("watched", "read it at intervals, and call replace"), error)
    }
}

/// A watch that can read its file, until this is dropped.
pub(super) struct Working(Arc<WatchState>);

impl Working {
    pub(super) fn new(state: Arc<WatchState>) -> Self {
        state.has_file.store(true, Ordering::Relaxed);
        state.working.fetch_add(1, Ordering::Relaxed);
        Self(state)
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        self.0.working.fetch_sub(1, Ordering::Relaxed);
    }
}

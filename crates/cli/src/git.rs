//! Files as a revision of a git repository has them.

use crate::failure::{Failure, usage};
use gax_table::input::read_stream;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// `REV:path`, as `git show` takes it: the path counts from the top of the repository, or from the current folder
/// if it begins with `./`.
#[derive(Debug, Clone)]
pub(crate) struct GitPath {
    pub(crate) text: String,
}

/// The kind of thing at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GitKind {
    File,
    Folder,
}

impl GitPath {
    /// An argument that is no file here and could be `REV:path`.
    pub(crate) fn parse(argument: &Path) -> Option<Self> {
        let text = argument.to_str()?;
        let (revision, _) = text.split_once(':')?;
        let is_drive = cfg!(windows) && revision.len() == 1;
        let is_revision = !revision.is_empty() && !revision.starts_with('-') && !is_drive;
        (is_revision && !argument.exists()).then(|| Self { text: text.trim_end_matches('/').to_owned() })
    }

    /// A file in this folder.
    pub(crate) fn join(&self, name: &str) -> Self {
        let separator = if self.text.ends_with(':') { "" } else { "/" };
        Self { text: format!("{}{separator}{name}", self.text) }
    }

    pub(crate) fn kind(&self) -> Result<GitKind, Failure> {
        let kind = self.git(&["cat-file", "-t", &self.text])?;
        match kind.trim_ascii() {
            b"blob" => Ok(GitKind::File),
            b"tree" => Ok(GitKind::Folder),
            _ => Err(self.unreadable("it is neither a file nor a folder")),
        }
    }

    pub(crate) fn read(&self) -> Result<Vec<u8>, Failure> {
        self.git(&["cat-file", "blob", &self.text])
    }

    /// The paths of all files in this folder and those in it, counted from it.
    pub(crate) fn files(&self) -> Result<Vec<PathBuf>, Failure> {
        let listed = self.git(&["ls-tree", "-r", "-z", "--name-only", &self.text])?;
        let names = listed.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(names.map(|name| PathBuf::from(String::from_utf8_lossy(name).into_owned())).collect())
    }

    /// The output of git, up to the limit that all files have.
    fn git(&self, args: &[&str]) -> Result<Vec<u8>, Failure> {
        let mut child = Command::new("git")
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| self.unreadable(&format!("git can't be run: {error}")))?;
        let taken = |stream: Option<_>| stream.ok_or_else(|| self.unreadable("git has no output"));
        let printed = read_stream(taken(child.stdout.take())?);
        if printed.is_err() {
            // git may have more to write than is read.
            let _gone = child.kill();
        }
        let ended = child.wait_with_output().map_err(|error| self.unreadable(&error.to_string()))?;
        let printed = printed.map_err(|error: io::Error| self.unreadable(&error.to_string()))?;
        if ended.status.success() {
            return Ok(printed);
        }
        let complaint = String::from_utf8_lossy(&ended.stderr);
        let complaint = complaint.lines().next().unwrap_or("git failed");
        let complaint = complaint.strip_prefix("fatal: ").unwrap_or(complaint);
        Err(self.unreadable(complaint.trim_end_matches('.')))
    }

    fn unreadable(&self, problem: &str) -> Failure {
        let advice = "give a file, a folder, or REV:path with a revision and a path that git knows";
        usage!("can't read {} ({problem}); {advice}", self.text)
    }
}

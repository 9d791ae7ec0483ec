//! Where a download goes.

use crate::http::transfer::checksum::{Checksums, Hasher};
use crate::http::transfer::error::{Failure, TransferErrorKind};
use bytes::{Buf as _, Bytes};
use gax_text::Escaped;
use std::io::{self, SeekFrom};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::fs::{File, OpenOptions};
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _, AsyncWrite};

/// Where a download goes, and the checksums of what went there.
pub(super) struct Sink<'a> {
    target: Target<'a>,
    /// The place of the next byte.
    offset: u64,
    hasher: Hasher,
    checksums: Checksums,
}

enum Target<'a> {
    Writer(Box<dyn AsyncWrite + Send + Unpin + 'a>),
    /// A file, open where it was written last. `None`: it has to be opened.
    File {
        path: PathBuf,
        file: Option<File>,
        is_shared: bool,
    },
    Memory(Vec<u8>),
}

fn unwritable(error: io::Error) -> Failure {
    Failure::new(TransferErrorKind::Sink, "the download can't be written").with_source(error)
}

impl<'a> Sink<'a> {
    fn of(target: Target<'a>, checksums: Checksums) -> Self {
        Self { target, offset: 0, hasher: Hasher::new(checksums), checksums }
    }

    pub(super) fn writer(writer: Box<dyn AsyncWrite + Send + Unpin + 'a>, checksums: Checksums) -> Self {
        Self::of(Target::Writer(writer), checksums)
    }

    pub(super) fn memory(checksums: Checksums) -> Self {
        Self::of(Target::Memory(Vec::new()), checksums)
    }

    /// A file that has so many bytes already.
    pub(super) fn file(path: PathBuf, offset: u64, checksums: Checksums) -> Self {
        Self { offset, ..Self::of(Target::File { path, file: None, is_shared: false }, checksums) }
    }

    /// A part of a file that others write too, from that place on.
    pub(super) fn part(path: PathBuf, offset: u64, checksums: Checksums) -> Self {
        Self { offset, ..Self::of(Target::File { path, file: None, is_shared: true }, checksums) }
    }

    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    pub(super) fn hasher(&self) -> &Hasher {
        &self.hasher
    }

    /// Whether the bytes so far can be thrown away.
    pub(super) fn can_rewind(&self) -> bool {
        self.offset == 0 || matches!(self.target, Target::Memory(_) | Target::File { is_shared: false, .. })
    }

    /// Throws the bytes away.
    pub(super) fn rewind(&mut self) {
        match &mut self.target {
            Target::Memory(bytes) => bytes.clear(),
            Target::File { file, .. } => *file = None,
            Target::Writer(_) => {}
        }
        self.offset = 0;
        self.hasher = Hasher::new(self.checksums);
    }

    /// A file that has to be opened, and how far it is written.
    pub(super) fn unopened(&self) -> Option<Unopened> {
        match &self.target {
            Target::File { path, file: None, is_shared } => {
                let (path, offset, hasher) = (path.clone(), self.offset, self.hasher.clone());
                Some(Unopened { path, offset, hasher, is_shared: *is_shared })
            }
            _ => None,
        }
    }

    /// The file is open.
    pub(super) fn opened(&mut self, (opened, hasher): (File, Hasher)) {
        if let Target::File { file, .. } = &mut self.target {
            *file = Some(opened);
            self.hasher = hasher;
        }
    }

    /// Writes some of the data, and takes that out of it.
    pub(super) fn poll_write(&mut self, data: &mut Bytes, cx: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        while !data.is_empty() {
            let written = match &mut self.target {
                Target::Memory(bytes) => {
                    bytes.extend_from_slice(data);
                    data.len()
                }
                Target::Writer(writer) => {
                    ready!(Pin::new(writer).poll_write(cx, data)).map_err(unwritable)?
                }
                Target::File { file: Some(file), .. } => {
                    ready!(Pin::new(file).poll_write(cx, data)).map_err(unwritable)?
                }
                Target::File { file: None, .. } => {
                    return Poll::Ready(Err(unwritable(io::Error::other("the file is not open"))));
                }
            };
            if written == 0 {
                return Poll::Ready(Err(unwritable(io::Error::from(io::ErrorKind::WriteZero))));
            }
            self.hasher.update(data.get(..written).unwrap_or_default());
            self.offset += written as u64;
            data.advance(written.min(data.len()));
        }
        Poll::Ready(Ok(()))
    }

    pub(super) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        match &mut self.target {
            Target::Memory(_) | Target::File { file: None, .. } => Poll::Ready(Ok(())),
            Target::Writer(writer) => Pin::new(writer).poll_flush(cx).map_err(unwritable),
            Target::File { file: Some(file), .. } => Pin::new(file).poll_flush(cx).map_err(unwritable),
        }
    }

    /// The file, if it is one and open.
    pub(super) fn take_file(&mut self) -> Option<File> {
        match &mut self.target {
            Target::File { file, .. } => file.take(),
            Target::Memory(_) | Target::Writer(_) => None,
        }
    }

    /// The bytes in memory.
    pub(super) fn take_memory(&mut self) -> Bytes {
        match &mut self.target {
            Target::Memory(bytes) => std::mem::take(bytes).into(),
            Target::Writer(_) | Target::File { .. } => Bytes::new(),
        }
    }
}

/// A file that has to be opened where it was written last.
pub(super) struct Unopened {
    path: PathBuf,
    offset: u64,
    hasher: Hasher,
    is_shared: bool,
}

impl Unopened {
    /// Opens it. What it has of the download is read for its checksums; what it has behind that goes.
    pub(super) async fn open(self) -> Result<(File, Hasher), Failure> {
        let Self { path, offset, hasher, is_shared } = self;
        let opened = async {
            let mut file = OpenOptions::new().read(true).write(true).open(&path).await?;
            let mut hasher = hasher;
            if !is_shared {
                file.set_len(offset).await?;
                if hasher.is_needed() && hasher.bytes() < offset {
                    hasher = hashed(&mut file, hasher, offset).await?;
                }
            }
            file.seek(SeekFrom::Start(offset)).await?;
            Ok((file, hasher))
        };
        opened.await.map_err(|error| unopenable(error, &path))
    }
}

fn unopenable(error: io::Error, path: &Path) -> Failure {
    Failure::new(TransferErrorKind::Sink, format!("{} can't be written", Escaped(&path.display())))
        .with_source(error)
}

/// The hasher with what the file has up to that place.
async fn hashed(file: &mut File, mut hasher: Hasher, end: u64) -> io::Result<Hasher> {
    file.seek(SeekFrom::Start(hasher.bytes())).await?;
    let mut buffer = vec![0; 64 * 1024];
    while hasher.bytes() < end {
        let left = usize::try_from(end - hasher.bytes()).unwrap_or(usize::MAX);
        let most = buffer.len().min(left);
        let read = file.read(buffer.get_mut(..most).unwrap_or_default()).await?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        hasher.update(buffer.get(..read).unwrap_or_default());
    }
    Ok(hasher)
}

/// The checksums of a file.
pub(super) async fn hash_file(path: &Path, checksums: Checksums, length: u64) -> Result<Hasher, Failure> {
    let mut file = File::open(path).await.map_err(|error| unopenable(error, path))?;
    hashed(&mut file, Hasher::new(checksums), length).await.map_err(|error| unopenable(error, path))
}

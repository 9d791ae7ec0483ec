//! Where a download goes.

use crate::checksum::{Checksums, Hasher};
use crate::download::file::Part;
use crate::error::{Failure, TransferErrorKind};
use bytes::{Buf as _, Bytes};
use std::io::{self, SeekFrom};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::fs::File;
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _, AsyncWrite};

/// Where a download goes, and the checksums of what went there.
pub(super) struct Sink<'a> {
    target: Target<'a>,
    /// The place of the next byte.
    offset: u64,
    hasher: Hasher,
    /// Those of all bytes.
    pub(super) checksums: Checksums,
}

enum Target<'a> {
    Writer(Box<dyn AsyncWrite + Send + Unpin + 'a>),
    /// A file, open where it was written last. `None`: it has to be opened.
    File {
        part: Arc<Part>,
        file: Option<File>,
        is_shared: bool,
    },
    Memory {
        bytes: Vec<u8>,
        /// The most bytes that it may become.
        limit: u64,
    },
}

impl<'a> Target<'a> {
    /// The writer that gets it; `None`: it goes to memory, or to a file that is not open.
    fn writer(&mut self) -> Option<Pin<&mut (dyn AsyncWrite + Send + Unpin + 'a)>> {
        match self {
            Target::Writer(writer) => Some(Pin::new(&mut **writer)),
            Target::File { file, .. } => file.as_mut().map(|file| Pin::new(file) as _),
            Target::Memory { .. } => None,
        }
    }
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

    pub(super) fn memory(limit: u64, checksums: Checksums) -> Self {
        Self::of(Target::Memory { bytes: Vec::new(), limit }, checksums)
    }

    /// Rejects an object of that length, or of more, if it is too long.
    pub(super) fn check_length(&self, length: u64) -> Result<(), Failure> {
        match self.target {
            Target::Memory { limit, .. } if length > limit => {
                let problem = format!(
                    "the object is longer than {limit} bytes: raise max_bytes, or receive it into a file"
                );
                Err(Failure::new(TransferErrorKind::Sink, problem))
            }
            _ => Ok(()),
        }
    }

    /// A file that has the bytes up to that place, of which the hasher may have seen a part. `is_shared`: others write it too, and
    /// the hasher has seen the bytes of this range.
    pub(super) fn file(
        (part, is_shared): (&Arc<Part>, bool),
        offset: u64,
        checksums: Checksums,
        hasher: Hasher,
    ) -> Self {
        let target = Target::File { part: Arc::clone(part), file: None, is_shared };
        Self { target, offset, hasher, checksums }
    }

    gax_text::getters! { self:
        pub(super) offset: u64 = self.offset;

        pub(super) hasher: &Hasher = &self.hasher;
    }

    /// Returns whether the bytes so far can be thrown away.
    pub(super) fn can_rewind(&self) -> bool {
        self.offset == 0
            || matches!(self.target, Target::Memory { .. } | Target::File { is_shared: false, .. })
    }

    /// Throws the bytes away.
    pub(super) fn rewind(&mut self) {
        match &mut self.target {
            Target::Memory { bytes, .. } => bytes.clear(),
            Target::File { file, .. } => *file = None,
            Target::Writer(_) => {}
        }
        self.offset = 0;
        self.hasher = Hasher::new(self.checksums);
    }

    /// Opens a file that has to be opened, where it was written last. What it has of the download is read for its checksums; what it has
    /// behind that goes.
    pub(super) fn opening(&self) -> Option<impl Future<Output = Result<(File, Hasher), Failure>> + use<>> {
        let Target::File { part, file: None, is_shared } = &self.target else { return None };
        let (part, is_shared, offset) = (Arc::clone(part), *is_shared, self.offset);
        let mut hasher = self.hasher.clone();
        Some(async move {
            let mut file = part.open().await?;
            let opened = async {
                if !is_shared {
                    file.set_len(offset).await?;
                    if hasher.is_needed() {
                        hasher = hashed(&mut file, 0, hasher, offset).await?;
                    }
                }
                file.seek(SeekFrom::Start(offset)).await?;
                Ok((file, hasher))
            };
            opened.await.map_err(|error| part.failure(error))
        })
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
                Target::Memory { bytes, .. } => {
                    bytes.extend_from_slice(data);
                    data.len()
                }
                target => match target.writer() {
                    Some(writer) => ready!(writer.poll_write(cx, data)).map_err(unwritable)?,
                    None => return Poll::Ready(Err(unwritable(io::Error::other("the file is not open")))),
                },
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
        self.target.writer().map_or(Poll::Ready(Ok(())), |writer| writer.poll_flush(cx).map_err(unwritable))
    }

    /// The bytes in memory.
    pub(super) fn take_memory(&mut self) -> Bytes {
        match &mut self.target {
            Target::Memory { bytes, .. } => std::mem::take(bytes).into(),
            Target::Writer(_) | Target::File { .. } => Bytes::new(),
        }
    }
}

/// The hasher with the bytes of a file from that place on, until it has seen so many.
async fn hashed(file: &mut File, begin: u64, mut hasher: Hasher, bytes: u64) -> io::Result<Hasher> {
    file.seek(SeekFrom::Start(begin + hasher.bytes())).await?;
    let mut buffer = vec![0; 64 * 1024];
    while hasher.bytes() < bytes {
        let left = usize::try_from(bytes - hasher.bytes()).unwrap_or(usize::MAX);
        let most = buffer.len().min(left);
        let read = file.read(buffer.get_mut(..most).unwrap_or_default()).await?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        hasher.update(buffer.get(..read).unwrap_or_default());
    }
    Ok(hasher)
}

/// The checksums of so many bytes of a file, from that place on.
pub(super) async fn hash_part(
    part: &Arc<Part>,
    begin: u64,
    checksums: Checksums,
    bytes: u64,
) -> Result<Hasher, Failure> {
    let mut file = part.open().await?;
    hashed(&mut file, begin, Hasher::new(checksums), bytes).await.map_err(|error| part.failure(error))
}

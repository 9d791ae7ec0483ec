//! The source of an upload.

use bytes::Bytes;
use std::fmt;
use std::path::PathBuf;
use tokio::io::{AsyncRead, AsyncSeek};

/// The source of an upload: bytes in memory, a file, or anything that can be read.
///
/// A source that can seek is sent in one streamed request, and sent again from the position that the server needs. A source that
/// can't seek is sent in chunks, each of which stays in memory until the server has it.
///
/// If a source is shorter or longer than its size, or somebody writes to a file before its last bytes are sent, the upload ends with
/// [`SourceChanged`](crate::TransferErrorKind::SourceChanged), and no object is created. After that, until the last response has
/// come, it also ends with that error, though the server may have the object.
///
/// # Examples
///
/// ```
/// use gax_transfer::UploadSource;
///
/// let bytes = UploadSource::from("meow");
/// let file = UploadSource::file("cat.jpg");
/// let pipe = UploadSource::reader(&b"meow"[..]).with_size(4);
/// # drop((bytes, file, pipe));
/// ```
#[must_use]
pub struct UploadSource {
    pub(super) input: Input,
    pub(super) size: Option<u64>,
}

pub(super) enum Input {
    Bytes(Bytes),
    File(PathBuf),
    Seekable(Box<dyn SeekableRead>),
    Reader(Box<dyn AsyncRead + Send + Unpin>),
}

/// Something that can be read from any place.
pub(super) trait SeekableRead: AsyncRead + AsyncSeek + Send + Unpin {}

impl<T: AsyncRead + AsyncSeek + Send + Unpin> SeekableRead for T {}

impl UploadSource {
    fn of(input: Input) -> Self {
        Self { input, size: None }
    }

    /// The file of that path, which is opened when the upload is sent. A pipe with a name, or a device, is a
    /// [reader](Self::reader).
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self::of(Input::File(path.into()))
    }

    /// Something that can be read from any place. Its size is asked for by a seek to its end.
    pub fn seekable(source: impl AsyncRead + AsyncSeek + Send + Unpin + 'static) -> Self {
        Self::of(Input::Seekable(Box::new(source)))
    }

    /// A reader that can be read once, from its beginning, even if the upload continues a session.
    pub fn reader(source: impl AsyncRead + Send + Unpin + 'static) -> Self {
        Self::of(Input::Reader(Box::new(source)))
    }

    /// The source, which has that many bytes. Of a reader it isn't known otherwise before its end.
    pub fn with_size(self, bytes: u64) -> Self {
        Self { size: Some(bytes), ..self }
    }
}

macro_rules! in_memory {
    ($($kind:ty),+) => {
        $(impl From<$kind> for UploadSource {
            fn from(bytes: $kind) -> Self {
                Self::of(Input::Bytes(bytes.into()))
            }
        })+
    };
}

in_memory!(Bytes, Vec<u8>, String, &'static [u8], &'static str);

impl fmt::Debug for UploadSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match &self.input {
            Input::Bytes(bytes) => return f.debug_tuple("UploadSource").field(&bytes.len()).finish(),
            Input::File(path) => return f.debug_tuple("UploadSource").field(path).finish(),
            Input::Seekable(_) => "seekable",
            Input::Reader(_) => "reader",
        };
        f.debug_tuple("UploadSource").field(&format_args!("{kind}")).finish()
    }
}

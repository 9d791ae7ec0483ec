//! Bodies that a server has compressed.

use flate2::write::MultiGzDecoder;
use http::HeaderMap;
use http::header::CONTENT_ENCODING;
use std::fmt;
use std::io::{self, Write as _};

/// A body's bytes, as they are after decompression.
pub(super) enum Unpacked {
    /// It is not compressed.
    Plain,
    Gzip(Box<MultiGzDecoder<Vec<u8>>>),
}

impl fmt::Debug for Unpacked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plain => "Plain",
            Self::Gzip(_) => "Gzip",
        })
    }
}

impl Unpacked {
    /// By the headers of the response; or the encoding that nobody asked for.
    pub(super) fn of(headers: &HeaderMap) -> Result<Self, String> {
        match headers.get(CONTENT_ENCODING).map(|value| value.as_bytes().to_ascii_lowercase()) {
            None => Ok(Self::Plain),
            Some(value) if value == b"identity" => Ok(Self::Plain),
            Some(value) if value == b"gzip" || value == b"x-gzip" => {
                Ok(Self::Gzip(Box::new(MultiGzDecoder::new(Vec::new()))))
            }
            Some(value) => Err(String::from_utf8_lossy(&value).into_owned()),
        }
    }

    /// Appends what the next bytes of the body are. It stops soon after the limit.
    pub(super) fn unpack(&mut self, bytes: &[u8], into: &mut Vec<u8>, limit: usize) -> io::Result<()> {
        // A few bytes may become a thousand times as many.
        const PIECE: usize = 1024;
        match self {
            Self::Plain => into.extend_from_slice(bytes),
            Self::Gzip(decoder) => {
                for piece in bytes.chunks(PIECE) {
                    decoder.write_all(piece)?;
                    into.append(decoder.get_mut());
                    if into.len() > limit {
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// Appends what is left at the body's end.
    pub(super) fn finish(&mut self, into: &mut Vec<u8>) -> io::Result<()> {
        if let Self::Gzip(decoder) = self {
            decoder.try_finish()?;
            into.append(decoder.get_mut());
        }
        Ok(())
    }
}

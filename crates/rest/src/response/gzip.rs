//! Bodies that a server has compressed.

use bytes::Bytes;
use flate2::write::MultiGzDecoder;
use http::HeaderMap;
use http::header::CONTENT_ENCODING;
use std::io::{self, Write as _};

/// A body's bytes, as they are after decompression.
pub(super) enum Unpacked {
    /// It is not compressed.
    Plain,
    Gzip {
        decoder: Box<MultiGzDecoder<Vec<u8>>>,
        is_blank: bool,
    },
}

impl Unpacked {
    /// By the headers of the response; or the encoding that was not requested.
    pub(super) fn of(headers: &HeaderMap) -> Result<Self, String> {
        match headers.get(CONTENT_ENCODING).map(|value| value.as_bytes().to_ascii_lowercase()) {
            None => Ok(Self::Plain),
            Some(value) if value == b"identity" => Ok(Self::Plain),
            Some(value) if value == b"gzip" || value == b"x-gzip" => {
                Ok(Self::Gzip { decoder: Box::new(MultiGzDecoder::new(Vec::new())), is_blank: true })
            }
            Some(value) => Err(String::from_utf8_lossy(&value).into_owned()),
        }
    }

    /// Appends what the next bytes of the body are. It stops soon after the limit: then some of the bytes are left.
    pub(super) fn unpack(&mut self, bytes: &mut Bytes, into: &mut Vec<u8>, limit: usize) -> io::Result<()> {
        // A few bytes may become a thousand times as many.
        const PIECE: usize = 1024;
        match self {
            Self::Plain => into.extend_from_slice(&std::mem::take(bytes)),
            Self::Gzip { decoder, is_blank } => {
                while !bytes.is_empty() && into.len() <= limit {
                    *is_blank = false;
                    decoder.write_all(&bytes.split_to(bytes.len().min(PIECE)))?;
                    // The decoder holds a part back until then.
                    decoder.flush()?;
                    into.append(decoder.get_mut());
                }
            }
        }
        Ok(())
    }

    /// Appends what is left at the body's end. A body without a byte is one without compression, too: it may have been one of a
    /// status or a verb that has no body.
    pub(super) fn finish(&mut self, into: &mut Vec<u8>) -> io::Result<()> {
        if let Self::Gzip { decoder, is_blank: false } = self {
            decoder.try_finish()?;
            into.append(decoder.get_mut());
        }
        Ok(())
    }
}

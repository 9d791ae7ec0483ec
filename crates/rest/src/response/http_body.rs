//! The body of an HTTP response, regardless of its type.

use crate::http_service::RestHttpService;
use crate::problem::{broken, too_long, unreadable};
use bytes::{Buf as _, Bytes};
use flate2::write::MultiGzDecoder;
use gax_http::__private::Part;
use gax_wire::__private::BoxError;
use http::HeaderMap;
use http::header::CONTENT_ENCODING;
use http_body::{Body as _, Frame};
use http_body_util::BodyExt as _;
use http_body_util::combinators::UnsyncBoxBody;
use std::future::poll_fn;
use std::io::{self, Write as _};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tonic::Status;

/// The bytes of a response's body, after decompression.
pub(crate) struct HttpBytes {
    body: UnsyncBoxBody<Bytes, BoxError>,
    /// The bytes that came and are not unpacked yet.
    packed: Bytes,
    unpacked: Unpacked,
    is_java: bool,
}

impl HttpBytes {
    /// The body of a response with these headers.
    pub(crate) fn new<S: RestHttpService>(
        headers: &HeaderMap,
        body: S::ResponseBody,
        is_java: bool,
    ) -> Result<Self, Status> {
        let unpacked = Unpacked::of(headers).map_err(|encoding| {
            let message = format!("the response has content-encoding {encoding:?}, which was not requested");
            unreadable(message, false, is_java)
        })?;
        let to_bytes = |frame: Frame<<S::ResponseBody as http_body::Body>::Data>| {
            frame.map_data(|mut data| data.copy_to_bytes(data.remaining()))
        };
        let body = body.map_frame(to_bytes).map_err(Into::into).boxed_unsync();
        Ok(Self { body, packed: Bytes::new(), unpacked, is_java })
    }

    /// Appends the next bytes; `false`: there are no more. More than the limit is more than is appended at once.
    pub(super) fn poll_append(
        &mut self,
        cx: &mut Context<'_>,
        into: &mut Vec<u8>,
        limit: usize,
    ) -> Poll<Result<bool, Status>> {
        loop {
            if !self.packed.is_empty() {
                let unpacked = self.unpacked.unpack(&mut self.packed, into, limit);
                unpacked.map_err(|error| self.corrupt(&error, false))?;
                return Poll::Ready(Ok(true));
            }
            let Some(frame) = ready!(Pin::new(&mut self.body).poll_frame(cx)) else {
                let finished = self.unpacked.finish(into);
                // Bytes that are wrong have been reported before: the rest is missing.
                return Poll::Ready(finished.map(|()| false).map_err(|error| self.corrupt(&error, true)));
            };
            let frame = frame.map_err(|error| broken(error, Part::Body, self.is_java))?;
            self.packed = frame.into_data().unwrap_or_default();
        }
    }

    fn corrupt(&self, error: &io::Error, is_cut: bool) -> Status {
        unreadable(format!("the response is not valid gzip: {error}"), is_cut, self.is_java)
    }

    /// Reads all of it, up to that limit.
    pub(crate) async fn read(mut self, limit: usize) -> Result<Vec<u8>, Status> {
        let mut all = Vec::new();
        while poll_fn(|cx| self.poll_append(cx, &mut all, limit)).await? {
            if all.len() > limit {
                return Err(too_long(limit));
            }
        }
        if all.len() > limit { Err(too_long(limit)) } else { Ok(all) }
    }

    /// Reads what comes of it, up to that limit, whatever is wrong with the rest.
    pub(crate) async fn read_some(mut self, limit: usize) -> Vec<u8> {
        let mut all = Vec::new();
        while all.len() <= limit {
            if !matches!(poll_fn(|cx| self.poll_append(cx, &mut all, limit)).await, Ok(true)) {
                break;
            }
        }
        all
    }
}

/// A body's bytes, as they are after decompression.
enum Unpacked {
    /// It is not compressed.
    Plain,
    Gzip {
        decoder: Box<MultiGzDecoder<Vec<u8>>>,
        is_blank: bool,
    },
}

impl Unpacked {
    /// By the headers of the response; or the encoding that was not requested.
    fn of(headers: &HeaderMap) -> Result<Self, String> {
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
    fn unpack(&mut self, bytes: &mut Bytes, into: &mut Vec<u8>, limit: usize) -> io::Result<()> {
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
    fn finish(&mut self, into: &mut Vec<u8>) -> io::Result<()> {
        if let Self::Gzip { decoder, is_blank: false } = self {
            decoder.try_finish()?;
            into.append(decoder.get_mut());
        }
        Ok(())
    }
}

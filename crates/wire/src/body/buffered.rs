//! A body whose beginning was buffered.
#![allow(missing_docs, reason = "for the crates of this repository alone")]

use crate::body::frame_buffer::FrameBuffer;
use bytes::Bytes;
use http::HeaderMap;
use http_body::{Frame, SizeHint};
use std::task::{Context, Poll};

/// The part of a body that still arrives, of either transport.
pub trait OpenPart {
    type Error;

    fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>>;

    fn is_end_stream(&self) -> bool;

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }

    /// The caller is about to get these bytes, which were buffered before.
    fn handing_on(&mut self, _data: &[u8]) {}
}

/// The part of a body that follows its buffered data.
#[derive(Debug, Default)]
#[expect(clippy::exhaustive_enums, reason = "our own crates match it whole")]
pub enum Remainder<O, E> {
    /// Nothing.
    #[default]
    End,
    Trailers(HeaderMap),
    /// It still arrives.
    Open(O),
    /// The error that the body ends with.
    Failed(Box<E>),
}

/// A body whose beginning was buffered.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "our own crates make it")]
pub struct BufferedBody<O, E> {
    pub frames: FrameBuffer,
    pub remainder: Remainder<O, E>,
}

impl<E, O: OpenPart<Error = E>> BufferedBody<O, E> {
    #[inline]
    pub fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, E>>> {
        if let Some(data) = self.frames.pop() {
            if let Remainder::Open(open) = &mut self.remainder {
                open.handing_on(&data);
            }
            return Poll::Ready(Some(Ok(Frame::data(data))));
        }
        if let Remainder::Open(open) = &mut self.remainder {
            // It is looked at where it is returned: to hand it on would copy it (bench `streams`, instructions).
            let polled = open.poll_frame(cx);
            if matches!(polled, Poll::Ready(None | Some(Err(_)))) {
                self.remainder = Remainder::End;
            }
            return polled;
        }
        Poll::Ready(match std::mem::take(&mut self.remainder) {
            Remainder::Trailers(trailers) => Some(Ok(Frame::trailers(trailers))),
            Remainder::Failed(error) => Some(Err(*error)),
            Remainder::Open(_) | Remainder::End => None,
        })
    }

    pub fn is_end_stream(&self) -> bool {
        self.frames.is_empty()
            && match &self.remainder {
                Remainder::End => true,
                Remainder::Trailers(_) | Remainder::Failed(_) => false,
                Remainder::Open(open) => open.is_end_stream(),
            }
    }

    pub fn size_hint(&self) -> SizeHint {
        let rest = match &self.remainder {
            Remainder::Open(open) => open.size_hint(),
            Remainder::End | Remainder::Trailers(_) => SizeHint::with_exact(0),
            Remainder::Failed(_) => SizeHint::default(),
        };
        let buffered = u64::try_from(self.frames.len()).unwrap_or(u64::MAX);
        let mut hint = SizeHint::default();
        hint.set_lower(buffered.saturating_add(rest.lower()));
        if let Some(upper) = rest.upper() {
            hint.set_upper(buffered.saturating_add(upper));
        }
        hint
    }
}

//! Data of a body that is buffered: a response that has yet to be classified, a request to be sent again.

use bytes::{Bytes, BytesMut};
use std::collections::VecDeque;

/// Data frames in the order in which they came.
///
/// The first frame lives inline: most unary responses have one. Short frames after it are put together: each by
/// itself would take more for its bookkeeping than for its bytes.
#[derive(Debug, Default)]
pub struct FrameBuffer {
    first: Option<Bytes>,
    rest: Option<Box<Rest>>,
}

/// The frames after the first, behind a pointer since there rarely are any.
#[derive(Debug, Default)]
struct Rest {
    frames: VecDeque<Bytes>,
    /// The short ones that came last, in one piece.
    short: BytesMut,
    len: usize,
}

impl From<Bytes> for FrameBuffer {
    fn from(data: Bytes) -> Self {
        Self { first: Some(data), rest: None }
    }
}

impl Rest {
    /// Below this many bytes a frame is copied, rather than kept.
    const SHORT: usize = 1024;

    fn push(&mut self, data: Bytes) {
        self.len += data.len();
        if data.len() < Self::SHORT {
            self.short.extend_from_slice(&data);
            return;
        }
        if !self.short.is_empty() {
            self.frames.push_back(self.short.split().freeze());
        }
        self.frames.push_back(data);
    }

    // Of its own, since bodies of one frame have no use for it (bench `speed`, instructions).
    #[inline(never)]
    fn pop(&mut self) -> Option<Bytes> {
        let short = &mut self.short;
        let next = self.frames.pop_front().or_else(|| {
            let all = std::mem::take(short);
            (!all.is_empty()).then(|| all.freeze())
        })?;
        self.len -= next.len();
        Some(next)
    }
}

impl FrameBuffer {
    /// Takes another frame; one of nothing is left out.
    #[inline]
    pub fn push(&mut self, data: Bytes) {
        if data.is_empty() {
            return;
        }
        if self.first.is_none() && self.rest.is_none() {
            self.first = Some(data);
        } else {
            self.push_another(data);
        }
    }

    #[cold]
    fn push_another(&mut self, data: Bytes) {
        if self.is_empty() {
            self.first = Some(data);
        } else {
            self.rest.get_or_insert_default().push(data);
        }
    }

    /// The bytes held.
    pub fn len(&self) -> usize {
        self.first.as_ref().map_or(0, Bytes::len) + self.rest.as_ref().map_or(0, |rest| rest.len)
    }

    /// Returns whether nothing is held.
    pub fn is_empty(&self) -> bool {
        self.first.is_none() && self.rest.as_ref().is_none_or(|rest| rest.len == 0)
    }

    /// The first frame, where it has not been handed to the caller.
    #[inline]
    pub fn first(&self) -> Option<&[u8]> {
        self.first.as_deref()
    }

    /// All that is held, piece by piece.
    pub fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        let rest = self.rest.iter().flat_map(|rest| {
            rest.frames.iter().map(Bytes::as_ref).chain(std::iter::once(rest.short.as_ref()))
        });
        self.first.iter().map(Bytes::as_ref).chain(rest)
    }

    /// The next piece to pass on.
    #[inline]
    pub fn pop(&mut self) -> Option<Bytes> {
        if self.first.is_some() {
            return self.first.take();
        }
        self.pop_rest()
    }

    #[inline]
    fn pop_rest(&mut self) -> Option<Bytes> {
        let next = self.rest.as_mut()?.pop();
        if next.is_none() {
            // Nobody asks again, for every frame of a stream (bench `streams`, instructions).
            self.rest = None;
        }
        next
    }

    /// All frames as one buffer, without a copy if there is one only.
    #[inline]
    pub fn into_bytes(self) -> Bytes {
        if self.rest.is_none() {
            return self.first.unwrap_or_default();
        }
        self.joined()
    }

    #[cold]
    fn joined(self) -> Bytes {
        let mut all = Vec::with_capacity(self.len());
        for piece in self.pieces() {
            all.extend_from_slice(piece);
        }
        Bytes::from(all)
    }
}

#[cfg(test)]
impl FrameBuffer {
    pub(super) fn of(frames: &[&'static [u8]]) -> Self {
        let mut buffer = Self::default();
        for frame in frames {
            buffer.push(Bytes::from_static(frame));
        }
        buffer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_out_in_order() {
        let long = Bytes::from(vec![b'l'; 1024]);
        let mut buffer = FrameBuffer::of(&[b"ab", b"c", b"", b"de"]);
        buffer.push(long.clone());
        buffer.push(long.clone());
        buffer.push(Bytes::from_static(b"f"));
        buffer.push(Bytes::from_static(b"g"));
        assert_eq!(buffer.len(), 2055);
        let popped: Vec<_> = std::iter::from_fn(|| buffer.pop()).collect();
        assert_eq!(popped, [&b"ab"[..], b"cde", &long, &long, b"fg"]);
        assert!(buffer.is_empty());
        buffer.push(Bytes::from_static(b"h"));
        assert_eq!((buffer.len(), buffer.pop()), (1, Some(Bytes::from_static(b"h"))));
        assert_eq!(FrameBuffer::of(&[b"ab", b"c", b"de"]).into_bytes(), "abcde");
        assert_eq!(FrameBuffer::of(&[]).into_bytes(), "");
    }
}

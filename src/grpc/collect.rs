//! Data of a body that is held back: a response that has yet to be judged, a request to be sent again.

use bytes::{Bytes, BytesMut};
use std::collections::VecDeque;

/// Data frames in the order in which they came.
///
/// The first frame lives inline: most unary responses have one. Short frames after it are put together: each by
/// itself would take more for its bookkeeping than for its bytes.
#[derive(Debug, Default)]
pub(crate) struct Collected {
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

/// The length of the prefix before a gRPC message: a flag and a 32-bit length.
pub(crate) const PREFIX: usize = 5;

impl From<Bytes> for Collected {
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

impl Collected {
    /// Takes another frame; one of nothing is left out.
    #[inline]
    pub(crate) fn push(&mut self, data: Bytes) {
        if data.is_empty() {
            return;
        }
        if self.is_empty() {
            self.first = Some(data);
        } else {
            self.rest.get_or_insert_default().push(data);
        }
    }

    /// The bytes held.
    pub(crate) fn len(&self) -> usize {
        self.first.as_ref().map_or(0, Bytes::len) + self.rest.as_ref().map_or(0, |rest| rest.len)
    }

    /// Whether nothing is held.
    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_none() && self.rest.as_ref().is_none_or(|rest| rest.len == 0)
    }

    /// Whether a whole gRPC message is held.
    pub(crate) fn has_message(&self) -> bool {
        self.message_end().is_some_and(|end| self.len() >= end)
    }

    /// Whether more than one gRPC message is held, or a part of another.
    #[inline]
    pub(crate) fn has_more_than_a_message(&self) -> bool {
        self.message_end().is_some_and(|end| self.len() > end)
    }

    /// Whether exactly one gRPC message is held.
    #[inline]
    pub(crate) fn is_one_message(&self) -> bool {
        self.message_end() == Some(self.len())
    }

    /// How many bytes the first message takes with its prefix, once that is there.
    #[inline]
    fn message_end(&self) -> Option<usize> {
        let prefix = self.first.as_deref()?.first_chunk().copied();
        let [_, length @ ..]: [u8; PREFIX] = prefix.or_else(|| self.scattered_prefix())?;
        Some(usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX).saturating_add(PREFIX))
    }

    /// The prefix, where the first frame is shorter than that.
    #[cold]
    fn scattered_prefix(&self) -> Option<[u8; PREFIX]> {
        let mut bytes = self.pieces().flatten().copied();
        let mut prefix = [0; PREFIX];
        for byte in &mut prefix {
            *byte = bytes.next()?;
        }
        Some(prefix)
    }

    fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        let rest = self.rest.iter().flat_map(|rest| {
            rest.frames.iter().map(Bytes::as_ref).chain(std::iter::once(rest.short.as_ref()))
        });
        self.first.iter().map(Bytes::as_ref).chain(rest)
    }

    /// The next piece to pass on.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Bytes> {
        match &mut self.rest {
            Some(rest) if self.first.is_none() => rest.pop(),
            _ => self.first.take(),
        }
    }

    /// All frames as one buffer, without a copy where there is one only.
    pub(crate) fn into_bytes(self) -> Bytes {
        if self.rest.as_ref().is_none_or(|rest| rest.len == 0) {
            return self.first.unwrap_or_default();
        }
        let mut all = Vec::with_capacity(self.len());
        for piece in self.pieces() {
            all.extend_from_slice(piece);
        }
        Bytes::from(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(frames: &[&'static [u8]]) -> Collected {
        let mut collected = Collected::default();
        for frame in frames {
            collected.push(Bytes::from_static(frame));
        }
        collected
    }

    #[test]
    fn a_message_is_whole_however_its_bytes_are_cut() {
        assert!(!of(&[]).has_message());
        assert!(!of(&[b"\0\0\0\0"]).has_message());
        assert!(of(&[b"\0\0\0\0\0"]).has_message());
        assert!(!of(&[b"\0\0\0", b"\0\x03ab"]).has_message());
        assert!(of(&[b"\0\0", b"\0\0\x03", b"ab", b"c"]).has_message());
        assert!(!of(&[b"\0\xff\xff\xff\xff", b"abc"]).has_message());
    }

    #[test]
    fn a_second_message_is_seen_as_soon_as_it_begins() {
        assert!(!of(&[]).has_more_than_a_message());
        assert!(!of(&[b"\0\0\0\0\x01", b"a"]).has_more_than_a_message());
        assert!(of(&[b"\0\0\0\0\x01a", b"\0"]).has_more_than_a_message());
        assert!(of(&[b"\0\0\0\0\0\0"]).has_more_than_a_message());
        assert!(of(&[b"\0\0", b"\0\0\x01a\0"]).has_more_than_a_message());
    }

    #[test]
    fn bytes_come_out_in_order() {
        let long = Bytes::from(vec![b'l'; 1024]);
        let mut collected = of(&[b"ab", b"c", b"", b"de"]);
        collected.push(long.clone());
        collected.push(long.clone());
        collected.push(Bytes::from_static(b"f"));
        collected.push(Bytes::from_static(b"g"));
        assert_eq!(collected.len(), 2055);
        let popped: Vec<_> = std::iter::from_fn(|| collected.pop()).collect();
        assert_eq!(popped, [&b"ab"[..], b"cde", &long, &long, b"fg"]);
        assert!(collected.is_empty());
        collected.push(Bytes::from_static(b"h"));
        assert_eq!((collected.len(), collected.pop()), (1, Some(Bytes::from_static(b"h"))));
        assert_eq!(of(&[b"ab", b"c", b"de"]).into_bytes(), "abcde");
        assert_eq!(of(&[]).into_bytes(), "");
    }
}

//! gRPC messages among the frames of a body.

use crate::body::frame_buffer::FrameBuffer;
use gax_driver::__private::PREFIX;

impl FrameBuffer {
    /// Returns whether a whole gRPC message is held.
    pub fn has_message(&self) -> bool {
        self.message_end().is_some_and(|end| self.len() >= end)
    }

    /// Returns whether more than one gRPC message is held, or a part of another.
    #[inline]
    pub fn has_more_than_a_message(&self) -> bool {
        self.message_end().is_some_and(|end| self.len() > end)
    }

    /// Returns whether exactly one gRPC message is held.
    #[inline]
    pub fn is_one_message(&self) -> bool {
        self.message_end() == Some(self.len())
    }

    /// How many bytes the first message takes with its prefix, once that is there.
    #[inline]
    fn message_end(&self) -> Option<usize> {
        let prefix = self.first()?.first_chunk().copied();
        Some(end_after(prefix.or_else(|| self.scattered_prefix())?))
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
}

/// Returns whether that is exactly one gRPC message.
#[inline]
#[must_use]
pub fn is_one_message(data: &[u8]) -> bool {
    data.first_chunk().is_some_and(|prefix| end_after(*prefix) == data.len())
}

/// How many bytes the message takes that this is the prefix of.
#[inline]
fn end_after([_, length @ ..]: [u8; PREFIX]) -> usize {
    usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX).saturating_add(PREFIX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_whole_however_its_bytes_are_cut() {
        assert!(!FrameBuffer::of(&[]).has_message());
        assert!(!FrameBuffer::of(&[b"\0\0\0\0"]).has_message());
        assert!(FrameBuffer::of(&[b"\0\0\0\0\0"]).has_message());
        assert!(!FrameBuffer::of(&[b"\0\0\0", b"\0\x03ab"]).has_message());
        assert!(FrameBuffer::of(&[b"\0\0", b"\0\0\x03", b"ab", b"c"]).has_message());
        assert!(!FrameBuffer::of(&[b"\0\xff\xff\xff\xff", b"abc"]).has_message());
    }

    #[test]
    fn one_message_is_neither_cut_nor_followed_by_another() {
        assert!(is_one_message(b"\0\0\0\0\0"));
        assert!(is_one_message(b"\0\0\0\0\x02ab"));
        for other in [&b""[..], b"\0\0\0\0", b"\0\0\0\0\x02a", b"\0\0\0\0\x02abc"] {
            assert!(!is_one_message(other), "{other:?}");
        }
    }

    #[test]
    fn a_second_message_is_seen_as_soon_as_it_begins() {
        assert!(!FrameBuffer::of(&[]).has_more_than_a_message());
        assert!(!FrameBuffer::of(&[b"\0\0\0\0\x01", b"a"]).has_more_than_a_message());
        assert!(FrameBuffer::of(&[b"\0\0\0\0\x01a", b"\0"]).has_more_than_a_message());
        assert!(FrameBuffer::of(&[b"\0\0\0\0\0\0"]).has_more_than_a_message());
        assert!(FrameBuffer::of(&[b"\0\0", b"\0\0\x01a\0"]).has_more_than_a_message());
    }
}

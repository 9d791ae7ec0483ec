//! Data of a body that is held back: a response that has yet to be judged, a request to be sent again.

use bytes::Bytes;
use std::collections::VecDeque;

/// Data frames in the order in which they came.
///
/// The first frame lives inline: most unary responses have one.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    first: Option<Bytes>,
    rest: Option<Box<Rest>>,
}

/// The frames after the first, behind a pointer since there rarely are any.
#[derive(Debug, Default)]
struct Rest {
    frames: VecDeque<Bytes>,
    len: usize,
}

/// The length of the prefix before a gRPC message: a flag and a 32-bit length.
pub(crate) const PREFIX: usize = 5;

impl From<Bytes> for Collected {
    fn from(data: Bytes) -> Self {
        Self { first: Some(data), rest: None }
    }
}

impl Collected {
    pub(crate) fn push(&mut self, data: Bytes) {
        if self.is_empty() {
            self.first = Some(data);
        } else {
            let rest = self.rest.get_or_insert_default();
            rest.len += data.len();
            rest.frames.push_back(data);
        }
    }

    /// The bytes held.
    pub(crate) fn len(&self) -> usize {
        self.first.as_ref().map_or(0, Bytes::len) + self.rest.as_ref().map_or(0, |rest| rest.len)
    }

    /// Whether no frame is held.
    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_none() && self.rest.as_ref().is_none_or(|rest| rest.frames.is_empty())
    }

    /// Whether a whole gRPC message is held.
    pub(crate) fn has_message(&self) -> bool {
        if self.is_empty() {
            return false;
        }
        let mut prefix = self.frames().flat_map(|frame| frame.iter().copied()).take(PREFIX).skip(1);
        let mut message = 0_usize;
        for _ in 1..PREFIX {
            let Some(byte) = prefix.next() else {
                return false;
            };
            message = message << 8 | usize::from(byte);
        }
        self.len() >= message.saturating_add(PREFIX)
    }

    fn frames(&self) -> impl Iterator<Item = &Bytes> {
        self.first.iter().chain(self.rest.iter().flat_map(|rest| rest.frames.iter()))
    }

    /// The next frame to pass on.
    pub(crate) fn pop(&mut self) -> Option<Bytes> {
        self.first.take().or_else(|| {
            let rest = self.rest.as_mut()?;
            let next = rest.frames.pop_front()?;
            rest.len -= next.len();
            Some(next)
        })
    }

    /// All frames as one buffer, without a copy where there is one only.
    pub(crate) fn into_bytes(self) -> Bytes {
        if self.rest.as_ref().is_none_or(|rest| rest.frames.is_empty()) {
            return self.first.unwrap_or_default();
        }
        let mut all = Vec::with_capacity(self.len());
        for frame in self.frames() {
            all.extend_from_slice(frame);
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
    fn frames_come_out_in_order() {
        let mut collected = of(&[b"ab", b"c", b"de"]);
        assert_eq!(collected.len(), 5);
        assert_eq!(of(&[b"ab", b"c", b"de"]).into_bytes(), "abcde");
        let popped: Vec<_> = std::iter::from_fn(|| collected.pop()).collect();
        assert_eq!(popped, ["ab", "c", "de"]);
        assert_eq!(collected.len(), 0);
        assert_eq!(of(&[]).into_bytes(), "");
    }
}

//! A stream of responses that somebody observes, until its end.

use super::message::PREFIX;
use crate::body::FrameBuffer;
use crate::operation::Observed;
use gax_retry::Code;
use std::fmt;

/// What is told of a response that was handed to the caller before its end. Dropped before that end, its operation was
/// cancelled.
pub(crate) struct ObservedStream {
    /// Until the end is told.
    observed: Option<Box<Observed>>,
    /// `None`: the response is one message, which is no stream.
    messages: Option<MessageCounter>,
}

impl ObservedStream {
    pub(crate) fn new(observed: Box<Observed>, is_stream: bool) -> Self {
        Self { observed: Some(observed), messages: is_stream.then(MessageCounter::default) }
    }

    /// The caller is about to get these bytes.
    pub(super) fn data(&mut self, data: &[u8]) {
        if let (Some(observed), Some(messages)) = (&self.observed, &mut self.messages) {
            (0..messages.count(data)).for_each(|_| observed.response_received());
        }
    }

    /// The stream has ended with that code.
    pub(super) fn ended(&mut self, code: Code) {
        if let Some(observed) = self.observed.take() {
            observed.stream_ended(code);
        }
    }

    /// A response of which everything is there.
    pub(crate) fn whole(observed: Box<Observed>, frames: &FrameBuffer, is_stream: bool) {
        let mut stream = Self::new(observed, is_stream);
        frames.pieces().for_each(|piece| stream.data(piece));
        if let Some(observed) = stream.observed.take() {
            observed.succeeded();
        }
    }
}

impl fmt::Debug for ObservedStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObservedStream").finish_non_exhaustive()
    }
}

/// Counts messages whose bytes come piece by piece.
#[derive(Debug, Default)]
struct MessageCounter {
    prefix: [u8; PREFIX],
    /// How much of the prefix is there.
    known: usize,
    /// How much of the message is missing, once its prefix is there.
    missing: usize,
}

impl MessageCounter {
    /// How many messages these bytes complete.
    fn count(&mut self, mut data: &[u8]) -> usize {
        let mut complete = 0;
        loop {
            if self.known == PREFIX {
                let taken = self.missing.min(data.len());
                self.missing -= taken;
                data = data.get(taken..).unwrap_or_default();
                if self.missing > 0 {
                    return complete;
                }
                self.known = 0;
                complete += 1;
            }
            let Some((byte, rest)) = data.split_first() else { return complete };
            data = rest;
            if let Some(place) = self.prefix.get_mut(self.known) {
                *place = *byte;
            }
            self.known += 1;
            if self.known == PREFIX {
                let [_, length @ ..] = self.prefix;
                self.missing = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::MessageCounter;

    #[test]
    fn messages_are_counted_however_their_bytes_are_cut() {
        let stream = b"\0\0\0\0\x02ab\0\0\0\0\0\0\0\0\0\x01c";
        assert_eq!(MessageCounter::default().count(stream), 3);
        for cut in 0..stream.len() {
            let (head, tail) = stream.split_at(cut);
            let mut counter = MessageCounter::default();
            assert_eq!(counter.count(head) + counter.count(tail), 3, "cut at {cut}");
        }
        let mut counter = MessageCounter::default();
        let counts: Vec<_> = stream.iter().map(|byte| counter.count(&[*byte])).collect();
        assert_eq!(counts, [0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1]);
    }
}

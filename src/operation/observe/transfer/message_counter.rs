//! Messages among the bytes of a body.

use super::WireMessage;

/// The length of the prefix before a gRPC message: a flag and a 32-bit length.
pub(crate) const PREFIX: usize = 5;

/// Counts gRPC messages whose bytes come piece by piece.
#[derive(Debug, Default)]
pub(crate) struct MessageCounter {
    prefix: [u8; PREFIX],
    /// How much of the prefix is there.
    known: usize,
    /// How much of the message is missing, once its prefix is there.
    missing: usize,
    /// How many messages are complete.
    complete: u64,
    /// The bytes of messages, complete or not.
    bytes: u64,
}

impl MessageCounter {
    /// The bytes of messages so far, without their prefixes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Tells of the messages that these bytes complete.
    pub(crate) fn count(&mut self, mut data: &[u8], mut tell: impl FnMut(WireMessage)) {
        loop {
            if self.known == PREFIX {
                let taken = self.missing.min(data.len());
                self.missing -= taken;
                self.bytes = self.bytes.saturating_add(u64::try_from(taken).unwrap_or(u64::MAX));
                data = data.get(taken..).unwrap_or_default();
                if self.missing > 0 {
                    return;
                }
                self.known = 0;
                tell(self.message());
                self.complete += 1;
            }
            let Some((byte, rest)) = data.split_first() else { return };
            data = rest;
            if let Some(place) = self.prefix.get_mut(self.known) {
                *place = *byte;
            }
            self.known += 1;
            if self.known == PREFIX {
                self.missing = usize::try_from(self.length()).unwrap_or(usize::MAX);
            }
        }
    }

    fn length(&self) -> u32 {
        let [_, length @ ..] = self.prefix;
        u32::from_be_bytes(length)
    }

    fn message(&self) -> WireMessage {
        let [flag, ..] = self.prefix;
        WireMessage { sequence: self.complete, size: u64::from(self.length()), is_compressed: flag == 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(counter: &mut MessageCounter, data: &[u8]) -> Vec<(u64, u64, bool)> {
        let mut messages = Vec::new();
        counter.count(data, |message| {
            messages.push((message.sequence(), message.size(), message.is_compressed()));
        });
        messages
    }

    #[test]
    fn messages_are_counted_however_their_bytes_are_cut() {
        let stream = b"\0\0\0\0\x02ab\x01\0\0\0\0\0\0\0\0\x01c";
        let messages = [(0, 2, false), (1, 0, true), (2, 1, false)];
        assert_eq!(count(&mut MessageCounter::default(), stream), messages);
        for cut in 0..stream.len() {
            let (head, tail) = stream.split_at(cut);
            let mut counter = MessageCounter::default();
            let cut_up = [count(&mut counter, head), count(&mut counter, tail)].concat();
            assert_eq!(cut_up, messages, "cut at {cut}");
            assert_eq!(counter.bytes(), 3);
        }
        let mut counter = MessageCounter::default();
        let counts: Vec<_> = stream.iter().map(|byte| count(&mut counter, &[*byte]).len()).collect();
        assert_eq!(counts, [0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1]);
    }

    #[test]
    fn bytes_of_a_message_that_breaks_off_count() {
        let mut counter = MessageCounter::default();
        assert_eq!(count(&mut counter, b"\0\0\0\0\x09abc"), []);
        assert_eq!(counter.bytes(), 3);
    }
}

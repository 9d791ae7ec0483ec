//! How much goes over the wire with an attempt: its messages, and their bytes.

use crate::operation::report::DelayType;
use std::time::Duration;

/// The bytes that an attempt sent and received, after it has ended, and how long its request waited for a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttemptTransfer {
    pub(super) sent: Option<u64>,
    pub(super) received: Option<u64>,
    pub(super) waited: Duration,
    pub(super) delay_type: Option<DelayType>,
}

impl AttemptTransfer {
    gax_text::getters! { self:
        /// The bytes of all messages of the request that the connection has read, as they were compressed, without the five
        /// bytes that gRPC puts before each. After a transparent retry those of the last request: no server has seen the others.
        /// `None`: it isn't known, since the attempt is not gRPC's.
        pub sent: Option<u64> = self.sent;

        /// The bytes of all messages of the response that have arrived, whether the caller took them or not.
        pub received: Option<u64> = self.received;

        /// How long the request waited: over gRPC from the attempt's start until the connection read its first bytes, and over
        /// HTTP until the client took it. Where that never happened, as long as the attempt took.
        pub waited: Duration = self.waited;

        /// The kind of that wait; `None`: it isn't known, because it used another connection than a `Connection`, or the
        /// attempt did not wait.
        pub delay_type: Option<DelayType> = self.delay_type;
    }
}

/// The length of the prefix before a gRPC message: a flag and a 32-bit length.
pub const PREFIX: usize = 5;

/// A gRPC message as it is on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WireMessage {
    sequence: u64,
    size: u64,
    is_compressed: bool,
}

impl WireMessage {
    gax_text::getters! { self:
        /// Its place among the messages that its attempt has sent, or received; the first is 0.
        pub sequence: u64 = self.sequence;

        /// How many bytes it has, without the five bytes that gRPC puts before it. Of a compressed one the bytes that go over
        /// the wire.
        pub size: u64 = self.size;

        /// Returns whether it is compressed.
        pub is_compressed: bool = self.is_compressed;
    }
}

/// Counts gRPC messages whose bytes arrive in pieces.
#[derive(Debug, Default)]
pub struct MessageCounter {
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

    /// Calls the closure for each message that these bytes complete.
    pub fn count(&mut self, data: &[u8], completed: impl FnMut(WireMessage)) {
        self.scan(data, usize::MAX, completed);
    }

    /// Looks for the prefix of a message of more than `limit` bytes. `None`: it does not end in these bytes; otherwise it, and
    /// the bytes that follow.
    pub fn find_longer<'a>(&mut self, data: &'a [u8], limit: usize) -> Option<([u8; PREFIX], &'a [u8])> {
        let rest = self.scan(data, limit, |_| ())?;
        Some((self.prefix, rest))
    }

    /// Goes through these bytes, up to the prefix of a message of more than `limit` bytes. What follows it, if it ends here.
    fn scan<'a>(
        &mut self,
        mut data: &'a [u8],
        limit: usize,
        mut completed: impl FnMut(WireMessage),
    ) -> Option<&'a [u8]> {
        loop {
            if self.known == PREFIX {
                let taken = self.missing.min(data.len());
                self.missing -= taken;
                self.bytes = self.bytes.saturating_add(u64::try_from(taken).unwrap_or(u64::MAX));
                data = data.get(taken..).unwrap_or_default();
                if self.missing > 0 {
                    return None;
                }
                self.known = 0;
                completed(self.message());
                self.complete += 1;
            }
            let (byte, rest) = data.split_first()?;
            data = rest;
            if let Some(place) = self.prefix.get_mut(self.known) {
                *place = *byte;
            }
            self.known += 1;
            if self.known == PREFIX {
                self.missing = usize::try_from(self.length()).unwrap_or(usize::MAX);
                if self.missing > limit {
                    return Some(data);
                }
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

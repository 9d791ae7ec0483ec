//! Bytes as protobuf has them on the wire.

use bytes::Bytes;
use std::ops::Range;

/// The length of a gRPC frame's prefix.
const PREFIX: usize = 5;

/// How a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WireType {
    Varint = 0,
    Fixed64 = 1,
    Delimited = 2,
    StartGroup = 3,
    EndGroup = 4,
    Fixed32 = 5,
}

/// A message that is being written.
#[derive(Debug, Default)]
pub(super) struct Wire {
    bytes: Vec<u8>,
}

/// The place of a length that isn't known yet.
#[derive(Debug)]
#[must_use = "a length is written when its bytes are there"]
pub(super) struct Open(usize);

impl Wire {
    /// A gRPC frame of a message with so many bytes or more.
    pub(super) fn frame(length: usize) -> Self {
        let mut bytes = Vec::with_capacity(length.saturating_add(PREFIX));
        bytes.extend([0; PREFIX]);
        Self { bytes }
    }

    /// The frame with its prefix; `None`: it is longer than a frame can be.
    pub(super) fn into_frame(mut self) -> Option<Bytes> {
        let length = u32::try_from(self.message().len()).ok()?;
        self.bytes.get_mut(1..PREFIX)?.copy_from_slice(&length.to_be_bytes());
        Some(self.bytes.into())
    }

    /// The message of a frame.
    pub(super) fn message(&self) -> &[u8] {
        self.bytes.get(PREFIX..).unwrap_or_default()
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// For writers of messages.
    pub(super) fn bytes_mut(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    pub(super) fn put(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub(super) fn put_varint(&mut self, mut number: u64) {
        while number > 0x7f {
            self.bytes.push(low_bits(number) | 0x80);
            number >>= 7;
        }
        self.bytes.push(low_bits(number));
    }

    /// The number of a field, and how its value is written.
    pub(super) fn put_key(&mut self, field: u32, wire_type: WireType) {
        self.put_varint(u64::from(field) << 3 | wire_type as u64);
    }

    /// Begins bytes with their length in front. It is one byte, unless there are more than 127 of them.
    pub(super) fn open(&mut self) -> Open {
        self.bytes.push(0);
        Open(self.bytes.len())
    }

    /// Writes the length.
    pub(super) fn close(&mut self, Open(start): Open) {
        let place = start.saturating_sub(1);
        let length = self.bytes.len().saturating_sub(start);
        if let (Ok(length @ ..0x80), Some(place)) = (u8::try_from(length), self.bytes.get_mut(place)) {
            *place = length;
            return;
        }
        let mut digits = Self::default();
        digits.put_varint(u64::try_from(length).unwrap_or(u64::MAX));
        self.bytes.splice(place..start, digits.bytes);
    }

    /// Takes bytes out that were written.
    pub(super) fn remove(&mut self, range: Range<usize>) {
        self.bytes.drain(range);
    }

    /// Takes out what was written after that many bytes.
    pub(super) fn truncate(&mut self, length: usize) {
        self.bytes.truncate(length);
    }
}

fn low_bits(number: u64) -> u8 {
    u8::try_from(number & 0x7f).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_as_many_bytes_as_they_need() {
        for (length, expected) in
            [(0, &[0_u8][..]), (127, &[127]), (128, &[0x80, 1]), (16_384, &[0x80, 0x80, 1])]
        {
            let mut wire = Wire::default();
            wire.put(b"a");
            let open = wire.open();
            wire.put(&vec![b'b'; length]);
            wire.close(open);
            let bytes = [b"a", expected, &vec![b'b'; length]].concat();
            assert!(wire.bytes == bytes, "{length}");
        }
    }

    #[test]
    fn numbers_are_varints() {
        for (number, expected) in [
            (0, &[0_u8][..]),
            (300, &[0xac, 2]),
            (u64::MAX, &[255, 255, 255, 255, 255, 255, 255, 255, 255, 1]),
        ] {
            let mut wire = Wire::default();
            wire.put_varint(number);
            assert_eq!(wire.bytes, expected);
        }
    }
}

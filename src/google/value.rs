//! Values of an encoded message's fields: no more of protobuf than a header takes.

use crate::google::short_text::ShortText;
use std::fmt::Write as _;

/// A value of a field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Value<'a> {
    Bytes(&'a [u8]),
    Bool(bool),
    Signed(i64),
    Unsigned(u64),
    Float(f32),
    Double(f64),
}

/// A value as it is in a message, without its type.
#[derive(Debug, Clone, Copy)]
enum Encoded<'a> {
    Varint(u64),
    Fixed64([u8; 8]),
    Bytes(&'a [u8]),
    Fixed32([u8; 4]),
}

impl<'a> Value<'a> {
    /// The value of the field that the numbers lead to, of a type by the number that `google.protobuf.FieldDescriptorProto.Type`
    /// gives it. Of several the last one applies, as in protobuf; `None`: there is none.
    pub(super) fn find(message: &'a [u8], path: &[u32], kind: i32) -> Option<Self> {
        let (number, inner) = path.split_first()?;
        let mut found = None;
        let mut fields = Fields { rest: message };
        while let Some((field, value)) = fields.next() {
            if field != *number {
                continue;
            }
            let value = match value {
                Encoded::Bytes(message) if !inner.is_empty() => Self::find(message, inner, kind),
                value if inner.is_empty() => Self::of(value, kind),
                _ => None,
            };
            found = value.or(found);
        }
        found
    }

    fn of(value: Encoded<'a>, kind: i32) -> Option<Self> {
        Some(match (kind, value) {
            (1, Encoded::Fixed64(bytes)) => Self::Double(f64::from_le_bytes(bytes)),
            (2, Encoded::Fixed32(bytes)) => Self::Float(f32::from_le_bytes(bytes)),
            (3 | 5 | 14, Encoded::Varint(number)) => Self::Signed(number.cast_signed()),
            (4 | 13, Encoded::Varint(number)) => Self::Unsigned(number),
            (6, Encoded::Fixed64(bytes)) => Self::Unsigned(u64::from_le_bytes(bytes)),
            (7, Encoded::Fixed32(bytes)) => Self::Unsigned(u32::from_le_bytes(bytes).into()),
            (8, Encoded::Varint(number)) => Self::Bool(number != 0),
            (9, Encoded::Bytes(bytes)) => Self::Bytes(bytes),
            (15, Encoded::Fixed32(bytes)) => Self::Signed(i32::from_le_bytes(bytes).into()),
            (16, Encoded::Fixed64(bytes)) => Self::Signed(i64::from_le_bytes(bytes)),
            // ZigZag.
            (17 | 18, Encoded::Varint(number)) => {
                Self::Signed((number >> 1).cast_signed() ^ -((number & 1).cast_signed()))
            }
            _ => return None,
        })
    }

    /// Writes it as text, escaped as in a URL.
    pub(super) fn write(self, text: &mut ShortText) {
        let written = match self {
            Self::Bytes(bytes) => {
                text.push_escaped(bytes);
                Ok(())
            }
            Self::Bool(value) => write!(text, "{value}"),
            Self::Signed(value) => write!(text, "{value}"),
            Self::Unsigned(value) => write!(text, "{value}"),
            // With a fraction in any case, as `0.0`.
            Self::Float(value) => write!(text, "{value:?}"),
            Self::Double(value) => write!(text, "{value:?}"),
        };
        debug_assert!(written.is_ok(), "memory takes any text");
    }
}

/// The fields of a message, up to where it can't be read.
struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    fn next(&mut self) -> Option<(u32, Encoded<'a>)> {
        let mut depth = 0_u32;
        loop {
            let tag = self.varint()?;
            let number = u32::try_from(tag >> 3).ok()?;
            let value = match tag & 7 {
                0 => Encoded::Varint(self.varint()?),
                1 => Encoded::Fixed64(*self.split(8)?.first_chunk()?),
                2 => {
                    let length = usize::try_from(self.varint()?).ok()?;
                    Encoded::Bytes(self.split(length)?)
                }
                // Groups, which no value is looked for in.
                3 => {
                    depth += 1;
                    continue;
                }
                4 => {
                    depth = depth.checked_sub(1)?;
                    continue;
                }
                5 => Encoded::Fixed32(*self.split(4)?.first_chunk()?),
                _ => return None,
            };
            if depth == 0 {
                return Some((number, value));
            }
        }
    }

    fn varint(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.rest.split_first()?;
            self.rest = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn split(&mut self, length: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prost::Message;

    #[derive(Clone, PartialEq, Message)]
    struct Everything {
        #[prost(double, tag = "1")]
        double: f64,
        #[prost(float, tag = "2")]
        float: f32,
        #[prost(int64, tag = "3")]
        int64: i64,
        #[prost(uint64, tag = "4")]
        uint64: u64,
        #[prost(int32, tag = "5")]
        int32: i32,
        #[prost(fixed64, tag = "6")]
        fixed64: u64,
        #[prost(fixed32, tag = "7")]
        fixed32: u32,
        #[prost(bool, tag = "8")]
        bool: bool,
        #[prost(string, tag = "9")]
        string: String,
        #[prost(message, optional, boxed, tag = "11")]
        inner: Option<Box<Everything>>,
        #[prost(uint32, tag = "13")]
        uint32: u32,
        #[prost(int32, tag = "14")]
        enumeration: i32,
        #[prost(sfixed32, tag = "15")]
        sfixed32: i32,
        #[prost(sfixed64, tag = "16")]
        sfixed64: i64,
        #[prost(sint32, tag = "17")]
        sint32: i32,
        #[prost(sint64, tag = "3000")]
        sint64: i64,
    }

    fn everything() -> Everything {
        Everything {
            double: -1.5,
            float: 0.1,
            int64: i64::MIN,
            uint64: u64::MAX,
            int32: -5,
            fixed64: 6,
            fixed32: u32::MAX,
            bool: true,
            string: "a/é".to_owned(),
            inner: None,
            uint32: u32::MAX,
            enumeration: -14,
            sfixed32: -15,
            sfixed64: i64::MAX,
            sint32: i32::MIN,
            sint64: i64::MAX,
        }
    }

    fn text(message: &[u8], path: &[u32], kind: i32) -> Option<String> {
        let mut text = ShortText::new();
        Value::find(message, path, kind)?.write(&mut text);
        Some(String::from_utf8(text.as_bytes().to_vec()).unwrap())
    }

    #[test]
    fn values_of_every_type_are_found_wherever_they_are() {
        let inner = Some(Box::new(everything()));
        let outer = Everything {
            inner: Some(Box::new(Everything { inner, ..Everything::default() })),
            ..everything()
        };
        let (plain, nested) = (everything().encode_to_vec(), outer.encode_to_vec());
        for (kind, expected) in [
            (1_i32, "-1.5"),
            (2, "0.1"),
            (3, "-9223372036854775808"),
            (4, "18446744073709551615"),
            (5, "-5"),
            (6, "6"),
            (7, "4294967295"),
            (8, "true"),
            (9, "a%2F%C3%A9"),
            (13, "4294967295"),
            (14, "-14"),
            (15, "-15"),
            (16, "9223372036854775807"),
            (17, "-2147483648"),
            (18, "9223372036854775807"),
        ] {
            let number = if kind == 18 { 3000 } else { kind.cast_unsigned() };
            assert_eq!(text(&plain, &[number], kind).as_deref(), Some(expected), "{kind}");
            assert_eq!(text(&nested, &[11, 11, number], kind).as_deref(), Some(expected), "{kind}");
            assert_eq!(text(&nested, &[11, number], kind), None, "{kind}");
            assert_eq!(text(&nested, &[number, 1], kind), None, "{kind}");
        }
    }

    #[test]
    fn of_several_values_the_last_one_counts() {
        let one = |string: &str| Everything { string: string.to_owned(), ..Everything::default() };
        let inner = |string: &str| Everything { inner: Some(Box::new(one(string))), ..Everything::default() };
        let both = |first: &Everything, second: &Everything| {
            [first.encode_to_vec(), second.encode_to_vec()].concat()
        };
        assert_eq!(text(&both(&one("a"), &one("b")), &[9], 9).as_deref(), Some("b"));
        assert_eq!(text(&both(&inner("a"), &inner("b")), &[11, 9], 9).as_deref(), Some("b"));
        // Messages are merged.
        assert_eq!(text(&both(&inner("a"), &inner("")), &[11, 9], 9).as_deref(), Some("a"));
    }

    #[test]
    fn groups_are_passed_over_and_what_can_t_be_read_ends_the_message() {
        // Field 1 as a group with a field 9 in it, and field 9 behind it.
        assert_eq!(text(b"\x0b\x4a\x01x\x0c\x4a\x01y", &[9], 9).as_deref(), Some("y"));
        for broken in
            [&b"\x4a"[..], b"\x4a\x05ab", b"\x0f", b"\x0c", b"\x80", &[0xff; 11], b"\x09\x01", b"\x0d\x01"]
        {
            assert_eq!(text(broken, &[9], 9), None, "{broken:?}");
            let readable = [&b"\x4a\x01y"[..], broken].concat();
            assert_eq!(text(&readable, &[9], 9).as_deref(), Some("y"), "{broken:?}");
        }
        // A value of another type than it should have.
        assert_eq!(text(b"\x48\x01", &[9], 9), None);
    }
}

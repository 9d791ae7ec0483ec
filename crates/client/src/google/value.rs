//! Values of an encoded message's fields: no more of protobuf than a header takes.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use prost::DecodeError;
use prost::encoding::{self, DecodeContext, WireType, decode_key, decode_varint, skip_field};
use smallvec::SmallVec;
use std::io::Write as _;

/// Text that takes no allocation while it is short.
pub(super) type ShortText = SmallVec<[u8; 256]>;

/// Writes bytes as they may be in a URL: all but `[A-Za-z0-9._~-]` are escaped.
pub(super) fn push_escaped(text: &mut ShortText, bytes: &[u8]) {
    const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'.').remove(b'_').remove(b'~').remove(b'-');
    for piece in percent_encode(bytes, ESCAPED) {
        text.extend_from_slice(piece.as_bytes());
    }
}

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

impl<'a> Value<'a> {
    /// The value of the field that the numbers lead to, of a type by the number that `google.protobuf.FieldDescriptorProto.Type`
    /// gives it. Of several the last one applies, as in protobuf; `None`: there is none.
    pub(super) fn find(mut message: &'a [u8], path: &[u32], kind: i32) -> Option<Self> {
        let (number, inner) = path.split_first()?;
        let mut found = None;
        while let Some((field, encoded)) = next_field(&mut message) {
            let value = match encoded.content() {
                _ if field != *number => None,
                _ if inner.is_empty() => Self::of(encoded, kind),
                Some(message) => Self::find(message, inner, kind),
                None => None,
            };
            found = value.or(found);
        }
        found
    }

    fn of(field: Encoded<'a>, kind: i32) -> Option<Self> {
        Some(match kind {
            1 => Self::Double(field.read(encoding::double::merge)?),
            2 => Self::Float(field.read(encoding::float::merge)?),
            3 => Self::Signed(field.read(encoding::int64::merge)?),
            4 => Self::Unsigned(field.read(encoding::uint64::merge)?),
            5 | 14 => Self::Signed(field.read(encoding::int32::merge)?.into()),
            6 => Self::Unsigned(field.read(encoding::fixed64::merge)?),
            7 => Self::Unsigned(field.read(encoding::fixed32::merge)?.into()),
            8 => Self::Bool(field.read(encoding::bool::merge)?),
            9 => Self::Bytes(field.content()?),
            13 => Self::Unsigned(field.read(encoding::uint32::merge)?.into()),
            15 => Self::Signed(field.read(encoding::sfixed32::merge)?.into()),
            16 => Self::Signed(field.read(encoding::sfixed64::merge)?),
            17 => Self::Signed(field.read(encoding::sint32::merge)?.into()),
            18 => Self::Signed(field.read(encoding::sint64::merge)?),
            _ => return None,
        })
    }

    /// Writes it as text, escaped as in a URL.
    pub(super) fn write(self, text: &mut ShortText) {
        let written = match self {
            Self::Bytes(bytes) => {
                push_escaped(text, bytes);
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

/// The next field of a message, and its number; `None`: the message ends, or can't be read any further.
fn next_field<'a>(message: &mut &'a [u8]) -> Option<(u32, Encoded<'a>)> {
    if message.is_empty() {
        // The error of prost would be allocated.
        return None;
    }
    let (number, wire_type) = decode_key(message).ok()?;
    let from = *message;
    skip_field(wire_type, number, message, DecodeContext::default()).ok()?;
    Some((number, Encoded { wire_type, bytes: from.get(..from.len() - message.len())? }))
}

/// A value as it is in a message, without its type.
#[derive(Clone, Copy)]
struct Encoded<'a> {
    wire_type: WireType,
    bytes: &'a [u8],
}

impl<'a> Encoded<'a> {
    /// The value as a type that is decoded like this; `None`: it is of another type.
    fn read<T: Default>(
        mut self,
        merge: impl FnOnce(WireType, &mut T, &mut &'a [u8], DecodeContext) -> Result<(), DecodeError>,
    ) -> Option<T> {
        let mut value = T::default();
        merge(self.wire_type, &mut value, &mut self.bytes, DecodeContext::default()).ok()?;
        Some(value)
    }

    /// The content of a string, of bytes or of a message.
    fn content(mut self) -> Option<&'a [u8]> {
        if self.wire_type != WireType::LengthDelimited {
            return None;
        }
        decode_varint(&mut self.bytes).ok()?;
        Some(self.bytes)
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
        Some(String::from_utf8(text.to_vec()).unwrap())
    }

    #[test]
    fn all_but_unreserved_characters_are_escaped() {
        let mut text = ShortText::new();
        push_escaped(&mut text, "a-b._~Z9/é %=&".as_bytes());
        assert_eq!(text.as_slice(), b"a-b._~Z9%2F%C3%A9%20%25%3D%26");
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

//! Messages in JSON, written to the wire as they are read.
//!
//! No message is made in between. The well-known types alone, whose JSON has forms of its own, are read by prost-reflect.

use crate::rest::response::scalars::{
    BoolVisitor, BytesVisitor, DoubleVisitor, EnumVisitor, FloatVisitor, IntegerVisitor, NullVisitor,
};
use crate::rest::response::wire::{Wire, WireType};
use prost::Message as _;
use prost_reflect::{DeserializeOptions, DynamicMessage, FieldDescriptor, Kind, MessageDescriptor};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// Reads a message. Fields that its type doesn't have, and names of enums, are left out.
pub(super) struct MessageSeed<'a> {
    pub(super) kind: &'a MessageDescriptor,
    pub(super) wire: &'a mut Wire,
}

impl<'de> DeserializeSeed<'de> for MessageSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        if !self.kind.full_name().starts_with("google.protobuf.") {
            return json.deserialize_map(self);
        }
        let options = DeserializeOptions::new().deny_unknown_fields(false);
        let message = DynamicMessage::deserialize_with_options(self.kind.clone(), json, &options)?;
        message.encode(self.wire.bytes_mut()).map_err(D::Error::custom)
    }
}

/// A field that was written.
struct Written {
    number: u32,
    place: Range<usize>,
}

impl<'de> Visitor<'de> for MessageSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut all: Vec<Written> = Vec::new();
        while let Some(field) = map.next_key_seed(NameSeed(self.kind))? {
            let Some(field) = field else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let start = self.wire.len();
            if !map.next_value_seed(FieldSeed { field: &field, wire: self.wire })? {
                continue;
            }
            let mut written = Written { number: field.number(), place: start..self.wire.len() };
            if let Some(oneof) = field.containing_oneof() {
                let is_there = |other: FieldDescriptor| all.iter().any(|one| one.number == other.number());
                if oneof.fields().any(is_there) {
                    let name = oneof.name();
                    return Err(A::Error::custom(format!("multiple fields provided for oneof '{name}'")));
                }
            } else if let Some(earlier) = all.iter().position(|one| one.number == written.number) {
                // Of a name that comes twice, the last value counts.
                let earlier = all.remove(earlier).place;
                let shift = |place: &mut Range<usize>| {
                    if place.start >= earlier.end {
                        *place = place.start.saturating_sub(earlier.len())
                            ..place.end.saturating_sub(earlier.len());
                    }
                };
                shift(&mut written.place);
                for one in &mut all {
                    shift(&mut one.place);
                }
                self.wire.remove(earlier);
            }
            all.push(written);
        }
        Ok(())
    }
}

/// Finds the field of a name.
struct NameSeed<'a>(&'a MessageDescriptor);

impl<'de> DeserializeSeed<'de> for NameSeed<'_> {
    type Value = Option<FieldDescriptor>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Self::Value, D::Error> {
        json.deserialize_str(self)
    }
}

impl Visitor<'_> for NameSeed<'_> {
    type Value = Option<FieldDescriptor>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(self.0.get_field_by_json_name(name).or_else(|| self.0.get_field_by_name(name)))
    }
}

/// Reads the value of a field; `false`: there is none.
struct FieldSeed<'a> {
    field: &'a FieldDescriptor,
    wire: &'a mut Wire,
}

impl<'de> DeserializeSeed<'de> for FieldSeed<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<bool, D::Error> {
        json.deserialize_option(self)
    }
}

impl<'de> Visitor<'de> for FieldSeed<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("option")
    }

    fn visit_unit<E>(self) -> Result<bool, E> {
        Ok(match self.field.kind() {
            Kind::Message(kind) if kind.full_name() == "google.protobuf.Value" => {
                // Its field null_value, which is number 1.
                self.wire.put_key(self.field.number(), WireType::Delimited);
                self.wire.put(&[2, 8, 0]);
                true
            }
            Kind::Enum(kind) if kind.full_name() == "google.protobuf.NullValue" => {
                if self.field.supports_presence() || self.field.is_list() {
                    self.wire.put_key(self.field.number(), WireType::Varint);
                    self.wire.put_varint(0);
                }
                true
            }
            _ => false,
        })
    }

    fn visit_none<E: Error>(self) -> Result<bool, E> {
        self.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, json: D) -> Result<bool, D::Error> {
        let Self { field, wire } = self;
        let kind = field.kind();
        if !field.is_list() && !field.is_map() {
            return ValueSeed { kind: &kind, place: Place::of(field), wire }.deserialize(json);
        }
        match &kind {
            Kind::Message(entry) if entry.is_map_entry() => {
                json.deserialize_any(MapVisitor { number: field.number(), entry, wire })?;
            }
            kind => json.deserialize_any(ListVisitor { field, kind, wire })?,
        }
        Ok(true)
    }
}

/// Where a value stands.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// In a field, which it is left out of where it is that field's default; of a message, whether that is a group.
    Field { number: u32, has_default: bool, is_group: bool },
    /// Among others, whose field and length stand before the first.
    Packed,
}

impl Place {
    fn of(field: &FieldDescriptor) -> Self {
        Self::Field {
            number: field.number(),
            has_default: !field.is_list() && !field.supports_presence(),
            is_group: field.is_group(),
        }
    }
}

/// Reads a value of a kind; `false`: it is an enum's name that isn't known.
struct ValueSeed<'a> {
    kind: &'a Kind,
    place: Place,
    wire: &'a mut Wire,
}

impl<'de> DeserializeSeed<'de> for ValueSeed<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(mut self, json: D) -> Result<bool, D::Error> {
        match self.kind {
            Kind::Double => self.put_double(json.deserialize_any(DoubleVisitor)?),
            Kind::Float => self.put_float(json.deserialize_any(FloatVisitor)?),
            Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => {
                self.put_signed(json.deserialize_any(IntegerVisitor::<i32>::NEW)?.into());
            }
            Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => {
                self.put_signed(json.deserialize_any(IntegerVisitor::<i64>::NEW)?);
            }
            Kind::Uint32 | Kind::Fixed32 => {
                self.put_number(json.deserialize_any(IntegerVisitor::<u32>::NEW)?.into());
            }
            Kind::Uint64 | Kind::Fixed64 => {
                self.put_number(json.deserialize_any(IntegerVisitor::<u64>::NEW)?);
            }
            Kind::Bool => self.put_number(u64::from(json.deserialize_any(BoolVisitor)?)),
            Kind::String => json.deserialize_str(StringVisitor(self))?,
            Kind::Bytes => self.put_bytes(&json.deserialize_str(BytesVisitor)?),
            Kind::Message(kind) => {
                let is_group = self.begin_message();
                let open = (!is_group).then(|| self.wire.open());
                MessageSeed { kind, wire: &mut *self.wire }.deserialize(json)?;
                match open {
                    Some(open) => self.wire.close(open),
                    None => self.put_key(WireType::EndGroup),
                }
            }
            Kind::Enum(kind) => {
                let number = match kind.full_name() {
                    "google.protobuf.NullValue" => json.deserialize_any(NullVisitor)?,
                    _ => json.deserialize_any(EnumVisitor(kind))?,
                };
                let Some(number) = number else { return Ok(false) };
                self.put_signed(number.into());
            }
        }
        Ok(true)
    }
}

impl ValueSeed<'_> {
    fn put_key(&mut self, wire_type: WireType) {
        if let Place::Field { number, .. } = self.place {
            self.wire.put_key(number, wire_type);
        }
    }

    /// Whether the message is a group.
    fn begin_message(&mut self) -> bool {
        let is_group = matches!(self.place, Place::Field { is_group: true, .. });
        self.put_key(if is_group { WireType::StartGroup } else { WireType::Delimited });
        is_group
    }

    /// Whether a value is left out, since it is the default that every message has.
    fn is_left_out(&self, is_default: bool) -> bool {
        is_default && matches!(self.place, Place::Field { has_default: true, .. })
    }

    fn put_double(mut self, number: f64) {
        if !self.is_left_out(number == 0.0) {
            self.put_key(WireType::Fixed64);
            self.wire.put(&number.to_le_bytes());
        }
    }

    fn put_float(mut self, number: f32) {
        if !self.is_left_out(number == 0.0) {
            self.put_key(WireType::Fixed32);
            self.wire.put(&number.to_le_bytes());
        }
    }

    /// A signed number, in the form of its kind.
    fn put_signed(self, number: i64) {
        match self.kind {
            Kind::Sint32 | Kind::Sint64 => self.put_number(((number << 1) ^ (number >> 63)).cast_unsigned()),
            _ => self.put_number(number.cast_unsigned()),
        }
    }

    /// A number, in the form of its kind.
    fn put_number(mut self, number: u64) {
        if self.is_left_out(number == 0) {
            return;
        }
        match self.kind {
            Kind::Fixed64 | Kind::Sfixed64 => {
                self.put_key(WireType::Fixed64);
                self.wire.put(&number.to_le_bytes());
            }
            Kind::Fixed32 | Kind::Sfixed32 => {
                self.put_key(WireType::Fixed32);
                let [a, b, c, d, ..] = number.to_le_bytes();
                self.wire.put(&[a, b, c, d]);
            }
            _ => {
                self.put_key(WireType::Varint);
                self.wire.put_varint(number);
            }
        }
    }

    /// Text or bytes.
    fn put_bytes(mut self, bytes: &[u8]) {
        if !self.is_left_out(bytes.is_empty()) {
            self.put_key(WireType::Delimited);
            self.wire.put_varint(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
            self.wire.put(bytes);
        }
    }
}

struct StringVisitor<'a>(ValueSeed<'a>);

impl Visitor<'_> for StringVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.0.put_bytes(text.as_bytes());
        Ok(())
    }
}

struct ListVisitor<'a> {
    field: &'a FieldDescriptor,
    kind: &'a Kind,
    wire: &'a mut Wire,
}

impl<'de> Visitor<'de> for ListVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<(), A::Error> {
        let Self { field, kind, wire } = self;
        if !field.is_packed() {
            let place = Place::of(field);
            while values.next_element_seed(ValueSeed { kind, place, wire })?.is_some() {}
            return Ok(());
        }
        let before = wire.len();
        wire.put_key(field.number(), WireType::Delimited);
        let open = wire.open();
        let start = wire.len();
        while values.next_element_seed(ValueSeed { kind, place: Place::Packed, wire })?.is_some() {}
        if wire.len() == start {
            wire.truncate(before);
        } else {
            wire.close(open);
        }
        Ok(())
    }
}

struct MapVisitor<'a> {
    number: u32,
    entry: &'a MessageDescriptor,
    wire: &'a mut Wire,
}

impl<'de> Visitor<'de> for MapVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { number, entry, wire } = self;
        let (key, value) = (entry.map_entry_key_field(), entry.map_entry_value_field());
        let kind = value.kind();
        while let Some(text) = map.next_key::<String>()? {
            let before = wire.len();
            wire.put_key(number, WireType::Delimited);
            let open = wire.open();
            put_key(&text, &key, wire)?;
            let value = ValueSeed { kind: &kind, place: Place::of(&value), wire };
            if map.next_value_seed(value)? {
                wire.close(open);
            } else {
                wire.truncate(before);
            }
        }
        Ok(())
    }
}

/// Writes the key of a map, which JSON has as text.
fn put_key<E: Error>(text: &str, field: &FieldDescriptor, wire: &mut Wire) -> Result<(), E> {
    let kind = field.kind();
    let value = ValueSeed { kind: &kind, place: Place::of(field), wire };
    match &kind {
        Kind::String => value.put_bytes(text.as_bytes()),
        Kind::Bool => value.put_number(u64::from(parsed::<bool, E>(text)?)),
        Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => value.put_signed(parsed::<i32, E>(text)?.into()),
        Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => value.put_signed(parsed(text)?),
        Kind::Uint32 | Kind::Fixed32 => value.put_number(parsed::<u32, E>(text)?.into()),
        _ => value.put_number(parsed(text)?),
    }
    Ok(())
}

fn parsed<T: FromStr<Err: fmt::Display>, E: Error>(text: &str) -> Result<T, E> {
    text.parse().map_err(E::custom)
}

//! Floats that JSON has no numbers for.

use serde::Serializer;
use serde::ser::{Error as _, Impossible, Serialize, SerializeMap, SerializeSeq};
use std::fmt::Display;

/// A serializer of messages that writes NaN and the infinities as texts, as proto3's JSON has them. prost-reflect 0.16 does so in
/// fields, but makes `null` of those in a `google.protobuf.DoubleValue` or `FloatValue`.
pub(super) struct Floats<S>(pub(super) S);

/// A value that is written by [`Floats`].
pub(super) struct WithFloats<'a, T: ?Sized>(pub(super) &'a T);

impl<T: Serialize + ?Sized> Serialize for WithFloats<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(Floats(serializer))
    }
}

/// NaN or an infinity as text.
pub(super) fn not_finite(value: f64) -> &'static str {
    match value {
        f64::INFINITY => "Infinity",
        f64::NEG_INFINITY => "-Infinity",
        _ => "NaN",
    }
}

impl<S: SerializeSeq> SerializeSeq for Floats<S> {
    type Ok = S::Ok;
    type Error = S::Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), S::Error> {
        self.0.serialize_element(&WithFloats(value))
    }

    fn end(self) -> Result<S::Ok, S::Error> {
        self.0.end()
    }
}

impl<S: SerializeMap> SerializeMap for Floats<S> {
    type Ok = S::Ok;
    type Error = S::Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), S::Error> {
        self.0.serialize_key(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), S::Error> {
        self.0.serialize_value(&WithFloats(value))
    }

    fn end(self) -> Result<S::Ok, S::Error> {
        self.0.end()
    }
}

/// Values that are passed on as they are.
macro_rules! unchanged {
    ($($function:ident $kind:ty,)*) => {
        $(fn $function(self, value: $kind) -> Result<S::Ok, S::Error> {
            self.0.$function(value)
        })*
    };
}

/// Messages consist of maps, lists and single values.
macro_rules! impossible {
    ($($function:ident$([$generic:ident])?($($argument:ty),*) -> $compound:ty,)*) => {
        $(fn $function$(<$generic: Serialize + ?Sized>)?(self, $(_: $argument),*) -> Result<$compound, S::Error> {
            Err(S::Error::custom("messages have no values of this kind"))
        })*
    };
}

impl<S: Serializer> Serializer for Floats<S> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = Floats<S::SerializeSeq>;
    type SerializeMap = Floats<S::SerializeMap>;
    type SerializeTuple = Impossible<S::Ok, S::Error>;
    type SerializeTupleStruct = Impossible<S::Ok, S::Error>;
    type SerializeTupleVariant = Impossible<S::Ok, S::Error>;
    type SerializeStruct = Impossible<S::Ok, S::Error>;
    type SerializeStructVariant = Impossible<S::Ok, S::Error>;

    unchanged! {
        serialize_bool bool,
        serialize_i8 i8,
        serialize_i16 i16,
        serialize_i32 i32,
        serialize_i64 i64,
        serialize_u8 u8,
        serialize_u16 u16,
        serialize_u32 u32,
        serialize_u64 u64,
        serialize_char char,
        serialize_str &str,
        serialize_bytes &[u8],
        serialize_unit_struct &'static str,
    }

    impossible! {
        serialize_tuple(usize) -> Self::SerializeTuple,
        serialize_tuple_struct(&'static str, usize) -> Self::SerializeTupleStruct,
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Self::SerializeTupleVariant,
        serialize_struct(&'static str, usize) -> Self::SerializeStruct,
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Self::SerializeStructVariant,
        serialize_unit_variant(&'static str, u32, &'static str) -> S::Ok,
        serialize_some[T](&T) -> S::Ok,
        serialize_newtype_struct[T](&'static str, &T) -> S::Ok,
        serialize_newtype_variant[T](&'static str, u32, &'static str, &T) -> S::Ok,
    }

    fn serialize_f32(self, value: f32) -> Result<S::Ok, S::Error> {
        if value.is_finite() {
            self.0.serialize_f32(value)
        } else {
            self.0.serialize_str(not_finite(f64::from(value)))
        }
    }

    fn serialize_f64(self, value: f64) -> Result<S::Ok, S::Error> {
        if value.is_finite() { self.0.serialize_f64(value) } else { self.0.serialize_str(not_finite(value)) }
    }

    fn serialize_none(self) -> Result<S::Ok, S::Error> {
        self.0.serialize_none()
    }

    fn serialize_unit(self) -> Result<S::Ok, S::Error> {
        self.0.serialize_unit()
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<Self::SerializeSeq, S::Error> {
        self.0.serialize_seq(length).map(Floats)
    }

    fn serialize_map(self, length: Option<usize>) -> Result<Self::SerializeMap, S::Error> {
        self.0.serialize_map(length).map(Floats)
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.0.collect_str(value)
    }

    fn is_human_readable(&self) -> bool {
        self.0.is_human_readable()
    }
}

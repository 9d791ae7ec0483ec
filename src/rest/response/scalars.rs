//! Numbers, truth values, bytes and enums as JSON has them.
//!
//! They are read as prost-reflect reads them, with the same errors.

use base64::engine::{DecodePaddingMode, Engine as _, GeneralPurpose, GeneralPurposeConfig};
use base64::{DecodeError, alphabet};
use prost_reflect::EnumDescriptor;
use serde::de::{Error, Visitor};
use std::fmt::{self, Display};
use std::marker::PhantomData;
use std::str::FromStr;

/// An integer that JSON has as a number or as text.
pub(super) trait Integer:
    FromStr<Err: Display> + TryFrom<i64, Error: Display> + TryFrom<u64, Error: Display>
{
    const EXPECTED: &str;
    /// The least and the greatest one.
    const RANGE: (f64, f64);

    /// Of a float in that range, without a fraction.
    fn of(float: f64) -> Self;
}

macro_rules! integers {
    ($($integer:ty = $expected:literal;)*) => {
        $(
            impl Integer for $integer {
                const EXPECTED: &str = $expected;
                #[allow(clippy::cast_precision_loss, clippy::cast_lossless, reason = "as prost-reflect has it")]
                const RANGE: (f64, f64) = (<$integer>::MIN as f64, <$integer>::MAX as f64);

                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is in range")]
                fn of(float: f64) -> Self {
                    float as $integer
                }
            }
        )*
    };
}

integers! {
    i32 = "a 32-bit signed integer";
    u32 = "a 32-bit unsigned integer or decimal string";
    i64 = "a 64-bit signed integer or decimal string";
    u64 = "a 64-bit unsigned integer or decimal string";
}

pub(super) struct IntegerVisitor<N>(PhantomData<N>);

impl<N> IntegerVisitor<N> {
    pub(super) const NEW: Self = Self(PhantomData);
}

impl<N: Integer> Visitor<'_> for IntegerVisitor<N> {
    type Value = N;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(N::EXPECTED)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<N, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<N, E> {
        number.try_into().map_err(E::custom)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<N, E> {
        number.try_into().map_err(E::custom)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<N, E> {
        let (least, most) = N::RANGE;
        if number.fract() != 0.0 {
            return Err(E::custom("expected integer value"));
        }
        if number < least || number > most {
            return Err(E::custom("float value out of range"));
        }
        Ok(N::of(number))
    }
}

pub(super) struct DoubleVisitor;

impl Visitor<'_> for DoubleVisitor {
    type Value = f64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a 64-bit floating point value")
    }

    fn visit_f64<E>(self, number: f64) -> Result<f64, E> {
        Ok(number)
    }

    #[expect(clippy::cast_precision_loss, reason = "the nearest float is meant")]
    fn visit_i64<E>(self, number: i64) -> Result<f64, E> {
        Ok(number as f64)
    }

    #[expect(clippy::cast_precision_loss, reason = "the nearest float is meant")]
    fn visit_u64<E>(self, number: u64) -> Result<f64, E> {
        Ok(number as f64)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<f64, E> {
        text.parse().map_err(E::custom)
    }
}

pub(super) struct FloatVisitor;

impl Visitor<'_> for FloatVisitor {
    type Value = f32;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a 32-bit floating point value")
    }

    #[expect(clippy::cast_possible_truncation, reason = "the nearest float is meant")]
    fn visit_f64<E: Error>(self, number: f64) -> Result<f32, E> {
        if number < f64::from(f32::MIN) || number > f64::from(f32::MAX) {
            return Err(E::custom("float value out of range"));
        }
        Ok(number as f32)
    }

    #[expect(clippy::cast_precision_loss, reason = "the nearest float is meant")]
    fn visit_i64<E>(self, number: i64) -> Result<f32, E> {
        Ok(number as f32)
    }

    #[expect(clippy::cast_precision_loss, reason = "the nearest float is meant")]
    fn visit_u64<E>(self, number: u64) -> Result<f32, E> {
        Ok(number as f32)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<f32, E> {
        text.parse().map_err(E::custom)
    }
}

pub(super) struct BoolVisitor;

impl Visitor<'_> for BoolVisitor {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a boolean")
    }

    fn visit_bool<E>(self, value: bool) -> Result<bool, E> {
        Ok(value)
    }
}

pub(super) struct BytesVisitor;

impl Visitor<'_> for BytesVisitor {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a base64-encoded string")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Vec<u8>, E> {
        const CONFIG: GeneralPurposeConfig = GeneralPurposeConfig::new()
            .with_decode_allow_trailing_bits(true)
            .with_decode_padding_mode(DecodePaddingMode::Indifferent);
        const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, CONFIG);
        const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, CONFIG);
        let bytes = match STANDARD.decode(text) {
            Err(DecodeError::InvalidByte(_, b'-' | b'_')) => URL_SAFE.decode(text),
            bytes => bytes,
        };
        bytes.map_err(|error| E::custom(format!("invalid base64: {error}")))
    }
}

pub(super) struct EnumVisitor<'a>(pub(super) &'a EnumDescriptor);

impl Visitor<'_> for EnumVisitor<'_> {
    type Value = Option<i32>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or integer")
    }

    fn visit_str<E>(self, name: &str) -> Result<Option<i32>, E> {
        Ok(self.0.get_value_by_name(name).map(|value| value.number()))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Option<i32>, E> {
        number.try_into().map(Some).map_err(E::custom)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Option<i32>, E> {
        number.try_into().map(Some).map_err(E::custom)
    }
}

/// The one value of `google.protobuf.NullValue`.
pub(super) struct NullVisitor;

impl Visitor<'_> for NullVisitor {
    type Value = Option<i32>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("null")
    }

    fn visit_str<E>(self, name: &str) -> Result<Option<i32>, E> {
        Ok((name == "NULL_VALUE").then_some(0))
    }

    fn visit_unit<E>(self) -> Result<Option<i32>, E> {
        Ok(Some(0))
    }
}

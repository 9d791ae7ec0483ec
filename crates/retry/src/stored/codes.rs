//! Codes by their names.

use crate::{Code, CodeSet};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CodeVisitor)
    }
}

/// Takes a code's name or its number.
struct CodeVisitor;

impl Visitor<'_> for CodeVisitor {
    type Value = Code;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a gRPC status code, such as \"UNAVAILABLE\" or 14")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Code, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Code, E> {
        Code::try_from(i32::try_from(number).unwrap_or(i32::MAX)).map_err(E::custom)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Code, E> {
        Code::try_from(i32::try_from(number).unwrap_or(i32::MAX)).map_err(E::custom)
    }
}

impl Serialize for CodeSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for CodeSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::<Code>::deserialize(deserializer).map(|codes| codes.into_iter().collect())
    }
}

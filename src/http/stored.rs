//! Options of a request as programs store them (feature `serde`).

use crate::http::options::HttpCallOptions;
use gax_retry::__private::StoredHttpOptions;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

impl Serialize for HttpCallOptions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_stored().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for HttpCallOptions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        StoredHttpOptions::deserialize(deserializer).map(Self::from_stored)
    }
}

//! Headers of a response, kept until they are needed.

use http::{HeaderMap, HeaderName, HeaderValue};

/// As they came, or, once the operation waits, in as few bytes as they take: a map has room to spare, and its values
/// may hold the whole frame that contained them.
#[derive(Debug)]
pub(super) enum StatusHeaders {
    Map(HeaderMap),
    /// One after the other: see [`Row`].
    Packed(Box<[u8]>),
}

impl StatusHeaders {
    /// Releases the map.
    pub(super) fn pack(&mut self) {
        let StatusHeaders::Map(map) = self else {
            return;
        };
        let rows = || map.iter().map(|(name, value)| Row::of(name, value));
        let mut bytes = Vec::with_capacity(rows().map(Row::len).sum());
        if rows().all(|row| row.write(&mut bytes)) {
            *self = StatusHeaders::Packed(bytes.into_boxed_slice());
        }
    }

    pub(super) fn to_map(&self) -> HeaderMap {
        match self {
            StatusHeaders::Map(map) => map.clone(),
            StatusHeaders::Packed(bytes) => unpacked(bytes),
        }
    }

    pub(super) fn into_map(self) -> HeaderMap {
        match self {
            StatusHeaders::Map(map) => map,
            StatusHeaders::Packed(bytes) => unpacked(&bytes),
        }
    }
}

fn unpacked(mut rest: &[u8]) -> HeaderMap {
    let mut map = HeaderMap::new();
    while let Some((row, after)) = Row::read(rest) {
        if let Some((name, value)) = row.header() {
            map.append(name, value);
        }
        rest = after;
    }
    map
}

impl From<HeaderMap> for StatusHeaders {
    fn from(map: HeaderMap) -> Self {
        StatusHeaders::Map(map)
    }
}

/// A header in bytes: the lengths of its name and its value, whether the value is sensitive, and both.
#[derive(Clone, Copy)]
struct Row<'a> {
    name: &'a [u8],
    value: &'a [u8],
    is_sensitive: bool,
}

impl<'a> Row<'a> {
    const LENGTHS: usize = size_of::<u16>() + size_of::<u32>();

    fn of(name: &'a HeaderName, value: &'a HeaderValue) -> Self {
        Self { name: name.as_ref(), value: value.as_bytes(), is_sensitive: value.is_sensitive() }
    }

    fn len(self) -> usize {
        Self::LENGTHS + 1 + self.name.len() + self.value.len()
    }

    /// Returns whether it could be written. Names and values that are too long for it no server can send.
    fn write(self, bytes: &mut Vec<u8>) -> bool {
        let lengths = (u16::try_from(self.name.len()), u32::try_from(self.value.len()));
        let (Ok(name), Ok(value)) = lengths else { return false };
        bytes.extend_from_slice(&name.to_ne_bytes());
        bytes.extend_from_slice(&value.to_ne_bytes());
        bytes.push(u8::from(self.is_sensitive));
        bytes.extend_from_slice(self.name);
        bytes.extend_from_slice(self.value);
        true
    }

    /// The first row, and what follows it.
    fn read(bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (name, rest) = bytes.split_first_chunk()?;
        let (value, rest) = rest.split_first_chunk()?;
        let (is_sensitive, rest) = rest.split_first()?;
        let (name, rest) = rest.split_at_checked(usize::from(u16::from_ne_bytes(*name)))?;
        let (value, rest) = rest.split_at_checked(usize::try_from(u32::from_ne_bytes(*value)).ok()?)?;
        Some((Self { name, value, is_sensitive: *is_sensitive != 0 }, rest))
    }

    fn header(self) -> Option<(HeaderName, HeaderValue)> {
        let mut value = HeaderValue::from_bytes(self.value).ok()?;
        value.set_sensitive(self.is_sensitive);
        Some((HeaderName::from_bytes(self.name).ok()?, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_is_unpacked_again() {
        let mut map = HeaderMap::new();
        for (name, value) in [("grpc-status", "14"), ("x-many", "a"), ("x-other", ""), ("x-many", "b")] {
            map.append(name, HeaderValue::from_static(value));
        }
        let mut secret = HeaderValue::from_bytes(b"caf\xc3\xa9 \xff").unwrap();
        secret.set_sensitive(true);
        map.append("x-secret", secret);
        let mut headers = StatusHeaders::from(map.clone());
        for _ in 0..2 {
            headers.pack();
            assert!(matches!(headers, StatusHeaders::Packed(_)));
        }
        let unpacked = headers.into_map();
        assert_eq!(unpacked, map);
        assert!(unpacked["x-secret"].is_sensitive() && !unpacked["x-other"].is_sensitive());
        assert_eq!(StatusHeaders::from(HeaderMap::new()).into_map(), HeaderMap::new());
    }
}

//! Headers of an answer, kept until somebody needs them.

use http::{HeaderMap, HeaderName, HeaderValue};

/// As they came, or, once the operation waits, without the room that a map has to spare.
#[derive(Debug)]
pub(crate) enum Headers {
    Map(HeaderMap),
    List(Box<[(HeaderName, HeaderValue)]>),
}

impl Headers {
    /// Lets go of the map.
    pub(crate) fn pack(&mut self) {
        let Headers::Map(map) = self else {
            return;
        };
        let mut list = Vec::with_capacity(map.len());
        for (name, value) in std::mem::take(map) {
            // Of several values of a name only the first comes with the name.
            let name = name.or_else(|| list.last().map(|(name, _): &(HeaderName, _)| name.clone()));
            list.extend(name.map(|name| (name, value)));
        }
        *self = Headers::List(list.into_boxed_slice());
    }

    pub(crate) fn into_map(self) -> HeaderMap {
        match self {
            Headers::Map(map) => map,
            Headers::List(list) => {
                let mut map = HeaderMap::with_capacity(list.len());
                for (name, value) in list {
                    map.append(name, value);
                }
                map
            }
        }
    }
}

impl From<HeaderMap> for Headers {
    fn from(map: HeaderMap) -> Self {
        Headers::Map(map)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_is_unpacked_again() {
        let mut map = HeaderMap::new();
        for (name, value) in [("grpc-status", "14"), ("x-many", "a"), ("x-other", "c"), ("x-many", "b")] {
            map.append(name, HeaderValue::from_static(value));
        }
        let mut headers = Headers::from(map.clone());
        for _ in 0..2 {
            headers.pack();
            assert!(matches!(&headers, Headers::List(list) if list.len() == 4));
        }
        assert_eq!(headers.into_map(), map);
        assert_eq!(Headers::from(HeaderMap::new()).into_map(), HeaderMap::new());
    }
}

//! Ids of requests, by which a server knows a request that it gets twice.

use gax_retry::jitter::{JitterSource, ThreadJitter};

/// A field that may have the id of a request.
pub trait RequestId {
    /// Returns whether it has none.
    fn is_missing(&self) -> bool;

    /// Gives it one.
    fn set(&mut self, id: String);
}

impl RequestId for String {
    fn is_missing(&self) -> bool {
        self.is_empty()
    }

    fn set(&mut self, id: String) {
        *self = id;
    }
}

/// With `optional`, an empty id that was set explicitly is kept.
impl RequestId for Option<String> {
    fn is_missing(&self) -> bool {
        self.is_none()
    }

    fn set(&mut self, id: String) {
        *self = Some(id);
    }
}

/// Fills a field with a new id if there is none (AIP-4235), for generated code.
pub fn fill_request_id(field: &mut impl RequestId) {
    if field.is_missing() {
        field.set(uuid(&mut ThreadJitter));
    }
}

/// A random UUID (RFC 9562, version 4).
fn uuid(source: &mut impl JitterSource) -> String {
    const VERSION: u64 = 4 << 12;
    const VARIANT: u64 = 1 << 63;
    let high = (source.next_u64() & !0xf000) | VERSION;
    let low = (source.next_u64() & !(3 << 62)) | VARIANT;
    let (first, second, third) = (high >> 32, (high >> 16) & 0xffff, high & 0xffff);
    format!("{first:08x}-{second:04x}-{third:04x}-{:04x}-{:012x}", low >> 48, low & 0xffff_ffff_ffff)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Same(u64);

    impl JitterSource for Same {
        fn next_u64(&mut self) -> u64 {
            self.0
        }
    }

    #[test]
    fn an_id_is_a_random_uuid() {
        assert_eq!(uuid(&mut Same(0)), "00000000-0000-4000-8000-000000000000");
        assert_eq!(uuid(&mut Same(u64::MAX)), "ffffffff-ffff-4fff-bfff-ffffffffffff");
        assert_eq!(uuid(&mut Same(0x0123_4567_89ab_cdef)), "01234567-89ab-4def-8123-456789abcdef");
    }

    #[test]
    fn what_is_there_stays() {
        let (mut one, mut other) = (String::new(), String::new());
        fill_request_id(&mut one);
        fill_request_id(&mut other);
        assert!(one.len() == 36 && one != other, "{one} {other}");
        let mut given = "mine".to_owned();
        fill_request_id(&mut given);
        assert_eq!(given, "mine");
        let (mut none, mut empty) = (None, Some(String::new()));
        fill_request_id(&mut none);
        fill_request_id(&mut empty);
        assert_eq!((none.map(|id| id.len()), empty.as_deref()), (Some(36), Some("")));
    }
}

//! Where a page begins.

use bytes::Bytes;
use std::fmt;

/// The token that a page is asked for with: [AIP-158](https://google.aip.dev/158)'s `page_token`, or what another API has in its
/// place.
///
/// Of `Option`s, `None` is the end, and so is a token in it that is one. A number is never the end by itself: use
/// `Option<u64>`.
pub trait PageToken: Clone + PartialEq + fmt::Debug {
    /// Returns whether no page follows the one that came with this token.
    fn is_end(&self) -> bool;
}

/// An empty token is the end.
impl PageToken for String {
    fn is_end(&self) -> bool {
        self.is_empty()
    }
}

/// An empty token is the end.
impl PageToken for Vec<u8> {
    fn is_end(&self) -> bool {
        self.is_empty()
    }
}

/// An empty token is the end.
impl PageToken for Bytes {
    fn is_end(&self) -> bool {
        self.is_empty()
    }
}

impl<T: PageToken> PageToken for Option<T> {
    fn is_end(&self) -> bool {
        self.as_ref().is_none_or(T::is_end)
    }
}

/// Numbers, which have no end.
macro_rules! numbers {
    ($($number:ty),*) => {
        $(
            impl PageToken for $number {
                fn is_end(&self) -> bool {
                    false
                }
            }
        )*
    };
}

numbers!(i32, i64, u32, u64, usize);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_token_and_none_are_the_end() {
        assert!(String::new().is_end());
        assert!(!" ".to_owned().is_end());
        assert!(Vec::new().is_end() && !vec![0].is_end());
        assert!(Bytes::new().is_end() && !Bytes::from_static(b"a").is_end());
        assert!(Option::<String>::None.is_end());
        assert!(Some(String::new()).is_end());
        assert!(!Some("a".to_owned()).is_end());
        assert!(!0_u64.is_end() && !Some(0_u64).is_end() && Option::<u64>::None.is_end());
    }
}

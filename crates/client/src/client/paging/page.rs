//! A page.

use bytes::Bytes;
use std::fmt;

/// A page: items, and what the next page is asked for with.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Page<R, I, T = String> {
    /// The items, in the order in which the server sent them; no more than a [limit](crate::client::paging::Paged::limit)
    /// allows. Entries of a map arrive in whatever order the map has.
    pub items: Vec<I>,
    /// The token of the next page; [the end](PageToken::is_end) on the last one.
    pub next_token: T,
    /// The response that contained the page. Of generated clients it has its metadata and [report](tonic_gax::OperationReport), and
    /// from its message the items have been moved; of a closure that gives items and token it is nothing.
    pub response: R,
}

impl<I, T> Page<(), I, T> {
    /// A page with these items.
    pub fn new(items: impl IntoIterator<Item = I>, next_token: T) -> Self {
        Self { items: items.into_iter().collect(), next_token, response: () }
    }
}

impl<R, I, T: PageToken> Page<R, I, T> {
    /// The page with its response.
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_client::paging::Page;
    ///
    /// let page = Page::new(["a", "b"], String::new()).with_response(200);
    /// assert_eq!(page.response, 200);
    /// assert!(page.is_last());
    /// ```
    #[must_use]
    pub fn with_response<Q>(self, response: Q) -> Page<Q, I, T> {
        Page { items: self.items, next_token: self.next_token, response }
    }

    /// Returns whether the server has no page after this one.
    #[must_use]
    pub fn is_last(&self) -> bool {
        self.next_token.is_end()
    }
}

/// A page as the closure of [`paginate`](crate::client::paging::paginate) gives it: a pair of items and the next token, or a
/// [`Page`].
pub trait IntoPage {
    /// The response that contained the page.
    type Response;
    /// An item.
    type Item;
    /// The token that pages are asked for with.
    type Token: PageToken;

    /// The page.
    fn into_page(self) -> Page<Self::Response, Self::Item, Self::Token>;
}

impl<R, I, T: PageToken> IntoPage for Page<R, I, T> {
    type Response = R;
    type Item = I;
    type Token = T;

    fn into_page(self) -> Self {
        self
    }
}

impl<I: IntoIterator, T: PageToken> IntoPage for (I, T) {
    type Response = ();
    type Item = I::Item;
    type Token = T;

    fn into_page(self) -> Page<(), I::Item, T> {
        Page::new(self.0, self.1)
    }
}

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

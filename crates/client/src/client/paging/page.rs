//! A page.

use crate::client::paging::PageToken;

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

//! A list as a stream of its items.

use crate::client::paging::PageSource;
use crate::client::paging::walk::{ErrorOf, PageOf, Walk};
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::vec;
use tokio_stream::Stream;

/// A list that a server gives page by page, as a [`Stream`] of its items.
///
/// Nothing is called before it is polled. Each page is a separate call, with the method's settings: an operation with its own
/// total timeout, attempts and [report](tonic_gax::OperationReport). Metadata and [`CallOptions`](tonic_gax::CallOptions) of the
/// request hold for each of them. An empty page with a token continues; a page without a token, or with an empty one, is the
/// last.
///
/// The stream ends after its first error. The items of earlier pages have been delivered by then; [`token`](Self::token) is
/// the place to continue. A repeated token is an [error](crate::client::paging::PageError::RepeatedToken), because the
/// pages would have no end. Only one token is kept, so some pages of a cycle may be delivered twice before it is detected.
///
/// It is `Unpin`, and `Send` if the calls are: no `pin!` is needed.
///
/// # Cancel safety
///
/// Dropping it cancels the calls in flight. [`next`](Self::next) is cancel safe: no item is lost if its future is dropped.
///
/// # Examples
///
/// ```
/// use gax_client::paging::{paginate, PageError};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let mut numbers = paginate(None, |token: Option<u32>| async move {
///     match token.unwrap_or(0) {
///         // A page, and the token of the next one.
///         0 => Ok((vec![1, 2], Some(1))),
///         1 => Ok((vec![3, 4], Some(2))),
///         _ => Err("down"),
///     }
/// });
/// let mut sum = 0;
/// let error = loop {
///     match numbers.next().await {
///         Some(Ok(number)) => sum += number,
///         Some(Err(error)) => break error,
///         None => unreachable!("there's no last page"),
///     }
/// };
/// assert_eq!((sum, error), (10, PageError::Call("down")));
/// assert_eq!(numbers.next().await, None);
/// assert_eq!(numbers.token(), Some(&Some(2)));
/// # }
/// ```
#[must_use = "streams do nothing unless polled"]
pub struct Paged<S: PageSource> {
    walk: Walk<S>,
    /// Of the last page, what is not delivered.
    items: vec::IntoIter<S::Item>,
}

/// Calls are boxed, and nothing else is pinned.
impl<S: PageSource> Unpin for Paged<S> {}

impl<S: PageSource> Paged<S> {
    /// The list from the page of that token.
    pub fn new(source: S, first: S::Token) -> Self {
        Self { walk: Walk::new(source, first), items: Vec::new().into_iter() }
    }

    /// Continues with the page of that token, such as one that [`token`](Self::token) gave before, in this process or another.
    /// Items that were read but not delivered are dropped. A stream that has failed continues.
    ///
    /// Default: the token of the request; with an empty one, the first page.
    pub fn from_token(mut self, token: impl Into<S::Token>) -> Self {
        self.walk.give_back(self.items.len());
        self.walk.go_to(token.into());
        self.items = Vec::new().into_iter();
        self
    }

    /// Delivers at most this many items; items that are dropped undelivered don't count. If the request has a page size, the last
    /// request only asks for the missing items: 7 items in pages of 5 are requests for 5 and 2. After the limit, no call is made.
    ///
    /// Default: no limit.
    pub fn limit(mut self, items: usize) -> Self {
        self.walk.limit(items);
        self
    }

    /// Reads one page ahead: the call for the next page begins as soon as a page has arrived, and continues whenever the stream
    /// is polled. If that call fails, the error follows the items of the previous page.
    ///
    /// Default: the next page is requested when the items of the previous one have been delivered.
    pub fn prefetch(mut self) -> Self {
        self.walk.prefetch();
        self
    }

    /// The list as a stream of pages, with the response of each. Items that have been read and not delivered are dropped.
    pub fn pages(mut self) -> Pages<S> {
        self.walk.give_back(self.items.len());
        Pages::new(self.walk)
    }

    /// The token of the page that the next item is on, to continue from there [later](Self::from_token); `None` after the last
    /// item of the list.
    ///
    /// After an error, and between two pages, no item is lost or delivered twice that way. In the middle of a page its first
    /// items are delivered again.
    pub fn token(&self) -> Option<&S::Token> {
        if self.items.as_slice().is_empty() { self.walk.next() } else { self.walk.current() }
    }

    /// The next item; `None` after the last one, and after an error.
    ///
    /// # Errors
    ///
    /// The call for the next page failed, or the server's tokens go round in a circle.
    ///
    /// # Cancel safety
    ///
    /// No item is lost if the future is dropped; the call for the next page continues when the stream is polled again.
    pub async fn next(&mut self) -> Option<Result<S::Item, ErrorOf<S>>> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }
}

impl<S: PageSource> Stream for Paged<S> {
    type Item = Result<S::Item, ErrorOf<S>>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(item) = self.items.next() {
            self.walk.poll_ahead(cx);
            return Poll::Ready(Some(Ok(item)));
        }
        match ready!(self.walk.poll_page(cx)) {
            Some(Ok(page)) => {
                self.items = page.items.into_iter();
                let first = self.items.next();
                if first.is_none() {
                    // Other tasks get a turn, however many empty pages there are.
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Poll::Ready(first.map(Ok))
            }
            Some(Err(error)) => Poll::Ready(Some(Err(error))),
            None => Poll::Ready(None),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let ready = self.items.len();
        (ready, self.walk.most().map(|most| ready.saturating_add(most)))
    }
}

gax_text::short_debug! { self: [S: PageSource] Paged<S> { token: self.token() } }

/// A list that a server gives page by page, as a [`Stream`] of the pages; made by
/// [`Paged::pages`](crate::client::paging::Paged::pages).
///
/// Empty pages are delivered too. A [limit](crate::client::paging::Paged::limit) counts items: the last page is shortened if
/// it has more. The stream ends after its first error.
///
/// # Cancel safety
///
/// Dropping it cancels the calls in flight. [`next`](Self::next) is cancel safe: no page is lost if its future is dropped.
///
/// # Examples
///
/// ```
/// use gax_client::paging::paginate;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let numbers = paginate(String::new(), |token| async move {
///     let next = if token.is_empty() { "second" } else { "" };
///     Ok::<_, std::fmt::Error>((1..=3, next.to_owned()))
/// });
/// let mut pages = numbers.limit(4).pages();
/// while let Some(page) = pages.next().await.transpose()? {
///     println!("{:?}, then {:?}", page.items, page.next_token);
/// }
/// # Ok(())
/// # }
/// ```
#[must_use = "streams do nothing unless polled"]
pub struct Pages<S: PageSource> {
    walk: Walk<S>,
}

/// Calls are boxed, and nothing else is pinned.
impl<S: PageSource> Unpin for Pages<S> {}

impl<S: PageSource> Pages<S> {
    pub(super) fn new(walk: Walk<S>) -> Self {
        Self { walk }
    }

    /// The token of the next page, to continue from there [later](crate::client::paging::Paged::from_token); `None` after the last
    /// one. If a limit has cut a page, it is that page's own.
    pub fn token(&self) -> Option<&S::Token> {
        self.walk.next()
    }

    /// The next page; `None` after the last one, and after an error.
    ///
    /// # Errors
    ///
    /// The call for the page failed, or the server's tokens go round in a circle.
    ///
    /// # Cancel safety
    ///
    /// No page is lost if the future is dropped; the call for it continues when the stream is polled again.
    pub async fn next(&mut self) -> Option<Result<PageOf<S>, ErrorOf<S>>> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }
}

impl<S: PageSource> Stream for Pages<S> {
    type Item = Result<PageOf<S>, ErrorOf<S>>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.walk.poll_page(cx)
    }
}

gax_text::short_debug! { self: [S: PageSource] Pages<S> { token: self.token() } }

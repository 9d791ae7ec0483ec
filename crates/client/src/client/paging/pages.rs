//! A list as a stream of its pages.

use crate::client::paging::PageSource;
use crate::client::paging::walk::{ErrorOf, PageOf, Walk};
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio_stream::Stream;

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

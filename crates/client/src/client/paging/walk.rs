//! From page to page.

use crate::client::paging::circle_detector::CircleDetector;
use crate::client::paging::{Page, PageError, PageSource, PageToken as _};
use std::future::Future as _;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// A page of a source.
pub(super) type PageOf<S> =
    Page<<S as PageSource>::Response, <S as PageSource>::Item, <S as PageSource>::Token>;
/// Why a source gives no page.
pub(super) type ErrorOf<S> = PageError<<S as PageSource>::Error, <S as PageSource>::Token>;

/// Where one is in a list.
pub(super) struct Walk<S: PageSource> {
    source: S,
    /// The token of the page that was handed over last.
    current: Option<S::Token>,
    /// The token of the page that is handed over next; `None`: there is none.
    next: Option<S::Token>,
    /// Whether that token has been there before.
    comes_back: bool,
    has_failed: bool,
    circles: CircleDetector<S::Token>,
    /// How many pages were handed over.
    pages: u64,
    /// How many items are wanted still.
    left: Option<usize>,
    prefetches: bool,
    call: PageCall<S>,
}

/// The call for the page that is handed over next.
enum PageCall<S: PageSource> {
    None,
    Running(Pin<Box<S::Call>>),
    Ended(Result<S::Reply, S::Error>),
}

impl<S: PageSource> Walk<S> {
    pub(super) fn new(source: S, first: S::Token) -> Self {
        Self {
            source,
            current: None,
            circles: CircleDetector::new(first.clone()),
            next: Some(first),
            comes_back: false,
            has_failed: false,
            pages: 0,
            left: None,
            prefetches: false,
            call: PageCall::None,
        }
    }

    /// So many items that were handed over have not been delivered, and never will be: the limit does not count them.
    pub(super) fn give_back(&mut self, items: usize) {
        self.left = self.left.map(|left| left.saturating_add(items));
    }

    /// Goes to the page of that token, whatever came before.
    pub(super) fn go_to(&mut self, token: S::Token) {
        self.circles = CircleDetector::new(token.clone());
        self.next = Some(token);
        (self.current, self.call) = (None, PageCall::None);
        (self.comes_back, self.has_failed, self.pages) = (false, false, 0);
    }

    /// Hands over so many items more, at most.
    pub(super) fn limit(&mut self, items: usize) {
        self.left = Some(items);
    }

    /// Reads one page ahead.
    pub(super) fn prefetch(&mut self) {
        self.prefetches = true;
    }

    /// The token of the page that was handed over last.
    pub(super) fn current(&self) -> Option<&S::Token> {
        self.current.as_ref()
    }

    /// The token of the page that is handed over next.
    pub(super) fn next(&self) -> Option<&S::Token> {
        self.next.as_ref()
    }

    /// How many items there are still at most, if that is known; an error is treated as one.
    pub(super) fn most(&self) -> Option<usize> {
        if self.goes_on() { self.left.map(|left| left.saturating_add(1)) } else { Some(0) }
    }

    /// Returns whether there is another page, or an error.
    fn goes_on(&self) -> bool {
        self.next.is_some() && !self.has_failed && self.left != Some(0)
    }

    /// The next page, and after the last one and after an error `None`.
    pub(super) fn poll_page(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<PageOf<S>, ErrorOf<S>>>> {
        if !self.goes_on() {
            return Poll::Ready(None);
        }
        if let Some(token) = self.next.clone().filter(|_| self.comes_back) {
            self.has_failed = true;
            return Poll::Ready(Some(Err(PageError::RepeatedToken { token, pages: self.pages })));
        }
        ready!(self.poll_call(cx));
        match mem::replace(&mut self.call, PageCall::None) {
            PageCall::Ended(Ok(reply)) => {
                let page = self.arrived(reply);
                self.poll_ahead(cx);
                Poll::Ready(Some(Ok(page)))
            }
            PageCall::Ended(Err(error)) => {
                self.has_failed = true;
                Poll::Ready(Some(Err(PageError::Call(error))))
            }
            PageCall::None | PageCall::Running(_) => Poll::Ready(None),
        }
    }

    /// Continues with the call for the page after this one, if pages are read ahead.
    pub(super) fn poll_ahead(&mut self, cx: &mut Context<'_>) {
        if self.prefetches && self.goes_on() && !self.comes_back {
            let (Poll::Ready(()) | Poll::Pending) = self.poll_call(cx);
        }
    }

    /// Makes the call for the next page, and waits for its end.
    fn poll_call(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            match (&mut self.call, &self.next) {
                (PageCall::None, Some(token)) => {
                    let call = self.source.call(token.clone(), self.left);
                    self.call = PageCall::Running(Box::pin(call));
                }
                (PageCall::Running(call), _) => {
                    self.call = PageCall::Ended(ready!(call.as_mut().poll(cx)));
                }
                (PageCall::Ended(_), _) | (PageCall::None, None) => return Poll::Ready(()),
            }
        }
    }

    fn arrived(&mut self, reply: S::Reply) -> PageOf<S> {
        let mut page = self.source.page(reply);
        self.pages = self.pages.saturating_add(1);
        let count = page.items.len();
        if let Some(left) = &mut self.left {
            page.items.truncate(*left);
            *left -= page.items.len();
        }
        if page.items.len() < count {
            // The items that are left out are on this page still.
            self.current.clone_from(&self.next);
            return page;
        }
        let next = Some(page.next_token.clone()).filter(|token| !token.is_end());
        let (from, circles) = (self.next.as_ref(), &mut self.circles);
        self.comes_back = from.zip(next.as_ref()).is_some_and(|(from, next)| circles.comes_back(from, next));
        self.current = mem::replace(&mut self.next, next);
        page
    }
}

//! From page to page.

use crate::client::paging::{Page, PageError, PageToken};
use std::future::Future;
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
    /// `true` if that token has been there before.
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

    gax_text::getters! { self:
        /// The token of the page that was handed over last.
        pub(super) current: Option<&S::Token> = self.current.as_ref();

        /// The token of the page that is handed over next.
        pub(super) next: Option<&S::Token> = self.next.as_ref();
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

/// Calls that give pages: those of a generated client ([`UnaryPages`](crate::client::paging::UnaryPages)), those of a closure
/// ([`ClosurePages`](crate::client::paging::ClosurePages)), or your own.
pub trait PageSource {
    /// The token that pages are asked for with.
    type Token: PageToken;
    /// An item.
    type Item;
    /// The response that contains a page.
    type Response;
    /// The good end of a call.
    type Reply;
    /// The error of a call.
    type Error;
    /// A call for one page.
    type Call: Future<Output = Result<Self::Reply, Self::Error>>;

    /// Calls for the page of that token. `missing` is how many items are wanted still, if there is a
    /// [limit](crate::client::paging::Paged::limit).
    fn call(&mut self, token: Self::Token, missing: Option<usize>) -> Self::Call;

    /// The page in a reply.
    fn page(&self, reply: Self::Reply) -> Page<Self::Response, Self::Item, Self::Token>;
}

/// Finds out whether tokens go round in a circle, in constant memory (R. P. Brent, 1980).
///
/// One token is remembered, and replaced after 1, 2, 4, 8 .. others. A circle is found when it comes back to the remembered
/// token: immediately for a token that follows itself, otherwise after three times around at most, counted from the first
/// page.
#[derive(Debug, Clone)]
pub(super) struct CircleDetector<T> {
    remembered: T,
    /// How many tokens came after that.
    since: u64,
    /// After how many it is replaced.
    replaced_after: u64,
}

impl<T: Clone + PartialEq> CircleDetector<T> {
    /// Begins with the token of the first page.
    pub(super) fn new(first: T) -> Self {
        Self { remembered: first, since: 0, replaced_after: 1 }
    }

    /// Continues from one token to the next; whether that has been there before.
    pub(super) fn comes_back(&mut self, from: &T, token: &T) -> bool {
        if token == from || *token == self.remembered {
            return true;
        }
        self.since += 1;
        if self.since == self.replaced_after {
            self.remembered = token.clone();
            self.since = 0;
            self.replaced_after = self.replaced_after.saturating_mul(2);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many tokens are taken until one has come back, from 0 through `before` others into a circle of that length.
    fn taken(before: u64, length: u64) -> u64 {
        let mut circles = CircleDetector::new(0);
        let mut token = 0;
        for taken in 1..=3 * (before + length) {
            let next = if token + 1 < before + length { token + 1 } else { before };
            if circles.comes_back(&token, &next) {
                return taken;
            }
            token = next;
        }
        panic!("{before} tokens before a circle of {length}");
    }

    #[test]
    fn circles_are_found() {
        assert_eq!(taken(0, 1), 1, "the first token again");
        assert_eq!(taken(1, 1), 2, "the second again");
        assert_eq!(taken(1, 2), 3, "A, B, A");
        assert_eq!(taken(0, 2), 3, "0, A, 0, A");
        assert_eq!(taken(4, 3), 10);
        for before in 0..50 {
            assert_eq!(taken(before, 1), before + 1, "a token that follows itself is found at once");
            for length in 2..50 {
                assert!(taken(before, length) > before + length - 1);
            }
        }
    }

    #[test]
    fn tokens_that_differ_have_no_end() {
        let mut circles = CircleDetector::new(0);
        assert!((1..100_000).all(|token| !circles.comes_back(&(token - 1), &token)));
    }
}

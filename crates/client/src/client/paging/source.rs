//! Where pages come from.

use crate::client::paging::{Page, PageToken};
use std::future::Future;

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

//! Pages that a closure reads.

use crate::client::paging::{IntoPage, Page, PageSource, PageToken, Paged};
use std::future::Future;
use std::marker::PhantomData;

/// A list that a closure reads page by page, over any client.
///
/// The closure gets the token of a page and gives its items with the token of the next one, or a [`Page`]; it is called once for
/// each page. `first` is the token of the first page: for most APIs an empty one. Retries are the closure's own: use a client
/// that retries, [`retry`](gax_driver::retry) or a [`Retryer`](gax_driver::Retryer).
///
/// # Examples
///
/// ```
/// # use std::collections::HashMap;
/// use tokio_stream::StreamExt as _;
/// use gax_client::paging::paginate;
/// use gax_driver::retry;
/// use tonic_gax::{Code, RetrySettings};
/// # struct Reply { names: Vec<String>, next: Option<String> }
/// # async fn get(token: Option<&str>) -> Result<Reply, tonic::Status> {
/// #     let (name, next) = if token.is_none() { ("a", Some("2".to_owned())) } else { ("b", None) };
/// #     Ok(Reply { names: vec![name.to_owned()], next })
/// # }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let settings = &RetrySettings::builder().max_attempts(3).build()?;
/// let names = paginate(None, |token: Option<String>| async move {
///     let reply = retry(settings, [Code::Unavailable], || get(token.as_deref())).await?;
///     Ok::<_, gax_driver::RetryError<_>>((reply.names, reply.next))
/// });
/// let names: Vec<String> = names.collect::<Result<_, _>>().await?;
/// assert_eq!(names, ["a", "b"]);
/// # Ok(())
/// # }
/// ```
pub fn paginate<T, F, Fut, P, E>(first: T, read: F) -> Paged<ClosurePages<F, T>>
where
    T: PageToken,
    F: FnMut(T) -> Fut,
    Fut: Future<Output = Result<P, E>>,
    P: IntoPage<Token = T>,
{
    Paged::new(ClosurePages { read, token: PhantomData }, first)
}

/// The pages of [`paginate`]'s closure.
pub struct ClosurePages<F, T> {
    read: F,
    token: PhantomData<fn() -> T>,
}

impl<F, T, Fut, P, E> PageSource for ClosurePages<F, T>
where
    T: PageToken,
    F: FnMut(T) -> Fut,
    Fut: Future<Output = Result<P, E>>,
    P: IntoPage<Token = T>,
{
    type Token = T;
    type Item = P::Item;
    type Response = P::Response;
    type Reply = P;
    type Error = E;
    type Call = Fut;

    fn call(&mut self, token: T, _: Option<usize>) -> Fut {
        (self.read)(token)
    }

    fn page(&self, reply: P) -> Page<P::Response, P::Item, T> {
        reply.into_page()
    }
}

gax_text::short_debug! { self: [F, T] ClosurePages<F, T> {} }

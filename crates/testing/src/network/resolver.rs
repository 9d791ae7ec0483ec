//! A resolver that follows a script.

use super::replies::Replies;
use gax_connection::{Address, ResolveFuture, Resolver};
use std::future::{pending, ready};
use std::net::SocketAddr;
use tonic::codegen::StdError;

/// One result of a [`ScriptedResolver`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Resolution {
    /// These addresses: a new set, the same reversed or doubled, a subset, none.
    Addresses(Vec<SocketAddr>),
    /// An error with that message.
    Error(String),
    /// No result, ever.
    Hang,
}

/// A [`Resolver`] that gives one result after the other, the last one forever. Clones share everything.
///
/// # Examples
///
/// ```
/// use gax_testing::{Resolution, ScriptedResolver};
///
/// let a = "127.0.0.1:5000".parse().unwrap();
/// let b = "127.0.0.1:5001".parse().unwrap();
/// let resolver = ScriptedResolver::new([
///     Resolution::Addresses(vec![a, b]),
///     Resolution::Error("no such host".to_owned()),
///     Resolution::Addresses(vec![b, a, a]),
/// ]);
/// assert_eq!(resolver.asked(), 0);
/// ```
#[derive(Debug, Clone)]
pub struct ScriptedResolver {
    results: Replies<Resolution>,
    changes: bool,
}

impl ScriptedResolver {
    /// A resolver with these results.
    #[must_use]
    pub fn new(results: impl IntoIterator<Item = Resolution>) -> Self {
        Self { results: Replies::new(results), changes: false }
    }

    /// Says immediately that its addresses have changed, whenever it is asked.
    #[must_use]
    pub fn changing(self) -> Self {
        Self { changes: true, ..self }
    }

    /// How often it was asked.
    #[must_use]
    pub fn asked(&self) -> usize {
        self.results.asked()
    }
}

impl Resolver for ScriptedResolver {
    fn resolve(&self) -> ResolveFuture<'_, Result<Vec<Address>, StdError>> {
        let result = self.results.next();
        Box::pin(async {
            match result {
                Some(Resolution::Addresses(addresses)) => Ok(addresses.into_iter().map(Into::into).collect()),
                Some(Resolution::Error(message)) => Err(message.into()),
                Some(Resolution::Hang) | None => pending().await,
            }
        })
    }

    fn changed(&self) -> ResolveFuture<'_, ()> {
        if self.changes { Box::pin(ready(())) } else { Box::pin(pending()) }
    }
}

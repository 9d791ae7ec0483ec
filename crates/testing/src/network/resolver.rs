//! A resolver that follows a script.

use gax_connection::{Address, ResolveFuture, Resolver};
use std::collections::VecDeque;
use std::future::{pending, ready};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
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
    state: Arc<Mutex<State>>,
    changes: bool,
}

#[derive(Debug)]
struct State {
    results: VecDeque<Resolution>,
    asked: usize,
}

impl ScriptedResolver {
    /// A resolver with these results.
    #[must_use]
    pub fn new(results: impl IntoIterator<Item = Resolution>) -> Self {
        let state = State { results: results.into_iter().collect(), asked: 0 };
        Self { state: Arc::new(Mutex::new(state)), changes: false }
    }

    /// Says immediately that its addresses have changed, whenever it is asked.
    #[must_use]
    pub fn changing(self) -> Self {
        Self { changes: true, ..self }
    }

    /// How often it was asked.
    #[must_use]
    pub fn asked(&self) -> usize {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).asked
    }
}

impl Resolver for ScriptedResolver {
    fn resolve(&self) -> ResolveFuture<'_, Result<Vec<Address>, StdError>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.asked += 1;
        let result = match state.results.len() {
            0 | 1 => state.results.front().cloned(),
            _ => state.results.pop_front(),
        };
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

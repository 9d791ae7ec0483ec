//! The configuration of calls: made once, or again whenever live policies are replaced.
#![allow(missing_debug_implementations, missing_docs, reason = "for the crates of this repository alone")]

use crate::follower::Follower;
use std::ops::Deref;
use std::sync::Arc;

/// The configuration of calls. One word, so that services and clients stay small.
pub struct Replaceable<T> {
    kind: Arc<Kind<T>>,
}

enum Kind<T> {
    /// It stays.
    Fixed(T),
    Live(Arc<Follower<T>>),
}

impl<T> Replaceable<T> {
    pub fn fixed(value: T) -> Self {
        Self { kind: Arc::new(Kind::Fixed(value)) }
    }

    pub fn live(follower: Arc<Follower<T>>) -> Self {
        Self { kind: Arc::new(Kind::Live(follower)) }
    }

    /// The configuration as it is now.
    #[inline]
    #[must_use]
    pub fn load(&self) -> Loaded<'_, T> {
        match &*self.kind {
            Kind::Fixed(fixed) => Loaded::Fixed(fixed),
            Kind::Live(follower) => Loaded::Live(follower.load()),
        }
    }
}

impl<T> Clone for Replaceable<T> {
    fn clone(&self) -> Self {
        Self { kind: Arc::clone(&self.kind) }
    }
}

/// The configuration as it was when it was read; nothing replaces it meanwhile.
#[expect(clippy::exhaustive_enums, reason = "our own crates match it whole")]
pub enum Loaded<'a, T> {
    Fixed(&'a T),
    Live(Arc<T>),
}

impl<T> Deref for Loaded<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        match self {
            Self::Fixed(fixed) => fixed,
            Self::Live(guard) => guard,
        }
    }
}

//! What calls run by: made once, or anew whenever a handle's table is replaced.

#[cfg(feature = "live")]
use super::Follower;
use std::ops::Deref;
use std::sync::Arc;

/// What calls run by. Reading it takes no lock.
pub(crate) enum Replaceable<T> {
    /// It stays.
    Fixed(Arc<T>),
    #[cfg(feature = "live")]
    Live(Arc<Follower<T>>),
}

impl<T> Replaceable<T> {
    /// What it is now.
    #[inline]
    pub(crate) fn load(&self) -> Loaded<'_, T> {
        match self {
            Self::Fixed(fixed) => Loaded::Fixed(fixed),
            #[cfg(feature = "live")]
            Self::Live(follower) => Loaded::Live(follower.load()),
        }
    }
}

impl<T> Clone for Replaceable<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Fixed(fixed) => Self::Fixed(Arc::clone(fixed)),
            #[cfg(feature = "live")]
            Self::Live(follower) => Self::Live(Arc::clone(follower)),
        }
    }
}

/// What it was when it was read; nothing replaces it meanwhile.
pub(crate) enum Loaded<'a, T> {
    Fixed(&'a T),
    #[cfg(feature = "live")]
    Live(arc_swap::Guard<Arc<T>>),
}

impl<T> Deref for Loaded<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        match self {
            Self::Fixed(fixed) => fixed,
            #[cfg(feature = "live")]
            Self::Live(guard) => guard,
        }
    }
}

//! Streams that threads can share, as they can tonic's.

use super::idle_timeout::IdleTimeout;
use super::message_source::MessageSource;
use gax_driver::__private::Locked;
use std::time::Duration;

/// The messages of a stream over further connections, as its caller has it.
pub enum SharedSource<M> {
    /// Never locked for longer than a look: the stream can be shared between threads.
    Plain(Locked<Box<dyn MessageSource<M>>>),
    Watched(IdleTimeout<M>),
}

impl<M: Send + 'static> SharedSource<M> {
    pub fn new(source: Box<dyn MessageSource<M>>, idle_timeout: Option<Duration>) -> Self {
        match idle_timeout {
            Some(timeout) => Self::Watched(IdleTimeout::new(source, timeout)),
            None => Self::Plain(Locked::new(source)),
        }
    }

    /// A look at it.
    pub fn look<T>(&self, fact: impl FnOnce(&(dyn MessageSource<M> + 'static)) -> T) -> T {
        match self {
            Self::Plain(source) => fact(&**source.lock()),
            Self::Watched(watched) => fact(watched),
        }
    }

    /// Its content, to which there is no other reference.
    #[inline]
    pub fn get_mut(&mut self) -> &mut (dyn MessageSource<M> + 'static) {
        match self {
            Self::Plain(source) => &mut **source.get_mut(),
            Self::Watched(watched) => watched,
        }
    }
}

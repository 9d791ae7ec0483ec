//! Services for operations that need another one.
#![allow(missing_docs, reason = "for the crates of this repository alone")]

use gax_driver::__private::Locked;
use std::sync::Arc;

/// A service that is never used itself, only cloned.
#[derive(Debug)]
pub struct SharedService<S>(Arc<Locked<S>>);

impl<S: Clone> SharedService<S> {
    pub fn of(service: &S) -> Self {
        Self(Arc::new(Locked::new(service.clone())))
    }

    #[must_use]
    pub fn copy(&self) -> S {
        self.0.lock().clone()
    }
}

impl<S> Clone for SharedService<S> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

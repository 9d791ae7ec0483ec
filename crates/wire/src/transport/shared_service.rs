//! Services for operations that need another one.
#![allow(missing_docs, reason = "for the crates of this repository alone")]

use std::sync::{Arc, Mutex, PoisonError};

/// A service that is never used itself, only cloned.
#[derive(Debug)]
pub struct SharedService<S>(Arc<Mutex<S>>);

impl<S: Clone> SharedService<S> {
    pub fn of(service: &S) -> Self {
        Self(Arc::new(Mutex::new(service.clone())))
    }

    pub fn copy(&self) -> S {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl<S> Clone for SharedService<S> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

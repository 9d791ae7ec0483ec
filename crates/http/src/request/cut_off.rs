//! A request's body ends with its attempt.

use std::fmt;
use std::sync::Arc;

/// A body that can be ended from outside.
pub(super) trait Cut: Send + Sync {
    /// Nothing more of it is sent, and what it holds is let go.
    fn cut(&self);
}

/// Ends the body of a request when it is dropped, since its attempt has ended.
pub struct CutOff(Option<Arc<dyn Cut>>);

impl CutOff {
    pub(super) fn of(body: Arc<dyn Cut>) -> Self {
        Self(Some(body))
    }

    /// The body is sent to its end.
    pub(crate) fn release(mut self) {
        self.0 = None;
    }
}

impl Drop for CutOff {
    fn drop(&mut self) {
        if let Some(body) = self.0.take() {
            body.cut();
        }
    }
}

impl fmt::Debug for CutOff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CutOff").finish_non_exhaustive()
    }
}

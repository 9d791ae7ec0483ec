//! The credentials that a request was sent with.

use std::fmt;
use std::sync::Arc;

/// The credentials that a request was sent with which its server has refused, in the extensions of the response.
#[derive(Clone)]
pub struct UsedCredentials {
    drop: Arc<dyn Fn() -> bool + Send + Sync>,
}

impl UsedCredentials {
    /// Those that the closure drops. It returns whether the request is worth sending again.
    pub fn new(drop: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self { drop: Arc::new(drop) }
    }

    /// Drops them, unless that was done lately. Returns whether the request is worth sending again.
    #[must_use]
    pub fn refuse(&self) -> bool {
        (self.drop)()
    }
}

impl fmt::Debug for UsedCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UsedCredentials").finish_non_exhaustive()
    }
}

//! The client below the layer, as its operations share it.

use crate::http::shared_state::SharedState;
use crate::transport::SharedService;
use std::sync::Arc;

/// The client below the layer, and what the layer knows.
#[derive(Clone)]
pub(crate) struct LayeredClient<S> {
    pub(crate) service: S,
    spare: SharedService<S>,
    pub(crate) shared: Arc<SharedState>,
}

impl<S: Clone> LayeredClient<S> {
    pub(super) fn new(service: S, shared: Arc<SharedState>) -> Self {
        Self { spare: SharedService::of(&service), service, shared }
    }

    /// The service has failed: it is neither called nor asked again.
    pub(super) fn renew(&mut self) {
        self.service = self.spare.copy();
    }
}

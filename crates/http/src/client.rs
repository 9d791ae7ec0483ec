//! The client below the layer, as its operations share it.
#![allow(missing_debug_implementations, missing_docs, reason = "for the crates of this repository alone")]

use crate::shared_state::SharedState;
use gax_wire::__private::SharedService;
use std::sync::Arc;

/// The client below the layer, and what the layer knows.
#[derive(Clone)]
pub struct LayeredClient<S> {
    pub service: S,
    spare: SharedService<S>,
    pub shared: Arc<SharedState>,
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

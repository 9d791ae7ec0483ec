//! The method that a request was found to call.

use crate::grpc::methods::config::MethodConfig;
use gax_retry::MethodKind;
use std::sync::Arc;

/// The method that a request was found to call.
#[derive(Debug, Clone)]
pub struct MethodMatch {
    pub config: Arc<MethodConfig>,
    /// `None`: it is unknown.
    pub kind: Option<MethodKind>,
}

#[cfg(test)]
impl MethodMatch {
    /// A unary method that shares its config with others.
    pub fn example() -> Self {
        use crate::grpc::methods::shared_state::SharedState;
        use gax_retry::{Compatibility, MethodSettings};

        let shared = Arc::new(SharedState::new(Compatibility::Grpc));
        let config = Arc::new(MethodConfig::new(&MethodSettings::default(), MethodKind::Unary, shared));
        Self { config, kind: Some(MethodKind::Unary) }
    }
}

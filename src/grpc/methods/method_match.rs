//! The method that a request was found to call.

use crate::grpc::methods::config::MethodConfig;
use gax_retry::MethodKind;
use std::sync::Arc;

/// The method that a request was found to call.
#[derive(Debug, Clone)]
pub(crate) struct MethodMatch {
    pub(crate) config: Arc<MethodConfig>,
    /// `None`: it is unknown.
    pub(crate) kind: Option<MethodKind>,
}

#[cfg(test)]
impl MethodMatch {
    /// A unary method that shares its config with others.
    pub(crate) fn example() -> Self {
        use crate::grpc::methods::shared_state::SharedState;
        use crate::settings::CallSettings;
        use gax_retry::{CodeSet, Compatibility, RetrySettings};

        let settings = CallSettings::new(RetrySettings::default(), CodeSet::EMPTY);
        let shared = SharedState::by(Compatibility::Grpc);
        let config = Arc::new(MethodConfig::new(&settings, MethodKind::Unary, shared));
        Self { config, kind: Some(MethodKind::Unary) }
    }
}

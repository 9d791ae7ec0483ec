//! What a table knows of a method.

use super::plan::MethodPlan;
use gax_retry::MethodKind;
use std::sync::Arc;

/// What is known of a method.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) plan: Arc<MethodPlan>,
    pub(crate) kind: Option<MethodKind>,
}

#[cfg(test)]
impl Found {
    /// A unary method that shares its plan with others.
    pub(crate) fn example() -> Self {
        use crate::settings::OperationOptions;
        use crate::settings::{BufferLimits, CallSettings};
        use gax_retry::{CodeSet, Compatibility, RetrySettings};

        let settings = CallSettings::new(RetrySettings::default(), CodeSet::EMPTY);
        let (limits, options) = (BufferLimits::default(), OperationOptions::default());
        let plan = Arc::new(MethodPlan::new(&settings, Compatibility::Grpc, limits, &options, None));
        Self { plan, kind: Some(MethodKind::Unary) }
    }
}

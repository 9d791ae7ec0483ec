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

//! The plans of a layer's requests.

use crate::http::plan::http_plan::HttpPlan;
use gax_retry::Environment;
use std::sync::Arc;

/// The plan of requests that bring nothing along.
#[derive(Debug)]
pub(crate) struct Plans {
    pub(in crate::http) bounded: Arc<HttpPlan>,
    /// That plan without the caps of operators, over which a call's options go.
    pub(in crate::http) unbounded: Arc<HttpPlan>,
}

impl Plans {
    pub(in crate::http) fn new(plan: HttpPlan, environment: &Environment) -> Self {
        let unbounded = Arc::new(plan);
        let bounded = if environment.is_empty() {
            Arc::clone(&unbounded)
        } else {
            Arc::new(HttpPlan::clone(&unbounded).bounded_by(environment))
        };
        Self { bounded, unbounded }
    }
}

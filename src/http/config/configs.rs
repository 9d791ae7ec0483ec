//! The configs of a layer's requests.

use crate::http::config::http_config::HttpConfig;
use gax_retry::Environment;
use std::sync::Arc;

/// The config of requests that bring nothing along.
#[derive(Debug)]
pub(crate) struct Configs {
    pub(in crate::http) bounded: Arc<HttpConfig>,
    /// That config without the caps of operators, over which a call's options go.
    pub(in crate::http) unbounded: Arc<HttpConfig>,
}

impl Configs {
    pub(in crate::http) fn new(config: HttpConfig, environment: &Environment) -> Self {
        let unbounded = Arc::new(config);
        let bounded = if environment.is_empty() {
            Arc::clone(&unbounded)
        } else {
            Arc::new(HttpConfig::clone(&unbounded).bounded_by(environment))
        };
        Self { bounded, unbounded }
    }
}

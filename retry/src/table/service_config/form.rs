//! Which form a table was written in.

use super::config::{RetryPolicy, ServiceConfig};
use crate::table::document::Node;
use crate::table::values::Located;
use std::time::Duration;

/// The form of a file that has the content of a service config.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Form<'a> {
    /// The root of a gRPC service config; `None`: this project's own form.
    root: Option<&'a Node>,
}

impl<'a> Form<'a> {
    /// This project's own form.
    #[cfg(feature = "toml")]
    pub(crate) const TOML: Form<'static> = Form { root: None };

    pub(super) fn service_config(root: &'a Node) -> Self {
        Self { root: Some(root) }
    }

    /// The root of a gRPC service config.
    pub(super) fn root(self) -> Option<&'a Node> {
        self.root
    }

    /// A delay that is written. Zero is unset, but in TOML, where a delay that is not meant is left out.
    pub(super) fn delay(self, delay: Option<Duration>) -> Option<Duration> {
        delay.filter(|delay| self.root.is_none() || !delay.is_zero())
    }
}

impl ServiceConfig {
    /// The same without the delays of zero that stand for delays that are not set.
    pub(super) fn without_zero_delays(mut self) -> Self {
        let unset = |time: &mut Option<Located<i128>>| *time = time.filter(|time| time.value != 0);
        for RetryPolicy { initial_backoff, max_backoff, .. } in
            self.methods.iter_mut().filter_map(|method| method.retry.as_mut())
        {
            unset(initial_backoff);
            unset(max_backoff);
        }
        self
    }
}

//! Which form a table was written in.

use crate::document::Node;
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

    pub(crate) fn service_config(root: &'a Node) -> Self {
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

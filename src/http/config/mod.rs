//! Which requests are retried, how, and whether it is safe.

mod by_rule;
mod configs;
mod http_config;
mod layer_options;

pub(crate) use configs::Configs;
pub(crate) use http_config::{HttpConfig, HttpLimits};
pub(crate) use layer_options::{ConfigSource, LayerOptions};

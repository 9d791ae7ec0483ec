//! Which requests are retried, how, and whether it is safe.

mod by_rule;
mod http_config;
mod layer_options;
mod policies_config;

pub use http_config::HttpConfig;
pub(crate) use http_config::HttpLimits;
pub(crate) use layer_options::{ConfigSource, LayerOptions};

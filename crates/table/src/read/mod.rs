//! Tables from text: a folder for each format.

mod client_config;
mod entry_name;
mod every_error;
#[cfg(feature = "yaml")]
mod gapic;
mod named;
#[cfg(feature = "http")]
mod openapi;
mod reader;
mod service_config;
#[cfg(any(feature = "stub", feature = "yaml"))]
mod service_yaml;
mod syntax;
#[cfg(any(feature = "toml", feature = "yaml"))]
mod thresholds;
#[cfg(feature = "toml")]
mod toml_form;

pub use reader::TableReader;
#[cfg(any(feature = "stub", feature = "yaml"))]
pub use service_yaml::{AutoPopulatedField, MissingMixin, ServiceYaml, YamlHttpRule};

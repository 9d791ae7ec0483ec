//! Service YAML (`google.api.Service`): which methods of other services are mixed into an API's.

mod auto_populated;
mod http_rule;
mod mix_in;
mod read;
#[cfg(test)]
#[cfg(feature = "yaml")]
mod tests;

pub use auto_populated::AutoPopulatedField;
pub use http_rule::YamlHttpRule;
pub use mix_in::MissingMixin;
pub use read::ServiceYaml;

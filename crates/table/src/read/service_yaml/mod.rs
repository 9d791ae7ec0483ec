//! Service YAML (`google.api.Service`): which methods of other services are mixed into an API's.

mod mix_in;
mod read;
#[cfg(test)]
#[cfg(feature = "yaml")]
mod tests;

pub use mix_in::MissingMixin;
pub use read::{AutoPopulatedField, ServiceYaml, YamlHttpRule};

//! Tables in another form than the one they were read in.

mod conversion;
mod envoy;
mod gather;
#[cfg(feature = "http")]
mod http;
mod istio;
mod json;
mod losses;
mod named;
mod proxy;
mod service_config;
mod target;
mod toml;
mod yaml;

pub use conversion::Conversion;
pub use target::{ConversionTarget, ParseConversionTargetError};

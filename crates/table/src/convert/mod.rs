//! Tables in another form than the one they were read in.

mod gather;
#[cfg(feature = "http")]
mod http;
mod losses;
mod named;
mod proxy;
mod service_config;
mod target;
mod text;
mod toml;
mod write;

pub use target::{ConversionTarget, ParseConversionTargetError};
pub use write::Conversion;

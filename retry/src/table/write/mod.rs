//! Tables in another form than the one they were read in.

mod conversion;
mod gather;
mod json;
mod losses;
mod service_config;
mod toml;

pub use conversion::Conversion;

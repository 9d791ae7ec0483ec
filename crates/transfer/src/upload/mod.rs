//! Uploads.

mod body;
mod builder;
mod cancel;
mod completion;
mod dialects;
mod exchange;
mod options;
mod parts;
mod plan;
mod reading;
mod source;
#[cfg(test)]
mod tests;

pub use builder::{STATE_FILE_IGNORED, Upload};
pub use source::UploadSource;

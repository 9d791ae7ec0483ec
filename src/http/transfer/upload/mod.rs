//! Uploads.

mod body;
mod builder;
mod cancel;
mod exchange;
mod options;
mod parts;
mod plan;
mod reading;
mod source;
mod storage;
mod universal;
mod uploaded;

pub use builder::Upload;
pub use source::UploadSource;
pub use uploaded::Uploaded;

//! Uploads.

mod abandoned;
mod body;
mod cancel;
mod exchange;
mod options;
mod plan;
mod reading;
mod source;
mod storage;
mod universal;
mod upload;
mod uploaded;

pub use source::UploadSource;
pub use upload::Upload;
pub use uploaded::Uploaded;

#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod activity;
mod checksum;
mod destination;
mod download;
mod error;
mod exchange;
mod origin;
mod paths;
mod progress;
mod protocol;
mod range;
mod request;
mod service;
mod session;
mod state_file;
#[cfg(test)]
mod tests;
mod transferred;
mod upload;

pub use checksum::Checksums;
pub use download::Download;
pub use error::{TransferError, TransferErrorKind};
pub use paths::{UnsafeName, path_within};
pub use progress::TransferProgress;
pub use service::TransferService;
pub use session::UploadSession;
pub use transferred::Transferred;
pub use upload::{STATE_FILE_IGNORED, Upload, UploadSource};

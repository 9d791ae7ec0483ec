#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![allow(
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    clippy::missing_errors_doc,
    clippy::must_use_candidate,
    clippy::return_self_not_must_use,
    reason = "the rules for public items concern those of `__house`, too, which are for our own crates"
)]

mod activity;
mod checksum;
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
mod upload;

pub use checksum::Checksums;
pub use download::{Download, Downloaded};
pub use error::{TransferError, TransferErrorKind};
pub use paths::{UnsafeName, path_within};
pub use progress::TransferProgress;
pub use service::TransferService;
pub use session::UploadSession;
pub use upload::{STATE_FILE_IGNORED, Upload, UploadSource, Uploaded};

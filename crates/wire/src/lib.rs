#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod body;
mod grpc;
pub mod note;
mod transport;

pub use transport::{CloneService, ConnectProblem};

/// For the crates of this repository alone: it changes with them, without notice.
#[doc(hidden)]
pub mod __private {
    pub use crate::body::{BufferedBody, FrameBuffer, OpenPart, Remainder, is_one_message};
    pub use crate::grpc::{PUSHBACK, end_text, retry_info, time_is_up};
    #[cfg(feature = "tower")]
    pub use crate::transport::LayerError;
    #[cfg(feature = "connector")]
    pub use crate::transport::dead_peers;
    pub use crate::transport::{
        BoxError, ClassifiedError, Finality, H2Cause, KnownProblem, NotConnected, Reach, SharedService,
        cancel, chain, explain, grpc_timeout, retry_after_in, text_of,
    };
}

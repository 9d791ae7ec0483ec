#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod body;
mod transport;

pub use transport::{CloneService, ConnectProblem};

/// For the crates of this repository alone: it changes with them, without notice.
#[doc(hidden)]
pub mod __private {
    pub use crate::body::{BufferedBody, FrameBuffer, OpenPart, Remainder, is_one_message};
    #[cfg(feature = "tower")]
    pub use crate::transport::LayerError;
    pub use crate::transport::{
        BoxError, ClassifiedError, Finality, H2Cause, KnownProblem, NotConnected, Reach, SharedService,
        cancel, chain, dead_peers, explain, grpc_timeout, retry_after_in, text_of,
    };
}

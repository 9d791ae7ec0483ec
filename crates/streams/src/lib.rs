#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod codec;
mod resumed;
pub mod resumption;
pub mod subscription;

pub use resumed::{StreamReport, Streams};
pub use resumption::{Resumption, ResumptionExt};

/// For the crates of this repository alone: it changes with them, without notice.
#[doc(hidden)]
pub mod __private {
    pub use crate::codec::{Canned, RawCodec, now};
    pub use crate::resumed::{
        GrpcConnections, Measured, MeasuringCodec, MessageSource, SharedSource, StreamCall, StreamCodec,
        StreamProtocol,
    };
    pub use crate::resumption::Resumer;
}

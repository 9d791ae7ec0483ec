//! Codecs of messages that are not decoded here.
#![allow(
    missing_debug_implementations,
    missing_docs,
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    clippy::missing_errors_doc,
    clippy::must_use_candidate,
    clippy::return_self_not_must_use,
    reason = "for the crates of this repository alone"
)]

mod canned;
mod raw_codec;

pub use canned::{Canned, now};
pub use raw_codec::RawCodec;

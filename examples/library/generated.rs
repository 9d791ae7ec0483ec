//! The code that the build script generated from `proto/library/v1`.
#![allow(
    clippy::allow_attributes_without_reason,
    clippy::pedantic,
    clippy::exhaustive_structs,
    dead_code,
    missing_docs,
    unreachable_pub,
    unused_qualifications,
    reason = "generated for every use; an example has only some"
)]

include!(concat!(env!("OUT_DIR"), "/library.rs"));

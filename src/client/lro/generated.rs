//! The client of `google.longrunning` and its messages, which the build script generates.
#![allow(
    clippy::allow_attributes_without_reason,
    clippy::pedantic,
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    dead_code,
    missing_docs,
    unreachable_pub,
    unused_qualifications,
    reason = "generated"
)]

include!(concat!(env!("OUT_DIR"), "/longrunning/mod.rs"));

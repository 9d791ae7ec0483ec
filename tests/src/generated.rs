//! The code that the generator writes for the protos and retry tables.
#![allow(
    missing_docs,
    clippy::pedantic,
    clippy::allow_attributes_without_reason,
    clippy::exhaustive_structs,
    clippy::exhaustive_enums,
    unused_qualifications,
    unreachable_pub,
    reason = "generated; this package shows its lints, not those of the code around it"
)]

/// The descriptors of all services, encoded.
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));

include!(concat!(env!("OUT_DIR"), "/services/mod.rs"));

//! The demo's service and its retrying client, made by the build script.
#![allow(
    clippy::allow_attributes_without_reason,
    clippy::pedantic,
    clippy::exhaustive_structs,
    clippy::exhaustive_enums,
    dead_code,
    missing_docs,
    unreachable_pub,
    unused_qualifications,
    reason = "generated for every use; this program has only some"
)]

include!(concat!(env!("OUT_DIR"), "/services.rs"));

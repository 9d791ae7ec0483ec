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

/// The methods that those descriptors have.
pub fn facts() -> gax_table::descriptors::Descriptors {
    gax_table::descriptors::Descriptors::decode(DESCRIPTORS).unwrap_or_default()
}

include!(concat!(env!("OUT_DIR"), "/services/mod.rs"));

/// Services in the shape of Google's, with their annotations.
pub mod google_shapes {
    /// The descriptors of these services, encoded.
    pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/shapes.bin"));

    include!(concat!(env!("OUT_DIR"), "/shapes.rs"));
}

/// Services with bindings to HTTP of every shape.
pub mod rest_shapes {
    /// The descriptors of these services, encoded.
    pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/rest.bin"));

    include!(concat!(env!("OUT_DIR"), "/rest/mod.rs"));
}

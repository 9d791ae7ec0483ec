//! The client of `google.longrunning` and its messages, as the generator writes them: `codegen/tests/operations.rs` compares.
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

include!("generated_code/packages.rs");

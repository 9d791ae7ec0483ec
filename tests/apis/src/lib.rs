//! Generated code of whole public APIs.

/// A module with messages and tonic's code beside what is generated here: their lints are theirs.
macro_rules! whole_api {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[allow(
            missing_docs,
            rustdoc::all,
            unused_qualifications,
            clippy::pedantic,
            clippy::allow_attributes_without_reason,
            clippy::doc_lazy_continuation,
            clippy::exhaustive_enums,
            clippy::exhaustive_structs,
            reason = "prost's and tonic's own code"
        )]
        pub mod $name {
            include!(concat!(env!("OUT_DIR"), "/", stringify!($name), "/mod.rs"));
        }
    };
}

whole_api! {
    /// The mirror of the asset API in this repository, with messages and tonic's server.
    own
}

/// Settings and client for that mirror over the messages of a published crate. Not a line of it is prost's
/// or tonic's, so all lints are on.
pub mod own_published {
    include!(concat!(env!("OUT_DIR"), "/own_published/mod.rs"));
}

/// Names and comments that generated code must cope with.
#[allow(
    clippy::pedantic,
    clippy::allow_attributes_without_reason,
    clippy::doc_lazy_continuation,
    clippy::exhaustive_structs,
    reason = "prost's own code"
)]
pub mod names {
    include!(concat!(env!("OUT_DIR"), "/edge/mod.rs"));
}

/// Protos that are valid, and nothing else: names that are taken in Rust, modules that clash, wrappers, groups.
#[allow(
    missing_docs,
    unused_qualifications,
    non_camel_case_types,
    clippy::pedantic,
    clippy::allow_attributes_without_reason,
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    clippy::module_inception,
    reason = "prost's and tonic's own code"
)]
pub mod odd {
    include!(concat!(env!("OUT_DIR"), "/odd/mod.rs"));
}

/// An API with RPCs of other services, long-running operations and batching.
#[allow(
    missing_docs,
    unused_qualifications,
    clippy::pedantic,
    clippy::allow_attributes_without_reason,
    clippy::exhaustive_structs,
    clippy::match_single_binding,
    clippy::module_inception,
    reason = "prost's and tonic's own code, and a package of the same name"
)]
pub mod mixed {
    include!(concat!(env!("OUT_DIR"), "/mixed/mod.rs"));
}

#[cfg(google_protos)]
whole_api! {
    /// Google's asset API with everything that it imports.
    asset
}

#[cfg(google_protos)]
whole_api! {
    /// Google's Redis API with everything that it imports.
    redis
}

/// Settings and client of Google's asset API over the messages of a published crate; all lints are on.
#[cfg(google_protos)]
pub mod published {
    include!(concat!(env!("OUT_DIR"), "/published/mod.rs"));
}

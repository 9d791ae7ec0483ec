//! The cost of a call: the raw tonic client, other ways to retry around it, the layer under it, and the
//! generated client, over a service that replies at once and over loopback HTTP/2.
//!
//! `cargo bench -p tonic-gax-benches` measures and prints tables; with `-- --test` everything runs once,
//! to see that it works.

pub mod arguments;
pub mod canned;
pub mod contender;
pub mod large_table;
pub mod loopback;
pub mod measure;
pub mod message;
pub mod nines;
pub mod pace;
pub mod page;
pub mod pipe;
pub mod stream;
pub mod table;
pub mod table_command;

/// The messages, tonic's own clients and the servers.
#[expect(
    missing_docs,
    unused_qualifications,
    clippy::pedantic,
    clippy::allow_attributes_without_reason,
    clippy::exhaustive_structs,
    clippy::exhaustive_enums,
    reason = "tonic's generator wrote it"
)]
pub mod protos {
    include!(concat!(env!("OUT_DIR"), "/protos.rs"));
}

pub use protos::bench::v1 as bench;
pub use protos::google::cloud::asset::v1 as asset;

//! Generates stub settings and retrying clients from retry tables and protos.
//!
//! For each service `X` of the protos, beside prost's messages and tonic's own client and server, a module
//! `x_gax` comes out with
//!
//! * `XStubSettings` and its builder: one accessor for each RPC, which starts with what the retry table says
//!   and whose docs show the attempts that this leads to;
//! * `XSettings`: those, and what holds for every call of a client;
//! * `XClient`: a client over any tonic channel or tower service that retries accordingly.
//!
//! Where no other type of the package has their names, they are exported beside the messages.
//!
//! # Names
//!
//! Functions are named as tonic names them: `list_assets`, `r#type`. An RPC whose name one of the generated
//! types has in use, such as `New` or `Connect`, gets `_rpc` appended: `new_rpc`. The definitions of a table
//! (`retry_policy_1_codes`, `no_retry_0_params`) are named, numbered and ordered as in Google's Java clients.
//!
//! # Examples
//!
//! ```no_run
//! # fn main() -> Result<(), tonic_gax_build::Error> {
//! tonic_gax_build::configure()
//!     .retry_table("proto/cloudasset_grpc_service_config.json")
//!     .include_file("mod.rs")
//!     .compile_protos(&["google/cloud/asset/v1/asset_service.proto"], &["proto"])
//! # }
//! ```

mod builder;
mod cargo;
mod descriptors;
mod docs;
mod emit;
mod error;
mod generated;
mod generator;
mod include_file;
mod join;
mod kind;
mod names;
mod plan;
mod tables;

pub use builder::{Builder, configure};
pub use error::Error;
pub use gax_retry::{Dialect, Finding, Origin, Severity};
pub use generated::{Generated, GeneratedFile};

#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod builder;
mod cargo;
mod describe;
mod descriptors;
mod docs;
mod emit;
mod error;
mod generated;
mod generator;
mod generator_config;
mod include_file;
mod includes;
mod join;
mod limits;
mod message_fields;
mod names;
mod operation_types;
mod page_items;
mod paging;
mod tables;

pub use builder::{Builder, configure};
pub use describe::{Protos, describe_encoded_fds, describe_protos};
pub use error::Error;
pub use gax_table::{Dialect, Finding, Severity, SourceLocation};
pub use generated::{Generated, GeneratedFile};

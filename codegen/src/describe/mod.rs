//! The services of protos, for tools that check or compare retry tables.

mod annotations;
mod options;
mod protos;
mod request_ids;
mod rest;
mod rpcs;

pub(crate) use annotations::Annotations;
pub(crate) use options::MethodOptions;
pub use protos::{Protos, describe_encoded_fds, describe_protos};
pub(crate) use protos::{decode_set, describe, refuse_editions};
pub(crate) use request_ids::RequestIds;
pub(crate) use rest::RestDescriptors;
pub(crate) use rpcs::{as_number, place_at};

//! The services of protos, for tools that check or compare retry tables.

mod annotations;
mod options;
mod place;
mod protos;
mod request_ids;
mod rest;

pub(crate) use annotations::Annotations;
pub(crate) use options::MethodOptions;
pub(crate) use place::{as_number, place_at};
pub use protos::{Protos, describe_encoded_fds, describe_protos};
pub(crate) use protos::{decode_set, describe, refuse_editions};
pub(crate) use request_ids::RequestIds;
pub(crate) use rest::RestDescriptors;

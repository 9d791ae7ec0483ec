//! HTTP requests made of gRPC requests.

mod binding;
mod field_path;
mod floats;
mod path;
mod query;
mod scalar;

pub(super) use binding::{Binding, HttpParts, Unfit};

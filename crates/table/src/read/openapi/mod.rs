//! OpenAPI documents: their operations as rules for HTTP requests.

mod operation;
mod read;
mod servers;

pub(super) use read::read_openapi;

//! Files as each reader understands them: one module a [`Dialect`](crate::Dialect).

mod as_written;
mod entry;
mod form;
mod gax_java;
mod grpc;
mod resolve;

#[cfg(all(feature = "http", feature = "toml"))]
pub(crate) use as_written::resolve_http;
#[cfg(feature = "yaml")]
pub(crate) use gax_java::one_decimal;
pub(crate) use grpc::refuse_other_json;
pub(crate) use resolve::resolve;

//! Files as each reader understands them: one module a [`Dialect`](crate::Dialect).

mod as_written;
mod entry;
mod form;
mod gax_java;
mod grpc;
mod resolve;

pub(crate) use form::Form;
#[cfg(feature = "yaml")]
pub(crate) use gax_java::one_decimal;
pub(crate) use resolve::resolve;
